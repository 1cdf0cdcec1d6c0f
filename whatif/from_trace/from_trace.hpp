#pragma once
// The scenario that best explains a recorded trace: observed, calibrated, replayed; and what
// changes would do to it. Changes of how long steps take are answered on the recorded steps;
// changes of which steps there are, by serving the scenario's stand-in workload in a closed loop.

#include <filesystem>

#include "whatif/from_trace/calibrate.hpp"
#include "whatif/from_trace/observe.hpp"
#include "whatif/from_trace/replay.hpp"

namespace ridgeline::whatif {

struct FromTrace {
  TraceFacts facts;
  Calibration calibration;
  sim::Scenario scenario;
  std::string yaml;              // of the scenario, to be run
  std::optional<Replay> replay;  // where changes were asked for that leave the steps as they are
  std::optional<Experiment> served;  // where they do not
  std::string why_served;            // which key changes the steps
};

/// Without changes only the fit. Errors as observe_trace, choose_stack and change_named have them.
/// Nothing where `options.progress` stopped it.
[[nodiscard]] std::optional<FromTrace> from_trace(const std::filesystem::path& path,
                                                  const TraceHints& hints,
                                                  const std::vector<std::string>& changes,
                                                  const core::ConfigLibrary& library,
                                                  const ExperimentOptions& options = {});

/// {trace, device, hw, model, stack, steps, fit: {...}, scenario, assumptions, notes, diagnosis,
/// replay, served}; a time is in seconds, an error a fraction.
[[nodiscard]] nlohmann::ordered_json to_json(const FromTrace& answer);

}  // namespace ridgeline::whatif
