#include "whatif/from_trace/choose_stack.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"

namespace ridgeline::whatif {
namespace {

using workloads::Lowering;

/// A switch of a stack's lowering that shows in which kernels there are. A new one is one line.
struct Fusion {
  const char* key;
  bool Lowering::*value;
};
constexpr std::array<Fusion, 9> kFusions{{
    {"fused_qkv", &Lowering::fused_qkv},
    {"fused_gate_up", &Lowering::fused_gate_up},
    {"fused_activation", &Lowering::fused_activation},
    {"fused_add_norm", &Lowering::fused_add_norm},
    {"fused_rope_cache", &Lowering::fused_rope_cache},
    {"fused_qk_norm", &Lowering::fused_qk_norm},
    {"fused_quant", &Lowering::fused_quant},
    {"qk_copies", &Lowering::qk_copies},
    {"norm_casts", &Lowering::norm_casts},
}};

/// Nearer by less than half a kernel a layer is chance: classes are told by names.
constexpr double kWorthASwitch = 0.5;
/// Stacks whose kernels explain a trace equally well.
constexpr double kAlike = 0.01;

void take_launch_mode(const TraceFacts& facts, Draft& draft) {
  const bool decodes = std::any_of(facts.steps.begin(), facts.steps.end(),
                                   [](const StepFacts& s) { return s.decodes_only(); });
  if (!decodes) return;
  if (facts.graphs)
    draft.set("stack.graphs", "true");
  else
    draft.set("engine.enforce_eager", "true");
}

/// Sets the switches one at a time, the best first, while one of them brings the kernels nearer.
void switch_fusions(const std::vector<StepFacts>& steps, const core::ConfigLibrary& library,
                    StackChoice& choice) {
  double kernels = 0.0;
  for (const StepFacts& step : steps) kernels += static_cast<double>(step.kernels);
  kernels /= static_cast<double>(steps.size());
  for (std::size_t round = 0; round < kFusions.size(); ++round) {
    const sim::Scenario now = choice.draft.scenario(library);
    const double off = score_of(steps, simulated(now, steps)).kernels_off;
    const double worth = kWorthASwitch * static_cast<double>(now.model.layers) / kernels;
    const Fusion* best = nullptr;
    double least = off - worth;
    for (const Fusion& fusion : kFusions) {
      if (choice.draft.is_given(std::string("stack.lowering.") + fusion.key)) continue;
      sim::Scenario other = now;
      bool& value = other.stack.lowering.*fusion.value;
      value = !value;
      const double then = score_of(steps, simulated(other, steps)).kernels_off;
      if (then >= least) continue;
      least = then;
      best = &fusion;
    }
    if (best == nullptr) return;
    const bool before = now.stack.lowering.*best->value;
    const std::string key = std::string("stack.lowering.") + best->key;
    choice.draft.set(key, before ? "false" : "true");
    choice.switches.push_back(
        {key, before ? "true" : "false", before ? "false" : "true", off, least});
  }
}

}  // namespace

StackScore score_of(const std::vector<StepFacts>& real, const std::vector<StepFacts>& simulated) {
  StackScore score;
  double kernels = 0.0;
  double seconds = 0.0;
  for (const ClassRow& row : classes_of(real, simulated)) {
    kernels += row.real_count;
    seconds += row.real_seconds;
    score.kernels_off += std::abs(row.simulated_count - row.real_count);
    score.time_off += std::abs(row.simulated_seconds - row.real_seconds);
  }
  score.kernels_off /= std::max(1.0, kernels);
  score.time_off /= std::max(1e-9, seconds);
  std::vector<double> lengths;
  for (std::size_t i = 0; i < real.size(); ++i) {
    if (real[i].duration.count > 0)
      lengths.push_back(
          std::abs(simulated[i].duration.seconds() / real[i].duration.seconds() - 1.0));
  }
  score.step_off = median_of(std::move(lengths));
  return score;
}

StackChoice choose_stack(const TraceFacts& facts, const std::vector<StepFacts>& steps,
                         const std::string& only, const std::vector<sim::Override>& overrides,
                         const core::ConfigLibrary& library) {
  const std::vector<std::string> names =
      only.empty() ? library.names("stacks") : std::vector<std::string>{only};
  std::vector<StackScore> scores;
  const auto drafted = [&](const std::string& name) {
    Draft draft(facts, name, overrides);
    take_launch_mode(facts, draft);
    return draft;
  };
  for (const std::string& name : names) {
    StackScore score;
    try {
      score = score_of(steps, simulated(drafted(name).scenario(library), steps));
    } catch (const core::ConfigError& e) {
      if (names.size() == 1) throw;
      score.cannot_run = e.what();
    }
    score.name = name;
    scores.push_back(std::move(score));
  }
  std::stable_sort(scores.begin(), scores.end(), [](const StackScore& a, const StackScore& b) {
    return a.cannot_run.empty() != b.cannot_run.empty() ? a.cannot_run.empty() : a.off() < b.off();
  });
  if (!scores.front().cannot_run.empty()) throw core::ConfigError(scores.front().cannot_run);
  const double least = scores.front().off();
  const auto alike = std::find_if(scores.begin(), scores.end(), [&](const StackScore& s) {
    return !s.cannot_run.empty() || s.off() > least + kAlike;
  });
  std::stable_sort(scores.begin(), alike, [](const StackScore& a, const StackScore& b) {
    return a.step_off < b.step_off;
  });
  StackChoice choice{drafted(scores.front().name), std::move(scores), {}};
  switch_fusions(steps, library, choice);
  return choice;
}

}  // namespace ridgeline::whatif
