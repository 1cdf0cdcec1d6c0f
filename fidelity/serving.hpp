#pragma once
// End-to-end measurements of servers held against simulations of them: tables with a model, how its
// numbers are stored, how many GPUs share it, lengths, a load and what came out.

#include <functional>

#include "core/config_library.hpp"
#include "fidelity/table.hpp"
#include "fidelity/validate.hpp"
#include "sim/scenario.hpp"

namespace ridgeline::fidelity {

/// Whether a table has the columns of serving runs: framework, load_kind, metric, value.
[[nodiscard]] bool is_serving_table(const Table& table);

/// The scenario that a row describes. The stack follows from the framework and its version
/// (`stack_for`); what a row does not say has the engine's default. ConfigError, naming row and
/// column, for a row that says too little or a model nobody knows.
[[nodiscard]] sim::Scenario scenario_of(const Row& row, const core::ConfigLibrary& library);

/// Rows by model, GPUs and metric. Equal scenarios run once. `progress`, if given, is told how many
/// rows are done; false stops.
[[nodiscard]] std::vector<Group> validate_serving(
    const Table& table, const core::ConfigLibrary& library,
    const std::function<bool(std::size_t done, std::size_t of)>& progress = {});

}  // namespace ridgeline::fidelity
