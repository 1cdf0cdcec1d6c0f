#pragma once
// A recorded serving run replayed: requests that a real engine served, with the times of each, held
// against a simulation of the same requests.

#include <filesystem>
#include <vector>

#include "fidelity/validate.hpp"
#include "sim/scenario.hpp"

namespace ridgeline::fidelity {

/// Whether a file is such a recording: JSON lines with first_token_ts.
[[nodiscard]] bool is_recording(const std::filesystem::path& path);

/// `scenario` already replays the recording (workload.trace). Three groups: mean TPOT, mean TTFT
/// (both from the arrival), and the end-to-end time of every request. ConfigError for a recording
/// without the stamps, or whose requests are not those of the run.
[[nodiscard]] std::vector<Group> validate_replay(const std::filesystem::path& recording,
                                                 const sim::Scenario& scenario);

}  // namespace ridgeline::fidelity
