#pragma once
// What tables of whole servers share: rows of one server are simulated once, and a row, which has
// no error bar, counts as met when it is within a tenth.

#include <map>
#include <string>

#include "fidelity/validate.hpp"
#include "sim/metrics.hpp"
#include "sim/scenario.hpp"

namespace ridgeline::fidelity {

class ServerRuns {
 public:
  /// What `measure` says of a scenario; of equal ones, whatever their names, it is asked once.
  const sim::Metrics& of(const sim::Scenario& scenario,
                         sim::Metrics (*measure)(const sim::Scenario&));

 private:
  std::map<std::string, sim::Metrics> known_;
};

/// A row of a whole server beside what was simulated, both in the row's unit.
[[nodiscard]] Compared compared_server(const Row& row, double measured, double predicted);

}  // namespace ridgeline::fidelity
