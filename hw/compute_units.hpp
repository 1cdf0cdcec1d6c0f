#pragma once
// Matrix multiplies on compute units.
//
// A product is cut into tiles of m x n outputs, and each tile's depth K optionally into `splits`.
// Workgroups go to compute units in waves; a last, part-filled wave costs a whole one. On its unit
// a tile of depth k takes
//
//     2 m n (k + extra_k) / (rate per unit x m n / (m n + tile_load (m + n)))
//
// because every step of k loads m + n elements for m n multiplies, and the pipeline must fill and
// drain. Weights stored narrower than they are multiplied are unpacked by every tile that reads
// them, which costs a tile as much as `dequantize` more rows: nothing when m rows wait for memory,
// a few percent of a large tile. Left out: stream-K, LDS bank conflicts, dies out of step.

#include "core/units.hpp"
#include "hw/gpu_spec.hpp"
#include "hw/kernel_work.hpp"

namespace ridgeline::hw {

/// What a tile costs beyond its arithmetic.
struct TileConstants {
  double tile_load = 0.0;
  double extra_k = 0.0;
  core::Seconds split_cost{};
  double dequantize = 0.0;  // rows of work a tile; 0 where weights are stored as multiplied
};

struct TilePlan {
  GemmSpec::Tile tile;
  std::int64_t splits = 1;
  double workgroups = 0.0;  // tiles x splits x batch
  core::Seconds compute{};  // time on the compute units
  core::Flop issued{};      // 2 m n K summed over whole tiles
};

/// The plan for one tile and split. `rate` is the whole machine's matrix rate after sustained
/// fraction and efficiency.
[[nodiscard]] TilePlan plan_with(const GemmShape& shape, const GpuSpec& gpu, GemmSpec::Tile tile,
                                 std::int64_t splits, core::FlopPerSecond rate,
                                 const TileConstants& constants);

/// With the machine's plain constants.
[[nodiscard]] TilePlan plan_with(const GemmShape& shape, const GpuSpec& gpu, GemmSpec::Tile tile,
                                 std::int64_t splits, core::FlopPerSecond rate);

}  // namespace ridgeline::hw
