#pragma once
// A recorded trace and a simulation of the same steps, side by side: the instrument for making the
// simulated machine agree with the real one. The steps' batches come from the trace's annotations,
// or from the user where it has none; machine, model and stack from the scenario.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/trace_study.hpp"
#include "sim/scenario.hpp"
#include "timeline/summary.hpp"
#include "workloads/step_shape.hpp"

namespace ridgeline::whatif {

struct Comparison {
  struct Row {
    std::string name;         // a class, or a role within the layers
    double real_count = 0.0;  // kernels a step
    double simulated_count = 0.0;
    double real_seconds = 0.0;  // a step
    double simulated_seconds = 0.0;
    /// Simulated over real; nothing where one side has none.
    [[nodiscard]] std::optional<double> ratio() const {
      if (real_seconds <= 0.0 || simulated_seconds <= 0.0) return std::nullopt;
      return simulated_seconds / real_seconds;
    }
  };
  std::string trace;
  std::string scenario;
  std::int64_t steps = 0;
  std::int64_t layers = 0;
  std::vector<Row> classes;  // most real time first
  std::vector<Row> roles;    // where the trace could be matched with the model
  Row busy;
  Row step;  // whole steps, gaps and host included
  std::string why_no_roles;
};

/// `shape` stands in for annotations that are missing. ConfigError when no step's batch is known,
/// saying which options would say it.
[[nodiscard]] Comparison compare(const diagnosis::TraceStudy& study, const sim::Scenario& scenario,
                                 const std::optional<workloads::StepShape>& shape);

[[nodiscard]] nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace ridgeline::whatif
