#pragma once
// The bridge from a finished run to the diagnosis: what a profiler, the clients and the server's
// set-up would have told.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/observe.hpp"
#include "sim/metrics.hpp"
#include "sim/run_result.hpp"
#include "whatif/profile.hpp"

namespace ridgeline::whatif {

/// The part of a run that says most about it: pure decode steps where they took most of the time,
/// else all steps.
[[nodiscard]] ProfileChoice telling_part(const sim::RunResult& result);

/// Evidence from a run's timeline and metrics. `proposals` are fixes that somebody has put forward;
/// no timeline shows those. SimulationError when the run has no step in the chosen part.
[[nodiscard]] diagnosis::Evidence observe_run(const sim::RunResult& result,
                                              const sim::Metrics& metrics,
                                              const ProfileChoice& choice,
                                              const std::vector<std::string>& proposals = {});

/// The diagnosis of a run by the part that says most about it; nothing when it has no step.
[[nodiscard]] std::optional<diagnosis::Diagnosis> diagnose_run(const sim::RunResult& result,
                                                               const sim::Metrics& metrics);

/// Evidence from the directory of a run, or from a file as `open_told` takes it.
[[nodiscard]] diagnosis::Evidence open_evidence(const std::filesystem::path& path,
                                                const core::ConfigLibrary& library);

}  // namespace ridgeline::whatif
