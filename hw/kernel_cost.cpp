#include "hw/kernel_cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "hw/attention_cost.hpp"
#include "hw/collective_cost.hpp"
#include "hw/gemm_cost.hpp"
#include "hw/hbm.hpp"
#include "hw/moe_cost.hpp"
#include "hw/pass_cost.hpp"

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

/// Prices one kernel; each of these fills in what its mechanism says.
class Pricing {
 public:
  Pricing(const KernelWork& work, const GpuSpec& gpu, const EfficiencySpec& efficiency)
      : work_(work),
        gpu_(gpu),
        compute_(efficiency.of_compute(work.kind)),
        bandwidth_(efficiency.of_bandwidth(work.kind)),
        time_(efficiency.of_time(work.kind)),
        tuned_(efficiency.tuned_gemms) {
    cost_.useful = work.useful;
  }

  KernelCost run() {
    std::visit([this](const auto& operation) { price(operation); }, work_.operation);
    return cost_;
  }

 private:
  void price(const std::monostate&) {
    const Traffic traffic = traffic_of(work_, gpu_.cache);
    cost_.hbm_read = traffic.hbm_read;
    cost_.hbm_written = traffic.hbm_written;
    if (is_matrix_product(work_.kind)) {
      product(traffic);
    } else if (gpu_.passes && work_.issued.value() <= 0.0 && work_.useful.value() <= 0.0) {
      pass(*gpu_.passes);
    } else {
      plain(traffic);
    }
  }

  void product(const Traffic& traffic) {
    GemmQuery query;
    query.shape = work_.gemm;
    query.math = work_.math;
    query.weights = work_.weights;
    query.flavour = work_.flavour;
    query.hbm = traffic.hbm_read + traffic.hbm_written;
    query.cached = traffic.cached;
    query.compute_efficiency = compute_;
    query.bandwidth_efficiency = bandwidth_;
    query.tuned = tuned_;
    const GemmCost product = gemm_cost(query, gpu_);
    cost_.compute = product.compute;
    cost_.memory = product.memory;
    cost_.fixed = product.fixed;
    cost_.issued = product.plan.issued;
    cost_.tile_m = static_cast<std::int32_t>(product.plan.tile.m);
    cost_.tile_n = static_cast<std::int32_t>(product.plan.tile.n);
    cost_.splits = static_cast<std::int32_t>(product.plan.splits);
    cost_.workgroups = product.plan.workgroups;
    cost_.spread = product.spread;
    cost_.extrapolated = product.extrapolated;
  }

  void pass(const PassSpec& spec) {
    const auto constants = [&]() -> const PassConstants& {
      const auto of = [&](const std::optional<PassConstants>& own) -> const PassConstants& {
        return own ? *own : spec.any;
      };
      switch (work_.kind) {
        case KernelKind::norm:
          return of(spec.norm);
        case KernelKind::elementwise:
          return of(spec.elementwise);
        case KernelKind::rope:
          return of(spec.rope);
        case KernelKind::cache_write:
          return of(spec.cache_write);
        case KernelKind::cast:
        case KernelKind::copy:
        case KernelKind::quantize:
          return of(spec.cast);
        default:
          return spec.any;
      }
    };
    const core::Bytes activations =
        work_.activation_read[0] + work_.activation_read[1] + work_.activation_written;
    const PassTime time = pass_time(activations, work_.stream_read + work_.stream_written,
                                    work_.rows, spec, constants(), gpu_.hbm, gpu_.cache);
    cost_.fixed = time.fixed;
    cost_.memory = time.fixed + time.memory / bandwidth_;
    // As the time has it: of a tensor that only partly fits the cache, HBM moves the rest.
    const double cold = 1.0 - time.hot;
    cost_.hbm_read =
        work_.stream_read + (work_.activation_read[0] + work_.activation_read[1]) * cold;
    cost_.hbm_written = work_.stream_written + work_.activation_written * cold;
    cost_.workgroups = work_.workgroups;
    cost_.spread = spec.spread;
    cost_.extrapolated = gpu_.borrowed;
  }

