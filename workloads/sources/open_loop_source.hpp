#pragma once
// Generated requests that arrive whether or not earlier ones were answered.

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/lengths.hpp"
#include "workloads/request.hpp"

namespace ridgeline::workloads {

class OpenLoopSource : public RequestSource {
 public:
  /// One request for each of `arrivals`, which are in order.
  OpenLoopSource(std::vector<core::Instant> arrivals, Lengths prompts, Lengths outputs);

  [[nodiscard]] std::optional<core::Instant> next_arrival() const override;
  Request take() override;

 private:
  std::vector<core::Instant> arrivals_;
  Lengths prompts_;
  Lengths outputs_;
  std::size_t next_ = 0;
};

}  // namespace ridgeline::workloads
