#include "workloads/sources/dealt.hpp"

#include "core/error.hpp"

namespace ridgeline::workloads {

DealtSource::DealtSource(std::unique_ptr<RequestSource> all, std::int64_t hands)
    : all_(std::move(all)), hands_(hands) {
  if (all_->reacts()) throw core::InvariantError("requests of a closed loop cannot be dealt out");
}

Request DealtSource::take() {
  Request request = all_->take();
  request.id = next_id_++;
  for (std::int64_t other = 1; other < hands_ && all_->next_arrival(); ++other)
    static_cast<void>(all_->take());
  return request;
}

}  // namespace ridgeline::workloads
