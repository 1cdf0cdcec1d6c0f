#pragma once
// What-if of a trace: its steps, as they were recorded, on the fitted scenario before and after
// changes. It tells how long the same batches would take. It does not tell what other batches would
// have formed: queueing, latencies and changes of the batch itself need a workload, and a trace has
// none. Those are answered by serving the scenario's stand-in workload, or not at all.

#include <optional>
#include <string>
#include <vector>

#include "whatif/experiment.hpp"
#include "whatif/from_trace/step_facts.hpp"

namespace ridgeline::whatif {

/// The same steps on one scenario.
struct ReplayedVariant {
  std::string name;  // "before", or the changes
  std::vector<NamedChange> changes;
  Overrides overrides;
  std::string cannot_run;     // the reason; then nothing below is filled
  double step_seconds = 0.0;  // mean
  hw::Ledger ledger;          // of all steps
  std::optional<diagnosis::Diagnosis> diagnosis;
  double gain = 1.0;  // time before over time after

  [[nodiscard]] bool ran() const { return cannot_run.empty(); }
};

struct Replay {
  std::int64_t steps = 0;
  double real_step_seconds = 0.0;  // mean, as recorded
  std::vector<ReplayedVariant> variants;
  std::vector<Prediction> predictions;  // of the trace's own diagnosis
};

/// The first key among the overrides that changes which steps there are, not how long they take;
/// empty: none does.
[[nodiscard]] std::string changes_steps(const Overrides& overrides);

/// Replays `steps` with the changes; each of them alone too when `each`. ConfigError for a change
/// that nobody knows. `diagnosis` and `evidence` are those of the trace.
[[nodiscard]] Replay replay(const sim::Scenario& scenario, const std::vector<StepFacts>& steps,
                            const std::vector<std::string>& changes, bool each,
                            const std::optional<diagnosis::Diagnosis>& diagnosis,
                            const diagnosis::Evidence& evidence,
                            const core::ConfigLibrary& library);

[[nodiscard]] nlohmann::ordered_json to_json(const Replay& replay);

}  // namespace ridgeline::whatif
