#pragma once
// Scenarios as Python hands them over.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario.hpp"

namespace ridgeline::bindings {

using ScenarioHandle = std::shared_ptr<sim::Scenario>;

/// The scenario, or case, of a name or a path with overrides on it; of overrides alone without a
/// base.
[[nodiscard]] ScenarioHandle open_scenario(const std::optional<std::string>& base,
                                           const std::vector<sim::Override>& overrides);

}  // namespace ridgeline::bindings
