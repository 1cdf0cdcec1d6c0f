#include "workloads/gather.hpp"

#include <deque>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "workloads/limits.hpp"

namespace ridgeline::workloads {
namespace {

class GatheredSource : public RequestSource {
 public:
  GatheredSource(std::unique_ptr<RequestSource> all, const Gather& gather, Turn turn)
      : all_(std::move(all)), gather_(gather), turn_(turn) {
    if (all_->reacts()) throw core::InvariantError("requests of a closed loop cannot be gathered");
    if (const auto first = all_->next_arrival()) went_ = *first;  // the clock starts with it
    next_own_batch();
  }

  [[nodiscard]] std::optional<core::Instant> next_arrival() const override {
    return batch_.empty() ? std::nullopt : std::optional(went_);
  }

  Request take() override {
    if (batch_.empty()) throw core::InvariantError("no request is left to take");
    Request request = std::move(batch_.front());
    batch_.pop_front();
    request.id = next_id_++;
    if (batch_.empty()) next_own_batch();
    return request;
  }

 private:
  void next_own_batch() {
    do {
      next_batch();
    } while (!batch_.empty() && batches_++ % turn_.of != turn_.number);
  }

  /// Gathers the next batch: `batch_`, which goes at `went_`. Empty when no request is left.
  void next_batch() {
    batch_.clear();
    core::Instant last{};
    while (const auto next = all_->next_arrival()) {
      if (!batch_.empty() && *next > last + gather_.interval) break;  // nobody came for so long
      last = *next;
      batch_.push_back(all_->take());
      const bool full = static_cast<std::int64_t>(batch_.size()) >= gather_.at_most;
      if (full || last >= went_ + gather_.interval) {
        went_ = last;
        return;
      }
    }
    if (!batch_.empty()) went_ = last + gather_.interval;
  }

  std::unique_ptr<RequestSource> all_;
  Gather gather_;
  Turn turn_;
  std::deque<Request> batch_;
  core::Instant went_{};  // the batch at hand, or the one before it
  std::int64_t batches_ = 0;
  std::uint64_t next_id_ = 0;
};

}  // namespace

Gather read_gather(const core::Reader& in) {
  Gather out;
  const core::Seconds interval = in.get<core::Seconds>("interval");
  constexpr double kLongest = 3600.0;
  in.require(interval.value() > 0.0 && interval.value() <= kLongest, "interval",
             "a time above 0 and at most 1 h");
  out.interval = core::round_to_ns(interval);
  out.at_most = in.integer("at_most", 1, kMostRequests);
  return out;
}

std::unique_ptr<RequestSource> gathered(std::unique_ptr<RequestSource> all, const Gather& gather,
                                        Turn turn) {
  return std::make_unique<GatheredSource>(std::move(all), gather, turn);
}

}  // namespace ridgeline::workloads
