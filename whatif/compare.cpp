#include "whatif/compare.hpp"

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "diagnosis/attribute.hpp"
#include "sim/run_timeline.hpp"
#include "whatif/step_replay.hpp"

namespace ridgeline::whatif {
namespace {

Comparison::Row row_of(const std::string& name, const timeline::KernelRow* real,
                       const timeline::KernelRow* simulated, double steps) {
  Comparison::Row row;
  row.name = name;
  if (real != nullptr) {
    row.real_count = static_cast<double>(real->count) / steps;
    row.real_seconds = real->time.seconds().value() / steps;
  }
  if (simulated != nullptr) {
    row.simulated_count = static_cast<double>(simulated->count) / steps;
    row.simulated_seconds = simulated->time.seconds().value() / steps;
  }
  return row;
}

/// Rows of both tables, joined by key.
template <class Key, class Name>
std::vector<Comparison::Row> join(const std::map<Key, timeline::KernelRow>& real,
                                  const std::map<Key, timeline::KernelRow>& simulated, double steps,
                                  Name&& name) {
  std::set<Key> keys;
  for (const auto& [key, row] : real) keys.insert(key);
  for (const auto& [key, row] : simulated) keys.insert(key);
  std::vector<Comparison::Row> rows;
  for (const Key& key : keys) {
    const auto r = real.find(key);
    const auto s = simulated.find(key);
    rows.push_back(row_of(name(key), r == real.end() ? nullptr : &r->second,
                          s == simulated.end() ? nullptr : &s->second, steps));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::max(a.real_seconds, a.simulated_seconds) >
           std::max(b.real_seconds, b.simulated_seconds);
  });
  return rows;
}

/// Roles that both sides know by the same words: the simulated attention kernels are one role in a
/// recording.
std::map<std::string, timeline::KernelRow> matched_roles(const timeline::Summary& s,
                                                         const std::set<std::string>& known) {
  std::map<std::string, timeline::KernelRow> out;
  for (const auto& [role, row] : s.by_role) {
    const std::string name = role.ends_with("_attention") ? "attention" : role;
    if (known.contains(name)) out[name] += row;
  }
  return out;
}

}  // namespace

Comparison compare(const diagnosis::TraceStudy& study, const sim::Scenario& scenario,
                   const std::optional<workloads::StepShape>& shape) {
  const ShapedTimeline shaped(study.timeline, {shape});
  const std::vector<sim::StepRecord> steps_of_trace = step_records(shaped);
  if (steps_of_trace.empty()) {
    throw core::ConfigError(study.recording.file +
                            ": no annotation says what a step holds; say it with --decode N "
                            "--context TOKENS, or --prefill TOKENS");
  }
  const diagnosis::AttributedTimeline attributed(shaped, scenario.model,
                                                 scenario.engine.kv_cache_dtype, scenario.gpu);
  const timeline::Summary real = timeline::summarize(attributed, {}, batch_is_known);
  const sim::RunResult result = replay_steps(scenario, steps_of_trace);
  const timeline::Summary simulated = timeline::summarize(sim::RunTimeline(result));

  Comparison out;
  out.trace = study.recording.file;
  out.scenario = scenario.name;
  out.steps = real.steps;
  out.layers = scenario.model.layers;
  const double steps = static_cast<double>(std::max<std::int64_t>(1, real.steps));
  out.classes = join(real.by_class, simulated.by_class, steps,
                     [](timeline::KernelClass c) { return std::string(timeline::name_of(c)); });
  out.why_no_roles = attributed.outcome().why_not;
  if (out.why_no_roles.empty()) {
    static const std::set<std::string> known{"qkv_proj",  "q_proj",       "k_proj",    "v_proj",
                                             "o_proj",    "gate_up_proj", "gate_proj", "up_proj",
                                             "down_proj", "lm_head",      "attention"};
    out.roles = join(matched_roles(real, known), matched_roles(simulated, known), steps,
                     [](const std::string& role) { return role; });
  }
  timeline::KernelRow real_busy = real.total;
  real_busy.time = real.busy;
  timeline::KernelRow simulated_busy = simulated.total;
  simulated_busy.time = simulated.busy;
  out.busy = row_of("busy", &real_busy, &simulated_busy, steps);
  out.step = out.busy;
  out.step.name = "step";
  out.step.real_seconds = real.time.seconds().value() / steps;
  out.step.simulated_seconds = simulated.time.seconds().value() / steps;
  return out;
}

nlohmann::ordered_json to_json(const Comparison& c) {
  const auto row_json = [&](const Comparison::Row& row) {
    nlohmann::ordered_json out{
        {"name", row.name},
        {"real_count", row.real_count},
        {"simulated_count", row.simulated_count},
        {"real_seconds", row.real_seconds},
        {"simulated_seconds", row.simulated_seconds},
        {"real_seconds_per_layer", row.real_seconds / static_cast<double>(c.layers)},
        {"simulated_seconds_per_layer", row.simulated_seconds / static_cast<double>(c.layers)}};
    out["ratio"] = row.ratio() ? nlohmann::ordered_json(*row.ratio()) : nlohmann::ordered_json();
    return out;
  };
  nlohmann::ordered_json out{
      {"trace", c.trace}, {"scenario", c.scenario}, {"steps", c.steps}, {"layers", c.layers}};
  out["classes"] = nlohmann::ordered_json::array();
  out["roles"] = nlohmann::ordered_json::array();
  for (const auto& row : c.classes) out["classes"].push_back(row_json(row));
  for (const auto& row : c.roles) out["roles"].push_back(row_json(row));
  out["busy"] = row_json(c.busy);
  out["step"] = row_json(c.step);
  out["why_no_roles"] = c.why_no_roles;
  return out;
}

}  // namespace ridgeline::whatif
