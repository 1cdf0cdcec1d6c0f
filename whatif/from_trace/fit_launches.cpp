#include "whatif/from_trace/fit_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "whatif/from_trace/fit.hpp"

namespace ridgeline::whatif {
namespace {

using core::Seconds;
using Steps = std::vector<StepFacts>;

/// Finer than that is no clock of a device: they tick at 100 MHz.
constexpr core::Nanoseconds kClockTick{10};

std::string text(core::Nanoseconds t) {
  return fmt::format("{:.4g} us", static_cast<double>(t.count) * 1e-3);
}

struct Observed {
  std::vector<double> seconds;  // a step each
  std::int64_t count = 0;
};

class LaunchFit {
 public:
  LaunchFit(const Steps& steps, const core::ConfigLibrary& library, Draft& draft,
            std::vector<FittedValue>& values)
      : steps_(steps), draft_(draft), values_(values), scenario_(draft.scenario(library)) {
    simulated_ = simulated(scenario_, steps);
  }

  void run() {
    const hw::LaunchSpec& launch = scenario_.stack.launch;
    const auto eager = [](const StepFacts& s) { return s.graph_kernels == 0 && s.launches > 1; };
    const auto graph = [](const StepFacts& s) { return 2 * s.graph_kernels > s.kernels; };
    const auto spread = [](std::int64_t real, std::int64_t simulated) {
      return static_cast<double>(real - 1) /
             static_cast<double>(std::max<std::int64_t>(1, simulated - 1));
    };
    set("issue", launch.issue, "from one launch call to the next, waits left out", "launches",
        gather(
            eager,
            [&](const StepFacts& real, const StepFacts& sim) -> std::optional<Seconds> {
              if (!real.issue) return std::nullopt;
              return *real.issue * spread(real.launches, sim.launches);
            },
            &StepFacts::launches));
    const auto between = [&](const StepFacts& real,
                             const StepFacts& sim) -> std::optional<Seconds> {
      if (!real.dispatch) return std::nullopt;
      return *real.dispatch * spread(real.kernels, sim.kernels);
    };
    set("dispatch", launch.dispatch, "from a kernel to the next, already queued", "kernels",
        gather(eager, between, &StepFacts::kernels));
    set("graph_dispatch", launch.graph_dispatch, "from a kernel of a graph to the next", "kernels",
        gather(graph, between, &StepFacts::kernels));

    const Observed doorbell = gather(
        eager, [](const StepFacts& real, const StepFacts&) { return real.doorbell; },
        &StepFacts::launches);
    const Observed ahead = gather(
        graph, [](const StepFacts& real, const StepFacts&) { return real.graph_ahead; },
        &StepFacts::launches);
    if (!doorbell.seconds.empty() || ahead.seconds.empty()) {
      set("doorbell", launch.doorbell, "from a launch to its kernel on an idle device", "launches",
          doorbell);
      return;
    }
    // Of a graph only the sum shows: its submission, then the doorbell.
    double nodes = 0.0;
    for (const StepFacts& s : simulated_) nodes += static_cast<double>(s.kernels);
    nodes /= static_cast<double>(simulated_.size());
    const double submission =
        launch.graph_submit.seconds().value() + launch.graph_node.seconds().value() * nodes;
    Observed rest = ahead;
    for (double& s : rest.seconds) s = std::max(0.0, s - submission);
    set("doorbell", launch.doorbell,
        "from a graph's launch call to its first kernel, less its submission", "launches", rest);
  }

 private:
  template <class Choose, class Read>
  [[nodiscard]] Observed gather(Choose&& chosen, Read&& read,
                                std::int64_t StepFacts::*counted) const {
    Observed out;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!chosen(steps_[i])) continue;
      const std::optional<Seconds> seconds = read(steps_[i], simulated_[i]);
      if (!seconds) continue;
      out.seconds.push_back(seconds->value());
      out.count += steps_[i].*counted;
    }
    return out;
  }

  void set(const char* key, core::Nanoseconds before, const char* from, const char* of,
           const Observed& observed) {
    if (observed.seconds.empty()) return;
    const core::Nanoseconds after = core::round_to_ns(Seconds{median_of(observed.seconds)});
    if (std::abs((after - before).count) < kClockTick.count) return;
    const std::string name = fmt::format("stack.launch.{}", key);
    if (draft_.is_given(name)) return;
    draft_.set(name, fmt::format("{} ns", after.count));
    values_.push_back({name, text(before), text(after), from, observed.count, of, ""});
  }

  const Steps& steps_;
  Draft& draft_;
  std::vector<FittedValue>& values_;
  sim::Scenario scenario_;
  Steps simulated_;
};

}  // namespace

void fit_launches(const std::vector<StepFacts>& steps, const core::ConfigLibrary& library,
                  Draft& draft, std::vector<FittedValue>& values) {
  LaunchFit(steps, library, draft, values).run();
}

}  // namespace ridgeline::whatif
