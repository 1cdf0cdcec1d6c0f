#pragma once
// How long a matrix multiply takes.
//
// A product is cut into tiles as hw/compute_units.hpp says, w waves of them. With the constants of
// a family:
//
//     compute = w 2 m n (K/splits + extra_k) / (rate per unit)  [+ the cost of splitting]
//     loads   = w max(m + n, step_edge) (K/splits + extra_k) bytes / workgroup_bandwidth
//     memory  = loads + bytes through HBM / sustained bandwidth
//     t       = (compute^p + memory^p)^(1/p) + fixed,     p = overlap
//
// Loads are Little's law: a workgroup has a fixed number of bytes in flight, each under way for the
// latency of the memory, so a deep and narrow product is slow however many units idle; tiles of
// less than step_edge wait just as long. A kernel that prefetches hides loads behind arithmetic
// (p = 2 to 4); one that does not adds them up (p = 1). A tuned library is modelled as picking the
// tile and split with the smallest t.
//
// Without a family the plain formula holds: t = max(compute, ramp + bytes / bandwidth filled).
//
// Left out: stream-K, channel conflicts, dies out of step, clocks that rise when power allows, how
// often tiles of one row hit the caches.

#include <cstdint>
#include <span>
#include <string_view>

#include "core/units.hpp"
#include "hw/compute_units.hpp"
#include "hw/gpu_spec.hpp"
#include "hw/kernel_work.hpp"

namespace ridgeline::hw {

struct GemmQuery {
  GemmShape shape;
  Dtype math = Dtype::fp16;           // whose matrix rate it runs at
  Dtype weights = Dtype::fp16;        // what B is stored in; of one byte or less and narrower than
                                      // `math`, it is unpacked on the way
  std::string_view flavour{};         // of the kernel library, see GemmSpec::family
  core::Bytes hbm{};                  // moved through HBM, both ways
  core::Bytes cached{};               // moved from and to the last cache only
  double compute_efficiency = 1.0;    // what the stack makes of the matrix rate
  double bandwidth_efficiency = 1.0;  // and of the HBM bandwidth
  bool tuned = true;                  // false: one tile for every shape, no split-K
};

/// `total` is the larger of the two times: whichever binds carries what the other adds to it.
struct GemmCost {
  core::Seconds compute{};
  core::Seconds memory{};
  core::Seconds fixed{};  // contained in both: a kernel's start and end
  TilePlan plan;
  double spread = 0.0;        // standard deviation of ln(real / predicted); 0 where nobody measured
  bool extrapolated = false;  // outside of the sizes that the constants were fitted to

  [[nodiscard]] core::Seconds total() const { return compute < memory ? memory : compute; }
};

/// The product alone on the machine as benchmarks run it: operands from HBM (weights from the cache
/// when they are `weights_cached`), outputs of 16 bits to HBM.
[[nodiscard]] GemmQuery cold_gemm(const GemmShape& shape, Dtype math, std::string_view flavour = {},
                                  bool weights_cached = false);

/// Cost by the machine's family for the query's dtype and flavour. Allocates nothing.
[[nodiscard]] GemmCost gemm_cost(const GemmQuery& query, const GpuSpec& gpu);

/// The same by the constants given, as a fit needs it.
[[nodiscard]] GemmCost gemm_cost(const GemmQuery& query, const GpuSpec& gpu,
                                 const GemmFamily& family);

/// Relative error of a prediction, one standard deviation of ln(real / predicted); 0 where nobody
/// measured.
[[nodiscard]] double spread(const GemmQuery& query, const GpuSpec& gpu);

/// The constants a fit may move, in this order: rate, extra_k (elements), workgroup_bandwidth
/// (bytes/s), fixed (s), split_cost (s), step_edge (elements).
inline constexpr std::size_t kGemmConstants = 6;
[[nodiscard]] GemmFamily with_constants(GemmFamily family,
                                        std::span<const double, kGemmConstants> constants);

}  // namespace ridgeline::hw
