#pragma once
// Clocks and tables beside a step's own time: collectives, copies, the host's clock against the
// device's, single kernels against their roofs, weights and KV that do not fit the device.

#include <vector>

#include "diagnosis/clues.hpp"

namespace ridgeline::diagnosis {

[[nodiscard]] std::vector<Clue> clues_of_timers(const Evidence& evidence, const Work& work);
[[nodiscard]] std::vector<Clue> clues_of_kernels(const Evidence& evidence, const Work& work);
[[nodiscard]] std::vector<Clue> clues_of_memory(const Evidence& evidence, const Work& work);

}  // namespace ridgeline::diagnosis
