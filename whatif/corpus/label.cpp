#include "whatif/corpus/label.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "sim/run.hpp"
#include "sim/step_model.hpp"
#include "whatif/diagnose_run.hpp"

namespace ridgeline::whatif {
namespace {

using diagnosis::Regime;
using sim::Scenario;

constexpr double kALittle = 1.1;
constexpr double kMoreBlocks = 1.5;
constexpr double kMoreClients = 1.25;

core::Nanoseconds shortened(core::Nanoseconds t) {
  return core::round_to_ns(t.seconds() / kALittle);
}

// Each improves one resource and says by what factor; nothing where there is none of it.
using Improved = std::optional<double>;

Improved faster_matrices(Scenario& s) {
  for (const auto& dtype : hw::dtype_names()) s.gpu.peak[dtype.value] *= kALittle;
  return kALittle;
}

Improved faster_memory(Scenario& s) {
  s.gpu.hbm.bandwidth *= kALittle;
  return kALittle;
}

Improved faster_host(Scenario& s) {
  hw::LaunchSpec& launch = s.stack.launch;
  workloads::HostSpec& host = s.stack.host;
  for (core::Nanoseconds* t :
       {&launch.issue, &launch.doorbell, &launch.dispatch, &launch.graph_submit, &launch.graph_node,
        &launch.graph_dispatch, &host.step, &host.per_sequence, &host.per_sequence_ahead,
        &host.exposed})
    *t = shortened(*t);
  return kALittle;
}

Improved faster_links(Scenario& s) {
  if (s.engine.parallelism.gpus() < 2) return std::nullopt;
  s.gpu.node.rate *= kALittle;
  for (hw::CollectiveLibrary& library : s.gpu.node.libraries) {
    for (core::Seconds* t :
         {&library.fixed, &library.per_step, &library.per_peer, &library.codec_fixed})
      *t = *t / kALittle;
    library.local_rate *= kALittle;
    library.codec_rate *= kALittle;
  }
  return kALittle;
}

Improved better_kernels(Scenario& s) {
  s.stack.efficiency.beyond_floor /= kALittle;
  return kALittle;
}

Improved more_blocks(Scenario& s) {
  if (std::holds_alternative<workloads::TrainingWorkload>(s.workload)) return std::nullopt;
  const sim::MemoryPlan plan = sim::plan_memory(s);
  const auto blocks =
      static_cast<std::int64_t>(std::ceil(kMoreBlocks * static_cast<double>(plan.kv_blocks)));
  const core::Bytes more = plan.block_bytes * (static_cast<double>(blocks - plan.kv_blocks) + 1.0);
  s.gpu.hbm.capacity += more / s.engine.gpu_memory_utilization;
  s.engine.num_gpu_blocks_override = blocks;
  return static_cast<double>(blocks) / static_cast<double>(plan.kv_blocks);
}

Improved more_load(Scenario& s) {
  auto* generated = std::get_if<workloads::GeneratedWorkload>(&s.workload);
  if (generated == nullptr) return std::nullopt;
  if (auto* loop = std::get_if<workloads::ClosedLoop>(&generated->arrivals)) {
    const std::int64_t before = loop->concurrency;
    loop->concurrency = std::max(
        before + 1,
        static_cast<std::int64_t>(std::llround(kMoreClients * static_cast<double>(before))));
    s.engine.max_num_seqs = std::max(s.engine.max_num_seqs,
                                     std::min(loop->concurrency, s.engine.max_num_batched_tokens));
    const double factor = static_cast<double>(loop->concurrency) / static_cast<double>(before);
    generated->requests =
        static_cast<std::int64_t>(std::ceil(factor * static_cast<double>(generated->requests)));
    return factor;
  }
  std::visit(
      [](auto& process) {
        if constexpr (requires { process.rate; }) process.rate *= kALittle;
      },
      generated->arrivals);
  return kALittle;
}

struct Improvement {
  Resource resource;
  std::string_view name;
  Improved (*apply)(Scenario&);
};
constexpr std::array<Improvement, kResources> kImprovements{{
    {Resource::matrix_rate, "matrix_rate", faster_matrices},
    {Resource::hbm_bandwidth, "hbm_bandwidth", faster_memory},
    {Resource::launch_and_host, "launch_and_host", faster_host},
    {Resource::links, "links", faster_links},
    {Resource::kernels, "kernels", better_kernels},
    {Resource::capacity, "capacity", more_blocks},
    {Resource::load, "load", more_load},
}};

double speed_of(const Scenario& scenario, Objective objective) {
  const sim::RunResult result = sim::run(scenario);
  return value_of(objective, result, sim::measure(result));
}

// Of the rules in the header.
constexpr double kFollowsLoad = 0.5;
constexpr double kFollowsBlocks = 0.3;
constexpr double kNearRoof = 0.4;
constexpr double kTooClose = 0.05;
constexpr double kAlmost = 0.1;
/// A line that is as near as this could as well lie on the other side.
constexpr double kNearLine = 0.05;
constexpr double kNearBlocksLine = 0.15;
constexpr double kNearIdleLine = 0.1;

struct Side {
  Regime regime;
  double elasticity;
};

double at(const Elasticities& e, Resource r) { return e[static_cast<std::size_t>(r)]; }

/// The sides of a step, the largest first: device, host, links.
std::array<Side, 3> sides_of(const Elasticities& e, bool near) {
  const double compute = at(e, Resource::matrix_rate);
  const double bandwidth = at(e, Resource::hbm_bandwidth);
  const double roof = std::max(compute, bandwidth);
  const Side device =
      near ? Side{compute > bandwidth ? Regime::compute_bound : Regime::bandwidth_bound, roof}
           : Side{Regime::kernel_inefficiency, std::max(roof, at(e, Resource::kernels))};
  std::array<Side, 3> sides{{device,
                             {Regime::overhead_bound, at(e, Resource::launch_and_host)},
                             {Regime::communication_bound, at(e, Resource::links)}}};
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.elasticity > b.elasticity; });
  return sides;
}

