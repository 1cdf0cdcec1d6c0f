#include "whatif/from_trace/from_trace.hpp"

#include "diagnosis/report.hpp"

namespace ridgeline::whatif {
namespace {

using Json = nlohmann::ordered_json;

Json errors_json(const std::vector<ErrorRow>& rows) {
  Json out = Json::array();
  for (const ErrorRow& row : rows) {
    out.push_back({{"name", row.name},
                   {"steps", row.steps},
                   {"median_error", row.median_error},
                   {"p90_error", row.p90_error},
                   {"real_seconds", row.real_seconds},
                   {"simulated_seconds", row.simulated_seconds}});
  }
  return out;
}

Json agreement_json(const Agreement& agreement) {
  return {{"fitted", errors_json(agreement.fitted)},
          {"held_back", errors_json(agreement.held_back)}};
}

Json classes_json(const std::vector<ClassRow>& rows) {
  Json out = Json::array();
  for (const ClassRow& row : rows) {
    out.push_back({{"name", row.name},
                   {"real_count", row.real_count},
                   {"simulated_count", row.simulated_count},
                   {"real_seconds", row.real_seconds},
                   {"simulated_seconds", row.simulated_seconds}});
  }
  return out;
}

Json scores_json(const std::vector<StackScore>& scores) {
  Json out = Json::array();
  for (const StackScore& score : scores) {
    if (score.cannot_run.empty())
      out.push_back(
          {{"name", score.name}, {"kernels_off", score.kernels_off}, {"time_off", score.time_off}});
    else
      out.push_back({{"name", score.name}, {"cannot_run", score.cannot_run}});
  }
  return out;
}

}  // namespace

nlohmann::ordered_json to_json(const Calibration& c) {
  Json out;
  out["fitted_steps"] = c.fitted_steps;
  out["held_back_steps"] = c.held_back_steps;
  out["stacks"] = scores_json(c.choice.scores);
  out["fusions"] = Json::array();
  for (const SwitchedFusion& s : c.choice.switches) {
    out["fusions"].push_back({{"key", s.key},
                              {"before", s.before},
                              {"after", s.after},
                              {"kernels_off_before", s.kernels_off_before},
                              {"kernels_off_after", s.kernels_off_after}});
  }
  out["values"] = Json::array();
  for (const FittedValue& v : c.values) {
    out["values"].push_back({{"key", v.key},
                             {"before", v.before},
                             {"after", v.after},
                             {"from", v.from},
                             {"count", v.count},
                             {"of", v.of},
                             {"bound", v.bound}});
  }
  out["before"] = agreement_json(c.before);
  out["after"] = agreement_json(c.after);
  out["classes_before"] = classes_json(c.classes_before);
  out["classes_after"] = classes_json(c.classes_after);
  out["notes"] = c.notes;
  return out;
}

nlohmann::ordered_json to_json(const FromTrace& answer) {
  Json out;
  out["trace"] = answer.facts.file;
  out["device"] = answer.facts.device;
  out["hw"] = answer.scenario.gpu.name;
  out["model"] = answer.scenario.model.name;
  out["stack"] = answer.calibration.choice.draft.stack();
  out["steps"] = {{"in_trace", answer.facts.steps_in_trace},
                  {"used", answer.facts.steps.size()},
                  {"how", answer.facts.how_steps}};
  out["graphs"] = answer.facts.graphs;
  out["tensor_parallel_size"] = answer.facts.tensor_parallel;
  out["fit"] = to_json(answer.calibration);
  out["scenario"] = answer.yaml;
  out["assumptions"] = answer.calibration.choice.draft.assumptions();
  out["notes"] = answer.facts.notes;
  out["diagnosis"] = answer.facts.diagnosis ? diagnosis::to_json(*answer.facts.diagnosis) : Json();
  if (answer.replay) out["replay"] = to_json(*answer.replay);
  if (answer.served) {
    out["served"] = to_json(*answer.served);
    out["why_served"] = answer.why_served;
  }
  return out;
}

std::optional<FromTrace> from_trace(const std::filesystem::path& path, const TraceHints& hints,
                                    const std::vector<std::string>& changes,
                                    const core::ConfigLibrary& library,
                                    const ExperimentOptions& options) {
  const auto goes_on = [&](const char* what) {
    return !options.progress || options.progress(what);
  };
  if (!goes_on("reading the trace")) return std::nullopt;
  TraceFacts facts = observe_trace(path, hints, library);
  if (!goes_on("fitting")) return std::nullopt;
  Calibration calibration = calibrate(facts, hints, library);
  sim::Scenario scenario = calibration.choice.draft.scenario(library);
  FromTrace out{std::move(facts), std::move(calibration), std::move(scenario), "", {}, {}, ""};
  out.yaml = out.calibration.choice.draft.yaml(library);
  if (changes.empty()) return out;
  out.why_served = changes_steps(with_changes(out.scenario, changes, library).overrides);
  if (out.why_served.empty()) {
    if (!goes_on("replaying")) return std::nullopt;
    out.replay = replay(out.scenario, out.facts.steps, changes, options.each, out.facts.diagnosis,
                        out.facts.evidence, library);
    return out;
  }
  out.served = what_if(out.scenario, changes, library, options);
  if (!out.served) return std::nullopt;
  return out;
}

}  // namespace ridgeline::whatif
