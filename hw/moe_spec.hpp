#pragma once
// What a machine's grouped products cost, as data: the `moe:` section of configs/hw.
// hw/moe_cost.hpp says what the constants mean.

#include <cstdint>
#include <vector>

#include "core/reader.hpp"
#include "core/units.hpp"
#include "hw/dtype.hpp"

namespace ridgeline::hw {

/// Constants of a grouped-product library; what a file leaves out is neutral: the machine's peaks
/// and no latency.
struct MoeSpec {
  PerDtype<double> rate;  // share of the peak matrix rate, before tiles; 1 when not given
  double tile_load = 0.0;
  double extra_k = 0.0;  // depth that filling and draining a tile costs
  double stream = 1.0;   // share of peak HBM bandwidth that expert weights reach
  core::BytesPerSecond workgroup_bandwidth{};  // what one workgroup keeps in flight; 0: no limit
  core::Seconds fixed{};                       // each stage: launch, reading the routing, draining
  std::vector<std::int64_t> rows{16, 32, 64, 128};  // of tiles
  std::vector<std::int64_t> columns{64, 128, 256};
  double spread = 0.0;           // standard deviation of log(predicted / measured)
  std::int64_t anchored_to = 0;  // most tokens that were measured

  MoeSpec() {
    for (const auto& choice : dtype_names()) rate[choice.value] = 1.0;
  }
  bool operator==(const MoeSpec&) const = default;
};

/// Reads `moe:` of a machine; errors as core/reader.hpp has them.
[[nodiscard]] MoeSpec read_moe_spec(const core::Reader& in);

}  // namespace ridgeline::hw
