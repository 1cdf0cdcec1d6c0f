#include "fidelity/server_runs.hpp"

#include <cmath>

namespace ridgeline::fidelity {

const sim::Metrics& ServerRuns::of(const sim::Scenario& scenario,
                                   sim::Metrics (*measure)(const sim::Scenario&)) {
  core::Node key = scenario.document;
  core::set_path(key, "name", "''", "a row of the table");
  const std::string text = core::to_yaml(key);
  if (const auto it = known_.find(text); it != known_.end()) return it->second;
  // Not entered before it has run: a server that cannot is no server of zeros.
  return known_.emplace(text, measure(scenario)).first->second;
}

Compared compared_server(const Row& row, double measured, double predicted) {
  constexpr double kTenPercent = 0.1;
  Compared compared;
  compared.place = row.place();
  compared.measured = measured;
  compared.predicted = predicted;
  compared.held_back = held_back(row.cells());
  compared.inside = std::abs(compared.ratio() - 1.0) <= kTenPercent;
  return compared;
}

}  // namespace ridgeline::fidelity
