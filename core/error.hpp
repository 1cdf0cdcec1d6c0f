#pragma once
// The three ways in which something can go wrong, by whose fault it is.
//   ConfigError      the user's input: exit code 2, Python ValueError. Says file:line:column:
//   dotted.key: expected X, got Y. SimulationError  the input is well formed but cannot run (model
//   larger than HBM, deadlock): exit code 3. InvariantError   our bug; no input may reach it.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::core {

struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SimulationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct InvariantError : std::logic_error {
  using std::logic_error::logic_error;
};

/// The name in `known` closest to `typed` (edit distance, case ignored), or "" when none is near
/// enough to be meant.
[[nodiscard]] std::string nearest_name(std::string_view typed,
                                       const std::vector<std::string>& known);

/// "; did you mean 'X'?" for the nearest name, or "; known: a, b, c" when nothing is near. Empty
/// when `known` is empty.
[[nodiscard]] std::string suggestion(std::string_view typed, const std::vector<std::string>& known);

}  // namespace ridgeline::core
