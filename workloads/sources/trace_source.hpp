#pragma once
// Requests as a trace has them.

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/request.hpp"

namespace ridgeline::workloads {

class TraceSource : public RequestSource {
 public:
  /// `requests` in order of arrival. Arrivals are multiplied by `time_scale`: 0.5 doubles the rate.
  TraceSource(std::vector<Request> requests, double time_scale);

  [[nodiscard]] std::optional<core::Instant> next_arrival() const override;
  Request take() override;

 private:
  std::vector<Request> requests_;
  std::size_t next_ = 0;
};

}  // namespace ridgeline::workloads
