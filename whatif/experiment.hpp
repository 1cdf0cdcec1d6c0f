#pragma once
// What if: a scenario before and after changes, run and diagnosed, side by side, and what the
// diagnosis had said beforehand beside what came of it.

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "diagnosis/diagnose.hpp"
#include "hw/ledger.hpp"
#include "sim/run.hpp"
#include "whatif/lever.hpp"
#include "whatif/objective.hpp"

namespace ridgeline::whatif {

/// One column: a scenario that was run, or why it could not be.
struct Variant {
  std::string name;  // "before", or the changes: "quantize:int4 graphs:on"
  std::vector<NamedChange> changes;
  Overrides overrides;
  std::string cannot_run;                      // the reason; then nothing below is filled
  std::vector<std::optional<double>> figures;  // in the order of figures()
  hw::Ledger ledger;                           // of all steps
  core::Nanoseconds idle;                      // between them
  double units = 0.0;  // output tokens, or prompts, or training steps: what the ledger is spread on
  std::optional<diagnosis::Diagnosis> diagnosis;
  double gain = 1.0;  // in the objective, against the first variant

  [[nodiscard]] bool ran() const { return cannot_run.empty(); }
  [[nodiscard]] bool changes_nothing() const { return overrides.empty(); }
};

/// What the diagnosis of the first variant says of a change, beside what came of it.
struct Prediction {
  std::string variant;
  std::string fix;
  std::string place;  // "first fix", "second fix", "fix", "reject"
  std::string why;
  core::Interval speedup{1.0};
  std::optional<double> measured;  // nothing where it could not be run
  std::string note;                // why nothing was measured, or why it is not judged
  bool judged = false;             // measured, and of the very change that was predicted
  /// Whether the measurement lies within what was predicted.
  [[nodiscard]] bool holds() const { return judged && speedup.contains(*measured); }
  /// How far outside it lies, as a factor less one; zero inside.
  [[nodiscard]] double miss() const;
};

/// A change that was tried: what any kind of experiment knows of it.
struct Tried {
  const std::string& name;
  const std::vector<NamedChange>& changes;
  const Overrides& overrides;
  const std::string& cannot_run;  // empty if it ran
  double gain;
};
/// Lays what came of a change beside what was predicted of its last one; `on_top_of` is the gain of
/// those before it. Judged only where the change is the one that the diagnosis speaks of.
void lay_beside(Prediction& prediction, const Tried& tried, const sim::Scenario& scenario,
                double on_top_of = 1.0);

struct Experiment {
  std::string scenario;
  Objective objective = Objective::output_rate;
  std::vector<Variant> variants;  // the first is the scenario as it is
  std::vector<Prediction> predictions;
};

struct ExperimentOptions {
  bool each = false;  // every change alone too, where there are several
  /// Called before each run and now and then within; false stops the experiment.
  std::function<bool(const std::string& running)> progress;
};

/// Runs the scenario as it is and with all the changes together. ConfigError for a change that
/// nobody knows or that makes no scenario; a scenario that cannot run is a variant that says why.
/// Nothing where `progress` stopped it.
[[nodiscard]] std::optional<Experiment> what_if(const sim::Scenario& scenario,
                                                const std::vector<std::string>& changes,
                                                const core::ConfigLibrary& library,
                                                const ExperimentOptions& options = {});

/// Runs the scenario, diagnoses it, and runs it again with every fix that was recommended and every
/// one that was rejected, one at a time, as far as the simulator has a mechanism for it.
[[nodiscard]] std::optional<Experiment> verify_diagnosis(const sim::Scenario& scenario,
                                                         const core::ConfigLibrary& library,
                                                         const ExperimentOptions& options = {});

/// What a diagnosis says of a fix, as a prediction whose outcome is not known yet: among its fixes,
/// or its rejects; or, asked with `evidence`, what it says then. Nothing where it has no answer.
[[nodiscard]] std::optional<Prediction> prediction_of(const std::string& fix,
                                                      const diagnosis::Diagnosis& diagnosis,
                                                      const diagnosis::Evidence& evidence);

[[nodiscard]] nlohmann::ordered_json to_json(const Prediction& prediction);

/// {scenario, objective, variants: [{name, overrides, cannot_run, gain, figures: {...}, ledger_ns,
/// diagnosis}], predictions: [...]}
[[nodiscard]] nlohmann::ordered_json to_json(const Experiment& experiment);

}  // namespace ridgeline::whatif
