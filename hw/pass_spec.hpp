#pragma once
// What a machine's small kernels cost, as data: the `passes:` section of configs/hw.
// hw/pass_cost.hpp says what the constants mean.

#include <optional>

#include "core/reader.hpp"
#include "core/units.hpp"

namespace ridgeline::hw {

/// Constants of one kind of such kernels.
struct PassConstants {
  double hbm = 1.0;                            // share of peak HBM bandwidth
  double cache = 1.0;                          // share of the last-level cache's bandwidth
  core::BytesPerSecond workgroup_bandwidth{};  // what one workgroup pulls; 0: no limit
  std::optional<core::Seconds> fixed;          // where it is not the machine's
  bool operator==(const PassConstants&) const = default;
};

struct PassSpec {
  core::Seconds fixed{};            // start and end of a kernel
  core::Seconds workgroup_start{};  // between the starts of two workgroups; 0: no limit
  PassConstants any;                // kinds that have none of their own
  std::optional<PassConstants> norm;
  std::optional<PassConstants> elementwise;
  std::optional<PassConstants> rope;
  std::optional<PassConstants> cache_write;
  std::optional<PassConstants> cast;
  double spread = 0.0;  // standard deviation of ln(predicted / measured)
  bool operator==(const PassSpec&) const = default;
};

/// Reads `passes:` of a machine; errors as core/reader.hpp has them.
[[nodiscard]] PassSpec read_pass_spec(const core::Reader& in);

}  // namespace ridgeline::hw
