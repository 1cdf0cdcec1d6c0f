#pragma once
// What the name of a matrix product says of its tiling: Tensile and hipBLASLt in full, cuBLAS,
// CUTLASS, TensorRT-LLM and Triton's matmul where the tile is plain. A name holds no m, n, k, but
// tiles times a grid bound them: a grid of ceil(n / tile_n) times ceil(m / tile_m) workgroups.
// Convolutions are left out: their tiles count other things.
//
// BLAS counts output features first and tokens second, so that MT256x48x64 is 256 features by 48
// tokens by 64 of k.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/interval.hpp"

namespace ridgeline::timeline {

struct GemmTile {
  std::int64_t m = 0;              // along tokens
  std::int64_t n = 0;              // along output features
  std::int64_t k = 0;              // depth of one pass
  std::int64_t instruction_m = 0;  // of the matrix instruction; 0 unknown. A square one mostly
  std::int64_t instruction_n = 0;
  bool a_transposed = false;  // Alik; with Bljk this is the TN of a linear layer
  bool b_transposed = false;
  std::string dtype;        // "bf16" of the inputs; empty where the name does not say
  std::int64_t splits = 1;  // of k, where the name says; Tensile may also be told at run time
  bool stream_k = false;    // the grid is then a number of workers, not of tiles

  bool operator==(const GemmTile&) const = default;
};

[[nodiscard]] std::optional<GemmTile> gemm_tile(std::string_view kernel_name);

/// What m and n may be, inclusive.
struct GemmBounds {
  core::Interval m;
  core::Interval n;
};

/// Bounds from the number of workgroups in the grid: each way to write tiles as rows times columns
/// gives a range of m and of n, and these are the hulls. Nothing for stream-K, or when the grid is
/// not a whole number of the name's splits.
[[nodiscard]] std::optional<GemmBounds> gemm_bounds(const GemmTile& tile, std::int64_t workgroups);
/// m where n is known, and the other way round: as narrow as one tile. Nothing when the grid
/// contradicts what is known.
[[nodiscard]] std::optional<core::Interval> tokens_given_features(const GemmTile& tile,
                                                                  std::int64_t workgroups,
                                                                  std::int64_t n);
[[nodiscard]] std::optional<core::Interval> features_given_tokens(const GemmTile& tile,
                                                                  std::int64_t workgroups,
                                                                  std::int64_t m);

}  // namespace ridgeline::timeline
