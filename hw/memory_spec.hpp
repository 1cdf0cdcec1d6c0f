#pragma once
// The memories of a GPU as data: the `hbm:` and `cache:` sections of configs/hw.

#include "core/units.hpp"

namespace ridgeline::hw {

/// Standard deviation of ln(predicted / measured) of the plain formulas, which know no kernel's
/// constants: of the tuned GEMMs of one MI300X table (373 rows) half came out below 0.4 of what was
/// measured, ln 0.4 = -0.9. `ridgeline validate gemm.csv --hw mi300x_datasheet` shows it.
inline constexpr double kUnmeasuredSpread = 0.9;

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

}  // namespace ridgeline::hw
