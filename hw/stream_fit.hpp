#pragma once
// Ramp and bandwidth of a memory path, from measured kernels: least squares of t = ramp + bytes /
// bandwidth, every point weighed by its own time so that a kernel of 20 us counts as much as one of
// 400.

#include <vector>

#include "core/units.hpp"

namespace ridgeline::hw {

struct StreamPoint {
  core::Bytes bytes{};
  core::Seconds time{};
};

struct StreamFit {
  core::Seconds ramp{};
  core::BytesPerSecond bandwidth{};
  core::Seconds ramp_error{};  // one standard error
  core::BytesPerSecond bandwidth_error{};
  double residual = 0.0;  // root mean square of (fitted - measured) / measured
};

/// At least three points of different sizes; InvariantError otherwise.
[[nodiscard]] StreamFit fit_stream(const std::vector<StreamPoint>& points);

}  // namespace ridgeline::hw