  /// No constants of this machine: arithmetic at the sustained rate, bytes at the sustained
  /// bandwidth.
  void plain(const Traffic& traffic) {
    cost_.issued = std::max(work_.issued, work_.useful);
    if (cost_.issued.value() > 0.0) {
      const core::FlopPerSecond rate =
          gpu_.peak[work_.math] * (gpu_.sustained[work_.math] * compute_);
      cost_.compute = cost_.issued / rate;
    }
    cost_.memory = std::max(time_to_move(traffic.hbm_read + traffic.hbm_written, gpu_.hbm,
                                         bandwidth_, filled(work_.workgroups, gpu_)),
                            traffic.cached / gpu_.cache.bandwidth);
    cost_.workgroups = work_.workgroups;
    cost_.spread = kUnmeasuredSpread;
    cost_.extrapolated = true;
  }

  void price(const AttentionQuery& query) {
    take(attention_cost(query, gpu_, gpu_.attention, {compute_, bandwidth_}));
  }
  void price(const AttentionPair& pair) {
    const AttentionEfficiency efficiency{compute_, bandwidth_};
    if (gpu_.attention.prefill && gpu_.attention.together) {
      take(attention_cost_together(pair.prefill, pair.decode, gpu_, gpu_.attention, efficiency));
      return;
    }
    // Nothing is known of such a kernel here: the two one after the other.
    const AttentionCost first = attention_cost(pair.prefill, gpu_, gpu_.attention, efficiency);
    const AttentionCost second = attention_cost(pair.decode, gpu_, gpu_.attention, efficiency);
    take(first);
    const core::Seconds whole = first.time() + second.time();
    (first.compute > first.memory ? cost_.compute : cost_.memory) = whole;
    cost_.fixed += second.fixed;
    cost_.spread = std::max(first.spread, second.spread);
    cost_.extrapolated = cost_.extrapolated || second.extrapolated;
    cost_.issued += second.issued;
    cost_.hbm_read += second.hbm_read;
    cost_.hbm_written += second.hbm_written;
  }
  void take(const AttentionCost& cost) {
    cost_.compute = cost.compute;
    cost_.memory = cost.memory;
    cost_.fixed = cost.fixed;
    cost_.issued = cost.issued;
    cost_.hbm_read = cost.hbm_read;
    cost_.hbm_written = cost.hbm_written;
    cost_.workgroups = cost.workgroups;
    cost_.splits = static_cast<std::int32_t>(cost.splits);
    cost_.spread = cost.spread;
    cost_.extrapolated = cost.extrapolated || gpu_.borrowed;
  }

  void price(const ExpertStage& stage) {
    const MoeCost both = cost_of(stage.query, gpu_, gpu_.moe);
    const MoeStage& cost = stage.down ? both.down : both.gate_up;
    cost_.fixed = gpu_.moe.fixed;
    cost_.compute = cost_.fixed + (cost.compute - cost_.fixed) / compute_;
    cost_.memory = cost_.fixed + (cost.memory - cost_.fixed) / bandwidth_;
    cost_.issued = cost.issued;
    cost_.useful = cost.useful;
    cost_.hbm_read = cost.hbm;
    cost_.tile_m = static_cast<std::int32_t>(cost.tile_rows);
    cost_.tile_n = static_cast<std::int32_t>(cost.tile_columns);
    cost_.workgroups = cost.workgroups;
    cost_.spread = both.spread;
    cost_.extrapolated = both.extrapolated || gpu_.borrowed;
  }

  void price(const CollectiveCall& call) {
    const CollectiveCost cost =
        cost_of(call.query, gpu_.node, gpu_.node.collectives(call.collectives));
    const core::Seconds time = cost.time / bandwidth_;
    cost_.link = std::max(time * time_, std::min(time, cost.floor));
    cost_.spread = cost.spread;
    cost_.extrapolated = cost.extrapolated || gpu_.borrowed;
  }

  const KernelWork& work_;
  const GpuSpec& gpu_;
  double compute_;
  double bandwidth_;
  double time_;  // of collectives alone; the others are stretched when they are whole
  bool tuned_;
  KernelCost cost_;
};

/// What a kernel's bytes and its arithmetic take at the datasheet's rates.
core::Seconds least_time(const KernelCost& cost, const KernelWork& work, const GpuSpec& gpu) {
  const core::Seconds bytes = cost.hbm() / gpu.hbm.bandwidth;
  const core::Seconds arithmetic =
      cost.useful.value() > 0.0 ? cost.useful / gpu.peak[work.math] : core::Seconds{};
  return std::max(bytes, arithmetic);
}

