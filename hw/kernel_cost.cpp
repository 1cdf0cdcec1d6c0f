#include "hw/kernel_cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "hw/compute_units.hpp"
#include "hw/hbm.hpp"

namespace ridgeline::hw {
namespace {

struct Traffic {
  core::Bytes hbm_read{};
  core::Bytes hbm_written{};
  core::Bytes cached{};
};

Traffic traffic_of(const KernelWork& work, const CacheSpec& cache) {
  Traffic traffic{work.stream_read, work.stream_written, core::Bytes{}};
  for (const core::Bytes tensor : work.activation_read) {
    (stays_in_cache(tensor, cache) ? traffic.cached : traffic.hbm_read) += tensor;
  }
  (stays_in_cache(work.activation_written, cache) ? traffic.cached : traffic.hbm_written) +=
      work.activation_written;
  return traffic;
}

bool is_matrix_product(KernelKind kind) {
  return kind == KernelKind::gemm || kind == KernelKind::attention_scores ||
         kind == KernelKind::attention_values;
}

/// A step has fewer than a million kernels, so no step overflows the clock's 292 years.
constexpr core::Seconds kLongestKernel{3600.0};

/// The tile that a library uses when nobody tuned it for the shape at hand.
GemmSpec::Tile default_tile(const GemmSpec& gemm) { return gemm.tiles[gemm.tiles.size() / 2]; }

}  // namespace

EfficiencySpec read_efficiency(const core::Reader& in) {
  EfficiencySpec efficiency;
  const auto read_table = [&](std::string_view key, std::array<double, kKernelKinds>& table) {
    if (!in.has(key)) return;
    const core::Reader kinds = in.child(key);
    for (const auto& choice : kernel_kind_names()) {
      if (kinds.has(choice.name))
        table[static_cast<std::size_t>(choice.value)] = kinds.fraction(choice.name, 0.001, 1.0);
    }
  };
  read_table("compute", efficiency.compute);
  read_table("bandwidth", efficiency.bandwidth);
  efficiency.tuned_gemms = in.get("tuned_gemms", true);
  return efficiency;
}

KernelCost cost_of(const KernelWork& work, const GpuSpec& gpu, const EfficiencySpec& efficiency,
                   core::Nanoseconds floor) {
  if ((is_matrix_product(work.kind) || work.useful.value() > 0.0 || work.issued.value() > 0.0) &&
      !gpu.supports(work.math)) {
    throw core::InvariantError(gpu.name + " has no matrix rate for " +
                               std::string(name_of(work.math)));
  }
  const Traffic traffic = traffic_of(work, gpu.cache);
  const core::Bytes moved = traffic.hbm_read + traffic.hbm_written;
  const double bandwidth_fraction = efficiency.of_bandwidth(work.kind);
  const auto memory_time = [&](double workgroups) {
    return std::max(time_to_move(moved, gpu.hbm, bandwidth_fraction, filled(workgroups, gpu)),
                    traffic.cached / gpu.cache.bandwidth);
  };

  KernelCost cost;
  cost.floor = floor.seconds();
  cost.useful = work.useful;
  cost.hbm_read = traffic.hbm_read;
  cost.hbm_written = traffic.hbm_written;

  if (is_matrix_product(work.kind)) {
    const core::FlopPerSecond rate =
        gpu.peak[work.math] * (gpu.sustained[work.math] * efficiency.of_compute(work.kind));
    TilePlan best;
    core::Seconds best_memory{};
    core::Seconds best_time{INFINITY};
    const auto consider = [&](GemmSpec::Tile tile, std::int64_t splits) {
      const TilePlan plan = plan_with(work.gemm, gpu, tile, splits, rate);
      const core::Seconds memory = memory_time(plan.workgroups);
      const core::Seconds time = std::max(plan.compute, memory);
      if (time < best_time) {
        best = plan;
        best_memory = memory;
        best_time = time;
      }
    };
    if (efficiency.tuned_gemms) {
      for (const GemmSpec::Tile tile : gpu.gemm.tiles) {
        for (std::int64_t splits = 1; splits <= gpu.gemm.max_splits; splits *= 2)
          consider(tile, splits);
      }
    } else {
      consider(default_tile(gpu.gemm), 1);
    }
    cost.compute = best.compute;
    cost.memory = best_memory;
    cost.issued = best.issued;
    cost.tile_m = static_cast<std::int32_t>(best.tile.m);
    cost.tile_n = static_cast<std::int32_t>(best.tile.n);
    cost.splits = static_cast<std::int32_t>(best.splits);
    cost.workgroups = best.workgroups;
  } else {
    cost.issued = std::max(work.issued, work.useful);
    if (cost.issued.value() > 0.0) {
      const core::FlopPerSecond rate =
          gpu.peak[work.math] * (gpu.sustained[work.math] * efficiency.of_compute(work.kind));
      cost.compute = cost.issued / rate;
    }
    cost.memory = memory_time(work.workgroups);
    cost.workgroups = work.workgroups;
  }

  const core::Seconds work_time = std::max(cost.compute, cost.memory);
  if (!(work_time <= kLongestKernel)) {
    throw core::SimulationError(
        "the kernel " + std::string(work.role) + " would run for more than an hour on " + gpu.name +
        "; look at the sizes of the model and the batch, and at hw.peak and hw.hbm.bandwidth");
  }
  cost.duration = {
      std::max(floor.count, static_cast<std::int64_t>(std::ceil(work_time.value() * 1e9)))};
  cost.binds = work_time <= cost.floor       ? Binding::floor
               : cost.compute >= cost.memory ? Binding::compute
                                             : Binding::memory;
  return cost;
}

}  // namespace ridgeline::hw
