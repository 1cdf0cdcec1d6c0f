#pragma once
// What a machine's matrix multiplies cost, as data: the `gemm:` section of configs/hw.
//
// The plain constants serve every dtype and need no measurement. A family holds what was fitted to
// the kernels of one library in one dtype; hw/gemm_cost.hpp says what its constants mean.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"
#include "core/units.hpp"
#include "hw/dtype.hpp"

namespace ridgeline::hw {

/// Sides m x n of the block of outputs that one workgroup computes.
struct GemmTile {
  std::int64_t m = 0;
  std::int64_t n = 0;
  bool operator==(const GemmTile&) const = default;
};

/// Standard deviation of ln(predicted / measured) over the rows fitted, by what takes most of the
/// time.
struct GemmSpread {
  double compute = 0.0;
  double memory = 0.0;
  double floor = 0.0;
  bool operator==(const GemmSpread&) const = default;
};

/// Sizes that a family was measured at, ends included. A prediction outside is extrapolated.
struct GemmRange {
  std::int64_t low = 1;
  std::int64_t high = 1'000'000'000;
  bool operator==(const GemmRange&) const = default;
  [[nodiscard]] bool contains(std::int64_t size) const { return low <= size && size <= high; }
};

/// The kernels of one library in one dtype. Named "int8", or with a flavour "fp8_blockscale".
struct GemmFamily {
  std::string name;
  std::vector<GemmTile> tiles;
  std::int64_t max_splits = 1;
  double rate = 1.0;         // inner loop's rate on full tiles / sustained matrix rate
  double tile_load = 0.0;    // as in GemmSpec
  double extra_k = 0.0;      // depth that filling and draining a tile's pipeline costs, elements
  core::Seconds split_cost;  // fixed part of adding partial sums up
  core::BytesPerSecond workgroup_bandwidth{1e18};  // loads one workgroup keeps in flight / latency
  double step_edge =
      0.0;               // m + n below which a smaller tile no longer makes a step of depth shorter
  core::Seconds fixed;   // a kernel's start and end, on top of everything
  double overlap = 2.0;  // how compute and loads overlap: 1 one after the other, large at once
  double dequantize = 8.0;  // matrix rows of work that unpacking one narrow weight costs a tile
  GemmSpread spread;
  GemmRange m;
  GemmRange n;
  GemmRange k;
  bool borrowed = false;  // constants of another dtype: never within what was measured
  bool operator==(const GemmFamily&) const = default;
};

/// How matrix multiplies map onto compute units; see hw/compute_units.hpp for what the constants
/// mean.
struct GemmSpec {
  using Tile = GemmTile;
  std::vector<Tile> tiles;
  double tile_load =
      0.0;               // elements of work that loading one row and column element of a tile costs
  double extra_k = 0.0;  // depth that filling and draining a tile's pipeline costs
  std::int64_t max_splits = 1;  // split-K factors 1, 2, 4 ... up to this
  core::Seconds split_cost{};   // adding the partial sums up, fixed part
  std::vector<GemmFamily> families{};
  bool operator==(const GemmSpec&) const = default;

  /// The family for a dtype and a flavour of kernel ("blockscale"; "" for the usual one), or null
  /// where the plain constants serve. Tried in turn: dtype and flavour, the dtype alone, the same
  /// for the other 16-bit format (bf16 and fp16 run through the same units), "default".
  [[nodiscard]] const GemmFamily* family(Dtype math, std::string_view flavour = {}) const;
};

/// Reads the `gemm:` map; without the families unless `calibrated`.
[[nodiscard]] GemmSpec read_gemm_spec(const core::Reader& in, bool calibrated);

}  // namespace ridgeline::hw
