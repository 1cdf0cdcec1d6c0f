#pragma once
// What each fix of the diagnosis means for a scenario, so that its gain can be had by running it
// instead of by rewriting a ledger. Left out are fixes for which the simulator has no mechanism;
// the table says which, and why.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/config_library.hpp"
#include "sim/scenario.hpp"

namespace ridgeline::whatif {

using Overrides = std::vector<sim::Override>;

struct Intervention {
  std::string_view fix;  // its name in diagnosis/fixes
  std::string_view how;  // what it changes; without overrides, why nothing can
  /// Nothing where there is nothing to change: it is so already, or the machine has no such thing.
  std::optional<Overrides> (*overrides)(const sim::Scenario&) = nullptr;
  /// What it gains rests on an assumption of its own, or on what a server's evidence does not say:
  /// no answer is judged by it.
  bool assumed = false;
};

/// One for every fix, in the order of the diagnosis' table.
[[nodiscard]] std::span<const Intervention> interventions();
/// InvariantError for a name that is no fix's.
[[nodiscard]] const Intervention& intervention(std::string_view fix);

/// The scenario after it; nothing where it changes nothing or cannot be expressed. ConfigError for
/// what makes no scenario. Whether the new one fits into memory shows when it runs.
[[nodiscard]] std::optional<sim::Scenario> changed_by(const Intervention& intervention,
                                                      const sim::Scenario& scenario,
                                                      const core::ConfigLibrary& library);

}  // namespace ridgeline::whatif
