#include "workloads/sources/closed_loop_source.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace ridgeline::workloads {

ClosedLoopSource::ClosedLoopSource(const ClosedLoop& loop, std::int64_t requests, Lengths prompts,
                                   Lengths outputs)
    : think_time_(loop.think_time),
      left_(requests),
      prompts_(std::move(prompts)),
      outputs_(std::move(outputs)) {
  for (const std::int64_t last = left_ - std::min(loop.concurrency, requests); left_ > last;
       --left_)
    announced_.push({});
}

std::optional<core::Instant> ClosedLoopSource::next_arrival() const {
  if (announced_.empty()) return std::nullopt;
  return announced_.top();
}

Request ClosedLoopSource::take() {
  if (announced_.empty())
    throw core::InvariantError("took a request from a closed loop that waits for an answer");
  const std::uint64_t id = next_id_++;
  const core::Instant arrival = announced_.top();
  announced_.pop();
  return {.id = id,
          .arrival = arrival,
          .prompt_tokens = prompts_.tokens_of(id),
          .output_tokens = outputs_.tokens_of(id)};
}

void ClosedLoopSource::on_finished(core::Instant when) {
  if (left_ == 0) return;
  --left_;
  announced_.push(when + think_time_);
}

}  // namespace ridgeline::workloads
