#pragma once
// Numbers that people quote about a run, by name. Each is computed from a finished run and its
// profile; none is an input.

#include <string>
#include <string_view>
#include <vector>

#include "sim/metrics.hpp"
#include "sim/run_result.hpp"
#include "timeline/summary.hpp"

namespace ridgeline::whatif {

/// A finished run with what was read off it.
struct Measured {
  const sim::RunResult& result;
  const sim::Metrics& metrics;
  const timeline::Summary& profile;
  timeline::Window window;  // the part of the run that throughput is counted in
};

struct Quantity {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  double (*of)(const Measured&);
};

[[nodiscard]] const std::vector<Quantity>& quantities();
/// The quantity of that name; InvariantError if there is none.
[[nodiscard]] const Quantity& quantity(std::string_view name);
[[nodiscard]] std::vector<std::string> quantity_names();

}  // namespace ridgeline::whatif
