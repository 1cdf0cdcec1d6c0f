#pragma once
// A table with a prediction beside every row.

#include <iosfwd>

#include "fidelity/operation.hpp"

namespace ridgeline::fidelity {

/// Writes the table again with `predicted_us, low_us, high_us, binds, flags` after its own columns.
/// A row that cannot be predicted keeps those empty but for a flag that says why. Returns how many
/// were. ConfigError for a table without the operation's columns.
std::size_t predict(const Operation& operation, const Table& table, Machines& machines,
                    std::ostream& out);

}  // namespace ridgeline::fidelity
