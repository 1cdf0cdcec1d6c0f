#include "workloads/shared_prefix.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random.hpp"
#include "workloads/limits.hpp"

namespace ridgeline::workloads {
namespace {

constexpr std::int64_t kMostGroups = 1'000'000;
constexpr double kMostSkewed = 10.0;

std::uint64_t chained(std::uint64_t before, std::uint64_t value) {
  return core::mix(before ^ core::mix(value));
}

class SharedPrefixSource : public RequestSource {
 public:
  SharedPrefixSource(std::unique_ptr<RequestSource> own, const SharedPrefix& prefix,
                     std::uint64_t seed)
      : own_(std::move(own)), tokens_(prefix.tokens), stream_(seed, "shared_prefix") {
    double sum = 0.0;
    up_to_.reserve(static_cast<std::size_t>(prefix.groups));
    for (std::int64_t n = 1; n <= prefix.groups; ++n)
      up_to_.push_back(sum += std::pow(static_cast<double>(n), -prefix.zipf));
  }

  [[nodiscard]] std::optional<core::Instant> next_arrival() const override {
    return own_->next_arrival();
  }
  Request take() override {
    Request request = own_->take();
    request.shared.push_back({group_of(request.id), tokens_});
    request.prompt_tokens += tokens_;
    return request;
  }
  void on_finished(core::Instant when) override { own_->on_finished(when); }
  [[nodiscard]] bool reacts() const override { return own_->reacts(); }

 private:
  [[nodiscard]] std::uint64_t group_of(std::uint64_t request) const {
    const double u = stream_.uniform(request) * up_to_.back();
    const auto it = std::upper_bound(up_to_.begin(), up_to_.end() - 1, u);
    return static_cast<std::uint64_t>(it - up_to_.begin());
  }

  std::unique_ptr<RequestSource> own_;
  std::int64_t tokens_;
  core::RandomStream stream_;
  std::vector<double> up_to_;  // the weights of the groups up to each, added up
};

}  // namespace

std::vector<std::uint64_t> block_names(const std::vector<PromptPiece>& pieces,
                                       std::int64_t block_size) {
  std::vector<std::uint64_t> names;
  std::uint64_t chain = 0;
  std::int64_t begin = 0;
  std::int64_t block_end = block_size;
  for (const PromptPiece& piece : pieces) {
    const std::int64_t end = begin + piece.tokens;
    const std::uint64_t text = chained(chain, piece.text);
    for (; block_end <= end; block_end += block_size)
      names.push_back(chained(text, static_cast<std::uint64_t>(block_end)));
    chain = chained(text, static_cast<std::uint64_t>(end));
    begin = end;
  }
  return names;
}

SharedPrefix read_shared_prefix(const core::Reader& in) {
  SharedPrefix out{.groups = in.integer("groups", 1, kMostGroups),
                   .tokens = in.integer("tokens", 1, kMostTokens)};
  out.zipf = in.get("zipf", out.zipf);
  in.require(out.zipf >= 0.0 && out.zipf <= kMostSkewed, "zipf", "an exponent from 0 to 10");
  return out;
}

std::unique_ptr<RequestSource> with_shared_prefix(std::unique_ptr<RequestSource> own,
                                                  const SharedPrefix& prefix, std::uint64_t seed) {
  return std::make_unique<SharedPrefixSource>(std::move(own), prefix, seed);
}

}  // namespace ridgeline::workloads
