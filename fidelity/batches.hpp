#pragma once
// Batches of equal prompts that a server took one at a time: the time of their prefill and of a
// decode step, as Splitwise's measurements of Llama 2 70B have them.

#include <functional>
#include <vector>

#include "core/config_library.hpp"
#include "fidelity/validate.hpp"
#include "sim/scenario.hpp"

namespace ridgeline::fidelity {

/// Whether a table has the columns model, hardware, prompt_size, batch_size, token_size,
/// tensor_parallel, prompt_time and token_time (milliseconds).
[[nodiscard]] bool is_batch_table(const Table& table);

/// The server of a row: vLLM of 2023 in 16 bits, the batch's prompts in one step.
[[nodiscard]] sim::Scenario batch_of(const Row& row, Machines& machines,
                                     const core::ConfigLibrary& library);

/// Every row's prefill (mean TTFT) and decode step (mean TPOT), simulated. Rows of equal scenarios
/// are simulated once. `progress`, if given, is told how many rows are done; false stops.
[[nodiscard]] std::vector<Group> validate_batches(
    const Table& table, const core::ConfigLibrary& library,
    const std::function<bool(std::size_t done, std::size_t of)>& progress = {});

}  // namespace ridgeline::fidelity
