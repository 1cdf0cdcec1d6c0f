#pragma once
// How long a kernel takes, and because of what: t = max(compute, memory, floor). Matrix products,
// attention, experts, collectives and small kernels have mechanisms of their own
// (hw/*_cost.hpp); this is where they come together.

#include <array>
#include <cstdint>

#include "core/instant.hpp"
#include "core/units.hpp"
#include "hw/gpu_spec.hpp"
#include "hw/kernel_work.hpp"

namespace ridgeline::hw {

/// Which of a kernel's times is the longest; `link` of collectives alone.
enum class Binding : std::uint8_t { compute, memory, floor, link };

struct KernelCost {
  core::Seconds compute{};
  core::Seconds memory{};
  core::Seconds floor{};
  core::Seconds link{};   // of collectives, which have nothing else
  core::Seconds fixed{};  // contained in compute and memory: start and end of a measured kernel
  Binding binds = Binding::floor;
  core::Nanoseconds duration{};  // the longest of the three; times are rounded up, so that rounding
                                 // beats no bound
  core::Flop issued{};           // padded to tiles
  core::Flop useful{};
  core::Bytes hbm_read{};
  core::Bytes hbm_written{};
  // Of GEMMs: the tile chosen and how the work was cut.
  std::int32_t tile_m = 0;
  std::int32_t tile_n = 0;
  std::int32_t splits = 0;
  double workgroups = 0.0;
  double spread = 0.0;        // standard deviation of ln(real / predicted); 0 where nobody measured
  bool extrapolated = false;  // outside of the sizes that were measured

  [[nodiscard]] core::Bytes hbm() const { return hbm_read + hbm_written; }
};

/// What the software stack makes of the machine: one fraction per kind of kernel, of the sustained
/// matrix rate and of the sustained bandwidth. 1 is a kernel as good as the best that was measured.
struct EfficiencySpec {
  std::array<double, kKernelKinds> compute;
  std::array<double, kKernelKinds> bandwidth;
  std::array<double, kKernelKinds> time;  // so many times as long as all this says, as a recording
                                          // showed; below 1 never less than bytes and useful FLOP
                                          // take at peak
  bool tuned_gemms = true;    // false: one fixed tile for every shape, no split-K, as a library
                              // without tuning for this part has it
  double beyond_floor = 1.0;  // so much is left of the time that kernels take beyond their bytes at
                              // peak bandwidth or their useful FLOP at peak rate: below 1, kernels
                              // better than any that were measured

  EfficiencySpec() {
    compute.fill(1.0);
    bandwidth.fill(1.0);
    time.fill(1.0);
  }
  bool operator==(const EfficiencySpec&) const = default;

  [[nodiscard]] double of_compute(KernelKind kind) const {
    return compute[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] double of_bandwidth(KernelKind kind) const {
    return bandwidth[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] double of_time(KernelKind kind) const {
    return time[static_cast<std::size_t>(kind)];
  }
};

/// Bounds of `time`: a kernel further off than that is another kernel.
inline constexpr double kLeastTimeFactor = 0.01;
inline constexpr double kMostTimeFactor = 1000.0;

/// Reads `compute: {gemm: 0.8}`, `bandwidth: {norm: 0.5}`, `time: {gemm: 1.1}`, `tuned_gemms:
/// false`, `beyond_floor: 0.5`, each optional.
[[nodiscard]] EfficiencySpec read_efficiency(const core::Reader& in);

/// Cost of one kernel; a pure function of its arguments. The GEMM search tries every tile and
/// split, so callers that price the same shape often go through hw::Gpu, which remembers.
/// InvariantError when the machine has no matrix rate for the work's dtype; scenarios are checked
/// for that when they are read.
[[nodiscard]] KernelCost cost_of(const KernelWork& work, const GpuSpec& gpu,
                                 const EfficiencySpec& efficiency, core::Nanoseconds floor);

}  // namespace ridgeline::hw
