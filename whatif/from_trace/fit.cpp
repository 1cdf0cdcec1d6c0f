#include "whatif/from_trace/fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/run_timeline.hpp"
#include "whatif/step_replay.hpp"

namespace ridgeline::whatif {
namespace {

using Steps = std::vector<StepFacts>;
using Length = std::function<core::Nanoseconds(const StepFacts&)>;

ErrorRow row_of(std::string name, const Steps& real, const Steps& simulated, const Length& of) {
  ErrorRow row;
  row.name = std::move(name);
  std::vector<double> errors;
  for (std::size_t i = 0; i < real.size(); ++i) {
    const double r = of(real[i]).seconds().value();
    const double s = of(simulated[i]).seconds().value();
    row.real_seconds += r;
    row.simulated_seconds += s;
    // Against the longer of the two where one side has nothing: wrong by all of it.
    if (r > 0.0 || s > 0.0) errors.push_back(r > 0.0 ? std::abs(s / r - 1.0) : 1.0);
  }
  const auto steps = static_cast<double>(std::max<std::size_t>(1, real.size()));
  row.real_seconds /= steps;
  row.simulated_seconds /= steps;
  row.steps = static_cast<std::int64_t>(errors.size());
  if (errors.empty()) return row;
  row.median_error = median_of(errors);
  std::sort(errors.begin(), errors.end());
  const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(errors.size())));
  row.p90_error = errors[rank - 1];
  return row;
}

}  // namespace

std::vector<StepFacts> simulated(const sim::Scenario& scenario,
                                 const std::vector<StepFacts>& steps) {
  std::vector<sim::StepRecord> records;
  for (const StepFacts& step : steps) records.push_back(step.record);
  const sim::RunResult result = replay_steps(scenario, std::move(records));
  return step_facts(sim::RunTimeline(result));
}

std::vector<ErrorRow> errors_of(const Steps& real, const Steps& simulated) {
  std::vector<ErrorRow> rows;
  rows.push_back(row_of("step", real, simulated, [](const auto& s) { return s.duration; }));
  rows.push_back(row_of("busy", real, simulated, [](const auto& s) { return s.busy; }));
  for (std::size_t g = 0; g < kKernelGroups; ++g) {
    const auto group = static_cast<KernelGroup>(g);
    rows.push_back(row_of(std::string(kKernelGroupNames.at(g)), real, simulated,
                          [group](const StepFacts& s) { return s.time_of(group); }));
  }
  std::erase_if(rows, [](const ErrorRow& row) { return row.steps == 0; });
  return rows;
}

std::vector<ClassRow> classes_of(const Steps& real, const Steps& simulated) {
  std::map<timeline::KernelClass, ClassRow> rows;
  const auto steps = static_cast<double>(std::max<std::size_t>(1, real.size()));
  for (const StepFacts& step : real) {
    for (const auto& [cls, tally] : step.classes) {
      rows[cls].real_count += static_cast<double>(tally.count) / steps;
      rows[cls].real_seconds += tally.time.seconds().value() / steps;
    }
  }
  for (const StepFacts& step : simulated) {
    for (const auto& [cls, tally] : step.classes) {
      rows[cls].simulated_count += static_cast<double>(tally.count) / steps;
      rows[cls].simulated_seconds += tally.time.seconds().value() / steps;
    }
  }
  std::vector<ClassRow> out;
  for (auto& [cls, row] : rows) {
    row.name = timeline::name_of(cls);
    out.push_back(std::move(row));
  }
  std::stable_sort(out.begin(), out.end(), [](const ClassRow& a, const ClassRow& b) {
    return std::max(a.real_seconds, a.simulated_seconds) >
           std::max(b.real_seconds, b.simulated_seconds);
  });
  return out;
}

}  // namespace ridgeline::whatif
