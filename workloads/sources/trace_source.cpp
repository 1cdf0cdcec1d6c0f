#include "workloads/sources/trace_source.hpp"

#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace ridgeline::workloads {

TraceSource::TraceSource(std::vector<Request> requests, double time_scale)
    : requests_(std::move(requests)) {
  if (time_scale == 1.0) return;  // as written, to the nanosecond
  for (Request& request : requests_) {
    request.arrival.ns = std::llround(static_cast<double>(request.arrival.ns) * time_scale);
  }
}

std::optional<core::Instant> TraceSource::next_arrival() const {
  if (next_ == requests_.size()) return std::nullopt;
  return requests_[next_].arrival;
}

Request TraceSource::take() {
  if (next_ == requests_.size())
    throw core::InvariantError("took a request from a trace at its end");
  return requests_[next_++];
}

}  // namespace ridgeline::workloads
