#include "workloads/sources/open_loop_source.hpp"

#include <utility>

#include "core/error.hpp"

namespace ridgeline::workloads {

OpenLoopSource::OpenLoopSource(std::vector<core::Instant> arrivals, Lengths prompts,
                               Lengths outputs)
    : arrivals_(std::move(arrivals)), prompts_(std::move(prompts)), outputs_(std::move(outputs)) {}

std::optional<core::Instant> OpenLoopSource::next_arrival() const {
  if (next_ == arrivals_.size()) return std::nullopt;
  return arrivals_[next_];
}

Request OpenLoopSource::take() {
  if (next_ == arrivals_.size())
    throw core::InvariantError("took a request from an open loop at its end");
  const std::uint64_t id = next_++;
  return {.id = id,
          .arrival = arrivals_[id],
          .prompt_tokens = prompts_.tokens_of(id),
          .output_tokens = outputs_.tokens_of(id)};
}

}  // namespace ridgeline::workloads