void accept(Label& label, Regime regime) {
  if (!label.accepts(regime)) label.accepted.push_back(regime);
}

/// The regimes of the step that nobody could be blamed for.
void accept_step(Label& label, const Elasticities& e, bool near) {
  const auto sides = sides_of(e, near);
  const double enough = sides[0].elasticity - kAlmost;
  // All times of a step made shorter alike make the step so: the shares add up to one.
  const double device = 1.0 - at(e, Resource::launch_and_host) - at(e, Resource::links);
  for (const Side& side : sides) {
    const bool is_device =
        side.regime != Regime::overhead_bound && side.regime != Regime::communication_bound;
    if (side.elasticity >= enough || (is_device && device >= enough)) accept(label, side.regime);
  }
  const double compute = at(e, Resource::matrix_rate);
  const double bandwidth = at(e, Resource::hbm_bandwidth);
  if (near && std::abs(compute - bandwidth) <= kAlmost && std::max(compute, bandwidth) >= enough) {
    accept(label, Regime::compute_bound);
    accept(label, Regime::bandwidth_bound);
  }
}

/// How long the steps of these shapes take together.
double time_of_steps(const sim::RunResult& result, const std::vector<std::size_t>& steps,
                     const Scenario& scenario) {
  sim::StepModel model(scenario);
  if (std::holds_alternative<workloads::TrainingWorkload>(scenario.workload))
    return model.run(model.prepare_training()).duration().seconds().value();
  double time = 0.0;
  for (const std::size_t i : steps)
    time += model.run(model.prepare(result.steps[i].shape())).duration().seconds().value();
  return time;
}

constexpr std::size_t kEnoughSteps = 64;

}  // namespace

std::string_view name_of(Resource resource) {
  return kImprovements[static_cast<std::size_t>(resource)].name;
}

bool Label::accepts(Regime r) const {
  return std::find(accepted.begin(), accepted.end(), r) != accepted.end();
}

double near_roof(const sim::RunResult& result, const ProfileChoice& choice) {
  const Scenario& s = result.scenario;
  sim::StepModel model(s);
  double roof = 0.0;
  double time = 0.0;
  const auto add = [&](const hw::KernelWork& work, const hw::KernelCost& cost,
                       const hw::KernelTiming&) {
    if (work.kind == hw::KernelKind::collective) return;
    const bool scores = work.kind == hw::KernelKind::attention_scores ||
                        work.kind == hw::KernelKind::softmax ||
                        work.kind == hw::KernelKind::attention_values;
    const double bytes =
        scores ? 0.0 : (cost.hbm() / (s.gpu.hbm.bandwidth * s.gpu.hbm.sustained)).value();
    const double flop =
        cost.useful.value() > 0.0
            ? (cost.useful / (s.gpu.peak[work.math] * s.gpu.sustained[work.math])).value()
            : 0.0;
    const double duration = cost.duration.seconds().value();
    roof += std::min(duration, std::max(bytes, flop));
    time += duration;
  };
  if (std::holds_alternative<workloads::TrainingWorkload>(s.workload)) {
    static_cast<void>(model.run(model.prepare_training(), add));
  } else {
    for (const std::size_t i : chosen_steps(result, choice, kEnoughSteps))
      static_cast<void>(model.run(model.prepare(result.steps[i].shape()), add));
  }
  return time > 0.0 ? roof / time : 0.0;
}

