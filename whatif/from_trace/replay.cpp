#include "whatif/from_trace/replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "diagnosis/model_facts.hpp"
#include "diagnosis/observe.hpp"
#include "diagnosis/report.hpp"
#include "sim/memory_plan.hpp"
#include "whatif/profile.hpp"
#include "whatif/step_replay.hpp"

namespace ridgeline::whatif {
namespace {

/// Settings by which another batch would form. What stands under `workload` does too.
constexpr std::array<std::string_view, 12> kOfTheBatch{"engine.scheduler",
                                                       "engine.max_num_seqs",
                                                       "engine.max_num_batched_tokens",
                                                       "engine.max_model_len",
                                                       "engine.block_size",
                                                       "engine.gpu_memory_utilization",
                                                       "engine.num_gpu_blocks_override",
                                                       "engine.watermark",
                                                       "engine.enable_chunked_prefill",
                                                       "engine.enable_prefix_caching",
                                                       "engine.long_prefill_token_threshold",
                                                       "engine.data_parallel_size"};
constexpr std::array<std::string_view, 2> kGroupsOfTheBatch{"workload.", "engine.speculative"};

/// ConfigError never; SimulationError where the model or the largest step does not fit.
void check_memory(const sim::Scenario& scenario, const std::vector<StepFacts>& steps) {
  const sim::MemoryPlan plan = sim::plan_memory(scenario);
  std::int64_t most = 0;
  for (const StepFacts& step : steps) {
    const workloads::StepShape shape = step.record.shape();
    most = std::max(most, shape.decode_context + shape.prefill_context);
  }
  const std::int64_t room = plan.kv_blocks * scenario.engine.block_size;
  if (most > room)
    throw core::SimulationError(fmt::format(
        "a step's contexts are {} tokens, its KV cache would hold {}: such a batch would not form",
        most, room));
}

diagnosis::Diagnosis diagnosis_of(const sim::RunResult& result) {
  core::Nanoseconds decode{};
  core::Nanoseconds all{};
  for (const sim::StepRecord& step : result.steps) {
    all += step.duration();
    if (step.prefill_sequences == 0) decode += step.duration();
  }
  ProfileChoice choice;
  if (2 * decode.count >= all.count) choice.steps = StepChoice::decode;
  diagnosis::Observation o;
  o.title = result.scenario.name;
  o.summary = profile(result, choice);
  o.gpu = result.scenario.gpu;
  o.model = diagnosis::model_facts(result.scenario.model, result.scenario.engine.kv_cache_dtype);
  o.devices = static_cast<double>(result.scenario.engine.parallelism.tensor);
  return diagnosis::diagnose(diagnosis::observe(o));
}

ReplayedVariant variant_of(std::string name, ChangedScenario after,
                           const std::vector<StepFacts>& steps) {
  ReplayedVariant v;
  v.name = std::move(name);
  v.changes = std::move(after.changes);
  v.overrides = std::move(after.overrides);
  try {
    check_memory(after.scenario, steps);
    std::vector<sim::StepRecord> records;
    for (const StepFacts& step : steps) records.push_back(step.record);
    const sim::RunResult result = replay_steps(after.scenario, std::move(records));
    v.ledger = result.ledger();
    v.step_seconds = v.ledger.total().seconds().value() / static_cast<double>(result.steps.size());
    v.diagnosis = diagnosis_of(result);
  } catch (const core::SimulationError& e) {
    v.cannot_run = e.what();
  }
  return v;
}

}  // namespace

std::string changes_steps(const Overrides& overrides) {
  for (const auto& [key, value] : overrides) {
    if (std::find(kOfTheBatch.begin(), kOfTheBatch.end(), key) != kOfTheBatch.end()) return key;
    for (const std::string_view group : kGroupsOfTheBatch) {
      if (key.starts_with(group)) return key;
    }
  }
  return "";
}

Replay replay(const sim::Scenario& scenario, const std::vector<StepFacts>& steps,
              const std::vector<std::string>& changes, bool each,
              const std::optional<diagnosis::Diagnosis>& diagnosis,
              const diagnosis::Evidence& evidence, const core::ConfigLibrary& library) {
  Replay out;
  out.steps = static_cast<std::int64_t>(steps.size());
  for (const StepFacts& step : steps)
    out.real_step_seconds += step.duration.seconds().value() / static_cast<double>(steps.size());
  const auto add = [&](const std::string& name, const std::vector<std::string>& some) {
    out.variants.push_back(variant_of(name, with_changes(scenario, some, library), steps));
  };
  add("before", {});
  if (each && changes.size() > 1) {
    for (const std::string& change : changes) add(change, {change});
  }
  add(fmt::format("{}", fmt::join(changes, " ")), changes);

  const double before = out.variants.front().step_seconds;
  for (ReplayedVariant& v : out.variants) {
    if (v.ran() && v.step_seconds > 0.0 && before > 0.0) v.gain = before / v.step_seconds;
    if (v.changes.size() != 1 || v.changes.front().effect.fix.empty() || !diagnosis) continue;
    auto p = prediction_of(v.changes.front().effect.fix, *diagnosis, evidence);
    if (!p) continue;
    lay_beside(*p, {v.name, v.changes, v.overrides, v.cannot_run, v.gain}, scenario);
    out.predictions.push_back(std::move(*p));
  }
  return out;
}

nlohmann::ordered_json to_json(const Replay& replay) {
  nlohmann::ordered_json out;
  out["steps"] = replay.steps;
  out["real_step_seconds"] = replay.real_step_seconds;
  out["variants"] = nlohmann::ordered_json::array();
  for (const ReplayedVariant& v : replay.variants) {
    nlohmann::ordered_json one{{"name", v.name}};
    one["overrides"] = nlohmann::ordered_json::object();
    for (const auto& [key, value] : v.overrides) one["overrides"][key] = value;
    if (v.ran()) {
      one["step_seconds"] = v.step_seconds;
      one["gain"] = v.gain;
      for (std::size_t i = 0; i < hw::kCauses; ++i)
        one["ledger_ns"][std::string(hw::kCauseNames[i])] = v.ledger.by_cause[i].count;
      if (v.diagnosis) one["diagnosis"] = diagnosis::to_json(*v.diagnosis);
    } else {
      one["cannot_run"] = v.cannot_run;
    }
    out["variants"].push_back(std::move(one));
  }
  out["predictions"] = nlohmann::ordered_json::array();
  for (const Prediction& p : replay.predictions) out["predictions"].push_back(to_json(p));
  return out;
}

}  // namespace ridgeline::whatif
