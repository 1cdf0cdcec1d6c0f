#include "whatif/from_trace/fit_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "whatif/from_trace/fit.hpp"

namespace ridgeline::whatif {
namespace {

using Steps = std::vector<StepFacts>;

constexpr double kNear = 0.005;      // of a step: as good as none missing
constexpr double kWorthANote = 0.1;  // of a step

std::string text(core::Nanoseconds t) {
  return fmt::format("{:.4g} us", static_cast<double>(t.count) * 1e-3);
}

/// Recorded less simulated length, the median; and the median step.
struct Missing {
  double seconds = 0.0;
  double step = 0.0;
  [[nodiscard]] bool matters() const { return std::abs(seconds) > kNear * step; }
};

Missing missing_of(const Steps& steps, const sim::Scenario& scenario) {
  const Steps again = simulated(scenario, steps);
  std::vector<double> missing;
  std::vector<double> lengths;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    lengths.push_back(steps[i].duration.seconds().value());
    missing.push_back(lengths.back() - again[i].duration.seconds().value());
  }
  return {median_of(std::move(missing)), median_of(std::move(lengths))};
}

}  // namespace

void fit_host(const std::vector<StepFacts>& steps, const core::ConfigLibrary& library, Draft& draft,
              std::vector<FittedValue>& values, std::vector<std::string>& notes) {
  const std::array<const char*, 4> keys{"stack.host.step", "stack.host.per_sequence",
                                        "stack.host.per_sequence_ahead", "stack.host.exposed"};
  // The four are fitted together or not at all.
  if (std::any_of(keys.begin(), keys.end(), [&](const char* k) { return draft.is_given(k); }))
    return;
  sim::Scenario scenario = draft.scenario(library);
  const workloads::HostSpec shipped = scenario.stack.host;
  Missing missing = missing_of(steps, scenario);
  if (!missing.matters()) return;

  const auto count = static_cast<std::int64_t>(steps.size());
  const bool ahead = scenario.engine.async_scheduling;
  core::Nanoseconds base = ahead ? shipped.exposed : core::Nanoseconds{};
  // A host that runs ahead may be kept as it is and something added; any other is fitted whole, and
  // so is one that makes the steps too long.
  if (!ahead || missing.seconds < 0.0) {
    for (const char* key : keys) draft.set(key, "0 s");
    for (const auto& [key, before] :
         {std::pair{"stack.host.per_sequence", shipped.per_sequence},
          std::pair{"stack.host.per_sequence_ahead", shipped.per_sequence_ahead}}) {
      if (before.count > 0)
        values.push_back(
            {key, text(before), "0 us", "one time for steps of any size", count, "steps", ""});
    }
    if (ahead && shipped.step.count > 0)
      values.push_back({"stack.host.step", text(shipped.step), "0 us",
                        "the recorded host hides behind the device", count, "steps", ""});
    scenario = draft.scenario(library);
    missing = missing_of(steps, scenario);
    base = {};
  }
  const std::string key = ahead ? "stack.host.exposed" : "stack.host.step";
  const core::Nanoseconds before = ahead ? shipped.exposed : shipped.step;
  const core::Nanoseconds after{
      std::max<std::int64_t>(0, base.count + std::llround(missing.seconds * 1e9))};
  draft.set(key, fmt::format("{} ns", after.count));
  FittedValue value{key,   text(before), text(after), "what the rest of a step leaves unexplained",
                    count, "steps",      ""};
  if (missing.seconds < -kNear * missing.step) {
    value.bound = "not below zero";
    notes.push_back(
        fmt::format("simulated steps are {:.1f} % longer than recorded ones without any "
                    "host work",
                    -100.0 * missing.seconds / missing.step));
  } else if (missing.seconds > kWorthANote * missing.step) {
    notes.push_back(
        fmt::format("{:.0f} % of a step is time that no kernel, launch or gap of the model "
                    "explains; it is kept "
                    "as time of the host, the same for every step",
                    100.0 * missing.seconds / missing.step));
  }
  values.push_back(std::move(value));
}

}  // namespace ridgeline::whatif