void judge(Label& label) {
  label.accepted.clear();
  const bool near = label.near_roof >= kNearRoof;
  const auto accept_steps = [&label](bool near_roofs) {
    accept_step(label, label.elasticity, near_roofs);
    accept_step(label, label.of_steps, near_roofs);
  };
  const auto sides = sides_of(label.elasticity, near);
  label.margin = sides[0].elasticity - sides[1].elasticity;
  const double blocks = label[Resource::capacity];
  const bool follows_load = label[Resource::load] >= kFollowsLoad;

  if (label.idle >= kMostlyIdle && follows_load) {
    label.regime = Regime::load_bound;
  } else if (blocks >= kFollowsBlocks) {
    label.regime = Regime::capacity_bound;
  } else if (label.margin < kTooClose) {
    label.regime = Regime::mixed;
  } else {
    label.regime = sides[0].regime;
  }
  accept(label, label.regime);

  if (label.regime == Regime::load_bound) {
    if (label.idle < kMostlyIdle + kNearIdleLine) accept_steps(near);
    return;
  }
  if (label.idle >= kMostlyIdle - kNearIdleLine && follows_load) accept(label, Regime::load_bound);
  if (label.regime == Regime::capacity_bound) {
    // By plain size the step's own resource may be the larger one.
    if (blocks < std::max(kFollowsBlocks + kNearBlocksLine, sides[0].elasticity))
      accept_steps(near);
    return;
  }
  if (blocks >= kFollowsBlocks - kNearBlocksLine) accept(label, Regime::capacity_bound);
  accept_steps(near);
  const auto of_steps = sides_of(label.of_steps, near);
  if (std::min(label.margin, of_steps[0].elasticity - of_steps[1].elasticity) < kAlmost)
    accept(label, Regime::mixed);
  if (std::abs(label.near_roof - kNearRoof) <= kNearLine) accept_steps(!near);
}

Label label_of(const sim::RunResult& result, const sim::Metrics& metrics) {
  Label label;
  label.objective = objective_of(result, metrics);
  label.speed = value_of(label.objective, result, metrics);
  label.idle = idle_share(result);
  const ProfileChoice part = telling_part(result);
  label.near_roof = near_roof(result, part);
  const std::vector<std::size_t> steps = chosen_steps(result, part, kEnoughSteps);
  const double step_time = time_of_steps(result, steps, result.scenario);
  for (const Improvement& improvement : kImprovements) {
    Scenario better = result.scenario;
    const Improved factor = improvement.apply(better);
    if (!factor) continue;
    const auto i = static_cast<std::size_t>(improvement.resource);
    label.elasticity[i] =
        std::log(speed_of(better, label.objective) / label.speed) / std::log(*factor);
    if (improvement.resource != Resource::capacity && improvement.resource != Resource::load)
      label.of_steps[i] =
          std::log(step_time / time_of_steps(result, steps, better)) / std::log(*factor);
  }
  judge(label);
  return label;
}

std::vector<TrueGain> true_gains(const Scenario& scenario, const Label& label,
                                 const core::ConfigLibrary& library) {
  std::vector<TrueGain> out;
  for (const Intervention& change : interventions()) {
    TrueGain& gain = out.emplace_back(TrueGain{change.fix, std::nullopt, {}});
    if (change.overrides == nullptr || change.assumed) {
      gain.why_not = change.how;
      continue;
    }
    try {
      if (const auto after = changed_by(change, scenario, library)) {
        gain.gain = speed_of(*after, label.objective) / label.speed;
      } else {
        gain.why_not = "there is nothing to change";
      }
    } catch (const core::SimulationError&) {
      gain.why_not = "it does not fit into memory";
    } catch (const core::ConfigError&) {
      gain.why_not = "the machine or the model does not allow it";
    }
  }
  return out;
}

nlohmann::ordered_json to_json(const Label& label) {
  nlohmann::ordered_json out;
  out["regime"] = diagnosis::name_of(label.regime);
  for (const Regime r : label.accepted) out["accepted"].push_back(diagnosis::name_of(r));
  out["margin"] = label.margin;
  out["objective"] = name_of(label.objective);
  out["speed"] = label.speed;
  for (const Improvement& i : kImprovements) {
    out["elasticity"][std::string(i.name)] = label[i.resource];
    if (i.resource != Resource::capacity && i.resource != Resource::load)
      out["of_steps"][std::string(i.name)] = at(label.of_steps, i.resource);
  }
  out["near_roof"] = label.near_roof;
  out["idle"] = label.idle;
  out["faults"] = label.faults;
  for (const TrueGain& gain : label.gains) {
    nlohmann::ordered_json& line = out["gains"][std::string(gain.fix)];
    if (gain.gain) {
      line = *gain.gain;
    } else {
      line = gain.why_not;
    }
  }
  return out;
}

}  // namespace ridgeline::whatif
