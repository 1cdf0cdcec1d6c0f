#pragma once
// A GPU as data. Every file in configs/hw is one; the code knows none by name.

#include <string>
#include <vector>

#include "core/document.hpp"
#include "core/reader.hpp"
#include "core/units.hpp"
#include "hw/dtype.hpp"

namespace ridgeline::hw {

struct HbmSpec {
  core::Bytes capacity{};
  core::BytesPerSecond bandwidth{};  // datasheet peak
  double sustained = 1.0;            // fraction of it that a long read-and-write stream reaches
  core::Seconds ramp{};  // time a kernel takes to get its first bytes and to drain, on top of bytes
                         // / bandwidth
  bool operator==(const HbmSpec&) const = default;
};

/// The last cache before HBM (Infinity Cache, or L2 where there is nothing behind it).
struct CacheSpec {
  core::Bytes capacity{};
  core::BytesPerSecond bandwidth{};
  double resident = 0.5;  // a tensor up to this fraction of the capacity is still there when the
                          // next kernel reads it
  bool operator==(const CacheSpec&) const = default;
};

/// How matrix multiplies map onto compute units; see hw/compute_units.hpp for what the constants
/// mean.
struct GemmSpec {
  struct Tile {
    std::int64_t m = 0;
    std::int64_t n = 0;
    bool operator==(const Tile&) const = default;
  };
  std::vector<Tile> tiles;
  double tile_load =
      0.0;               // elements of work that loading one row and column element of a tile costs
  double extra_k = 0.0;  // depth that filling and draining a tile's pipeline costs
  std::int64_t max_splits = 1;  // split-K factors 1, 2, 4 ... up to this
  core::Seconds split_cost{};   // adding the partial sums up, fixed part
  bool operator==(const GemmSpec&) const = default;
};

struct GpuSpec {
  std::string name;
  std::string architecture;
  std::int64_t compute_units = 0;
  std::int64_t dies = 1;
  std::int64_t wave_size = 64;
  PerDtype<core::FlopPerSecond> peak;  // dense matrix rate; zero where the part has no such unit
  PerDtype<double>
      sustained;  // fraction of peak that clocks under power allow, before tiles and waves
  HbmSpec hbm;
  CacheSpec cache;
  GemmSpec gemm;

  bool operator==(const GpuSpec&) const = default;

  /// FLOP per byte at which compute and HBM peaks take equally long.
  [[nodiscard]] double ridge_point(Dtype dtype) const {
    return peak[dtype].value() / hbm.bandwidth.value();
  }
  [[nodiscard]] bool supports(Dtype dtype) const { return peak[dtype].value() > 0.0; }
};

/// Reads a GPU from its map; errors as core/reader.hpp has them.
[[nodiscard]] GpuSpec read_gpu_spec(const core::Reader& in);

}  // namespace ridgeline::hw
