#pragma once
// Energy of a run, roughly: the time by cause, each at what the machine has been seen to draw.

#include <optional>

#include "sim/run_result.hpp"

namespace ridgeline::sim {

/// Joules of all GPUs that share the model, from the first step to the end of the last; nothing for
/// a machine whose power nobody published.
[[nodiscard]] std::optional<double> energy_joules(const RunResult& result);

}  // namespace ridgeline::sim
