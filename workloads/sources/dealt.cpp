#include "workloads/sources/dealt.hpp"

#include "core/error.hpp"

namespace ridgeline::workloads {

DealtSource::DealtSource(std::unique_ptr<RequestSource> all, Turn turn)
    : all_(std::move(all)), hands_(turn.of) {
  if (all_->reacts()) throw core::InvariantError("requests of a closed loop cannot be dealt out");
  skip(turn.number);
}

void DealtSource::skip(std::int64_t requests) {
  for (; requests > 0 && all_->next_arrival(); --requests) static_cast<void>(all_->take());
}

Request DealtSource::take() {
  Request request = all_->take();
  request.id = next_id_++;
  skip(hands_ - 1);
  return request;
}

}  // namespace ridgeline::workloads
