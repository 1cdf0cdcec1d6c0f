#pragma once
// How well simulated steps agree with recorded ones, step by step and in the groups of kernels: the
// relative error of each step, its median and 90th percentile (nearest rank).

#include <string>
#include <vector>

#include "sim/scenario.hpp"
#include "whatif/from_trace/step_facts.hpp"

namespace ridgeline::whatif {

struct ErrorRow {
  std::string name;           // "step", "busy", or a group of kernels
  std::int64_t steps = 0;     // with that on either side
  double median_error = 0.0;  // |simulated / real - 1|
  double p90_error = 0.0;
  double real_seconds = 0.0;  // mean, a step
  double simulated_seconds = 0.0;
};

/// A class of kernels on both sides, a step.
struct ClassRow {
  std::string name;
  double real_count = 0.0;
  double simulated_count = 0.0;
  double real_seconds = 0.0;
  double simulated_seconds = 0.0;
};

/// The same steps on a scenario's machine.
[[nodiscard]] std::vector<StepFacts> simulated(const sim::Scenario& scenario,
                                               const std::vector<StepFacts>& steps);

/// Both lists are of the same steps in the same order. Rows without any time are left out.
[[nodiscard]] std::vector<ErrorRow> errors_of(const std::vector<StepFacts>& real,
                                              const std::vector<StepFacts>& simulated);
/// By time, the larger side first.
[[nodiscard]] std::vector<ClassRow> classes_of(const std::vector<StepFacts>& real,
                                               const std::vector<StepFacts>& simulated);

}  // namespace ridgeline::whatif