/// Brings every time of a kernel nearer to the least that physics allows. Collectives have their
/// own floor, which is the links'.
void bring_nearer(KernelCost& cost, const KernelWork& work, const GpuSpec& gpu, double left) {
  if (left == 1.0 || cost.link > core::Seconds{}) return;
  const core::Seconds least = least_time(cost, work, gpu);
  const auto nearer = [&](core::Seconds& time) {
    if (time > least) time = least + (time - least) * left;
  };
  nearer(cost.compute);
  nearer(cost.memory);
  nearer(cost.floor);
  cost.fixed = cost.fixed * left;
}

/// Makes every time of a kernel `factor` times as long, a shorter one never less than physics
/// allows. A collective is stretched where its links' floor is known.
void stretch(KernelCost& cost, const KernelWork& work, const GpuSpec& gpu, double factor) {
  if (factor == 1.0) return;
  const core::Seconds least = least_time(cost, work, gpu);
  const auto stretched = [&](core::Seconds& time, core::Seconds no_less) {
    time = std::max(time * factor, std::min(time, no_less));
  };
  stretched(cost.compute, least);
  stretched(cost.memory, least);
  stretched(cost.floor, core::Seconds{});
  cost.fixed = cost.fixed * factor;
}

/// A step has fewer than a million kernels, so no step overflows the clock's 292 years.
constexpr core::Seconds kLongestKernel{3600.0};

}  // namespace

EfficiencySpec read_efficiency(const core::Reader& in) {
  EfficiencySpec efficiency;
  const auto read_table = [&](std::string_view key, std::array<double, kKernelKinds>& table,
                              double low = 0.001, double high = 1.0) {
    if (!in.has(key)) return;
    const core::Reader kinds = in.child(key);
    for (const auto& choice : kernel_kind_names()) {
      if (kinds.has(choice.name))
        table[static_cast<std::size_t>(choice.value)] = kinds.fraction(choice.name, low, high);
    }
    if (key == "compute" && kinds.has("collective"))
      kinds.reject("collective",
                   "a collective computes nothing; bandwidth.collective is its links'");
  };
  read_table("compute", efficiency.compute);
  read_table("bandwidth", efficiency.bandwidth);
  read_table("time", efficiency.time, kLeastTimeFactor, kMostTimeFactor);
  efficiency.tuned_gemms = in.get("tuned_gemms", true);
  if (in.has("beyond_floor")) efficiency.beyond_floor = in.fraction("beyond_floor");
  return efficiency;
}

KernelCost cost_of(const KernelWork& work, const GpuSpec& gpu, const EfficiencySpec& efficiency,
                   core::Nanoseconds floor) {
  if ((is_matrix_product(work.kind) || work.useful.value() > 0.0 || work.issued.value() > 0.0) &&
      !gpu.supports(work.math)) {
    throw core::InvariantError(gpu.name + " has no matrix rate for " +
                               std::string(name_of(work.math)));
  }
  KernelCost cost = Pricing(work, gpu, efficiency).run();
  cost.floor = floor.seconds();
  stretch(cost, work, gpu, efficiency.of_time(work.kind));
  bring_nearer(cost, work, gpu, efficiency.beyond_floor);

  const core::Seconds work_time = std::max({cost.compute, cost.memory, cost.link});
  if (!(work_time <= kLongestKernel)) {
    throw core::SimulationError(
        "the kernel " + std::string(work.role) + " would run for more than an hour on " + gpu.name +
        "; look at the sizes of the model and the batch, and at hw.peak and hw.hbm.bandwidth");
  }
  cost.duration = {std::max(core::round_to_ns(cost.floor).count,
                            static_cast<std::int64_t>(std::ceil(work_time.value() * 1e9)))};
  // A kernel that is start and end for the most part is at its floor, whatever little it does.
  const bool at_floor = work_time <= cost.floor || cost.fixed > work_time * 0.5;
  cost.binds = cost.link > core::Seconds{}   ? Binding::link
               : at_floor                    ? Binding::floor
               : cost.compute >= cost.memory ? Binding::compute
                                             : Binding::memory;
  return cost;
}

}  // namespace ridgeline::hw
