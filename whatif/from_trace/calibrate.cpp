#include "whatif/from_trace/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "whatif/from_trace/fit_host.hpp"
#include "whatif/from_trace/fit_launches.hpp"

namespace ridgeline::whatif {
namespace {

using Steps = std::vector<StepFacts>;

constexpr std::size_t kChoiceSteps = 24;  // that stacks are compared on
constexpr double kNoChange = 0.002;       // factors nearer to 1 are left alone
constexpr double kBound = 1.01;           // a group that comes out so much longer met its bound
constexpr double kWorthANote = 0.01;      // of the device's busy time

struct Halves {
  Steps fitted;
  Steps held_back;
};

/// Every other step, of decode steps and of those with prefills by themselves, so that both halves
/// have both.
Halves halves_of(const Steps& steps) {
  Halves out;
  std::array<bool, 2> hold_back{};
  for (const StepFacts& step : steps) {
    bool& turn = hold_back.at(step.decodes_only() ? 0 : 1);
    (turn ? out.held_back : out.fitted).push_back(step);
    turn = !turn;
  }
  return out;
}

Steps few(const Steps& steps) {
  Steps out;
  const std::size_t most = std::min(steps.size(), kChoiceSteps);
  for (std::size_t i = 0; i < most; ++i) out.push_back(steps[i * steps.size() / most]);
  return out;
}

/// Real over simulated time of a group in one step; nothing where a side has none. Of a step with
/// prefills the attention of its decodes is taken off first, at the factor already known.
std::optional<double> ratio(const StepFacts& real, const StepFacts& simulated, KernelGroup group,
                            double decode_factor) {
  double r = real.time_of(group).seconds().value();
  double s = simulated.time_of(group).seconds().value();
  if (group == KernelGroup::attention_prefill) {
    const double decode = simulated.decode_attention.seconds().value();
    r -= decode * decode_factor;
    s -= decode;
  }
  if (r <= 0.0 || s <= 0.0) return std::nullopt;
  return r / s;
}

class KernelFit {
 public:
  KernelFit(const Steps& steps, const core::ConfigLibrary& library, Calibration& out)
      : steps_(steps), library_(library), out_(out) {}

  void run() {
    const sim::Scenario scenario = draft().scenario(library_);
    const Steps before = simulated(scenario, steps_);
    std::array<double, kKernelGroups> factors{};
    for (std::size_t g = 0; g < kKernelGroups; ++g) {
      const auto group = static_cast<KernelGroup>(g);
      const double decode = factors[static_cast<std::size_t>(KernelGroup::attention_decode)];
      factors.at(g) = fit(group, before, scenario, decode > 0.0 ? decode : 1.0);
    }
    note_bounds(before, factors);
  }

 private:
  [[nodiscard]] Draft& draft() { return out_.choice.draft; }

  /// Returns the factor; 0 where there is none to be had.
  double fit(KernelGroup group, const Steps& before, const sim::Scenario& scenario,
             double decode_factor) {
    std::vector<double> ratios;
    std::int64_t kernels = 0;
    double real_time = 0.0;
    double simulated_time = 0.0;
    double busy = 0.0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      real_time += steps_[i].time_of(group).seconds().value();
      simulated_time += before[i].time_of(group).seconds().value();
      busy += steps_[i].busy.seconds().value();
      const auto r = ratio(steps_[i], before[i], group, decode_factor);
      if (!r) continue;
      ratios.push_back(*r);
      kernels += steps_[i].count_of(group);
    }
    const std::string_view name = kKernelGroupNames.at(static_cast<std::size_t>(group));
    if (ratios.empty()) {
      if (busy > 0.0 && std::max(real_time, simulated_time) > kWorthANote * busy)
        out_.notes.push_back(fmt::format(
            "{}: {:.1f} % of the device's time in the trace, {:.1f} % of that simulated: one side "
            "has no such kernels, so nothing was fitted",
            name, 100.0 * real_time / busy, 100.0 * simulated_time / busy));
      return 0.0;
    }
    const double shipped = scenario.stack.efficiency.of_time(kinds_of(group).front());
    const double factor = std::clamp(median_of(ratios), hw::kLeastTimeFactor / shipped,
                                     hw::kMostTimeFactor / shipped);
    if (std::abs(factor - 1.0) < kNoChange) return 1.0;
    const hw::KernelKind first = kinds_of(group).front();
    if (draft().is_given(fmt::format("stack.efficiency.time.{}", hw::name_of(first)))) return 1.0;
    for (const hw::KernelKind kind : kinds_of(group)) {
      if (kind == hw::KernelKind::experts && !scenario.model.has_experts()) continue;
      draft().set(fmt::format("stack.efficiency.time.{}", hw::name_of(kind)),
                  fmt::format("{:.4g}", factor * scenario.stack.efficiency.of_time(kind)));
    }
    const std::string key = group == KernelGroup::small
                                ? "stack.efficiency.time of small kernels"
                                : fmt::format("stack.efficiency.time.{}", hw::name_of(first));
    out_.values.push_back({key, fmt::format("{:.4g}", scenario.stack.efficiency.of_time(first)),
                           fmt::format("{:.4g}", factor * scenario.stack.efficiency.of_time(first)),
                           "real over simulated time, the median step", kernels, "kernels", ""});
    fitted_.emplace_back(group, out_.values.size() - 1);
    return factor;
  }

  void note_bounds(const Steps& before, const std::array<double, kKernelGroups>& factors) {
    const Steps after = simulated(draft().scenario(library_), steps_);
    for (const auto& [group, value] : fitted_) {
      const double factor = factors.at(static_cast<std::size_t>(group));
      std::vector<double> reached;
      for (std::size_t i = 0; i < before.size(); ++i) {
        const double b = before[i].time_of(group).seconds().value();
        if (b > 0.0) reached.push_back(after[i].time_of(group).seconds().value() / b);
      }
      const double got = median_of(std::move(reached));
      if (factor >= 1.0 || got <= factor * kBound) continue;
      out_.values[value].bound = fmt::format(
          "comes out at {:.3g}: bytes and FLOP at the machine's peak allow no less", got);
    }
  }

  const Steps& steps_;
  const core::ConfigLibrary& library_;
  Calibration& out_;
  std::vector<std::pair<KernelGroup, std::size_t>> fitted_;  // and which of the values it is
};

void note_counts(Calibration& out) {
  double kernels = 0.0;
  double seconds = 0.0;
  for (const ClassRow& row : out.classes_after) {
    kernels += row.real_count;
    seconds += row.real_seconds;
  }
  std::string amiss;
  for (const ClassRow& row : out.classes_after) {
    if (std::abs(row.real_count - row.simulated_count) < 0.02 * kernels) continue;
    amiss += fmt::format("{}{} {:.4g} for {:.4g}", amiss.empty() ? "" : ", ", row.name,
                         row.simulated_count, row.real_count);
  }
  if (!amiss.empty())
    out.notes.push_back(
        "kernels a step, simulated for recorded, that no shipped lowering brings "
        "together: " +
        amiss + "; a group's factor makes up for their time");
}

}  // namespace

Calibration calibrate(const TraceFacts& facts, const TraceHints& hints,
                      const core::ConfigLibrary& library) {
  const auto [fitted, held_back] = halves_of(facts.steps);
  Calibration out{choose_stack(facts, few(fitted), hints.stack, hints.overrides, library),
                  {},
                  fitted.size(),
                  held_back.size(),
                  {},
                  {},
                  {},
                  {},
                  {}};
  Draft& draft = out.choice.draft;

  Draft shipped(facts, draft.stack(), hints.overrides);
  for (const auto& [key, value] : draft.values()) {
    if (!key.starts_with("stack.lowering.")) shipped.set(key, value);
  }
  const auto agreement = [&, &fitted = fitted,
                          &held_back = held_back](const sim::Scenario& scenario) {
    Agreement a;
    a.fitted = errors_of(fitted, simulated(scenario, fitted));
    if (!held_back.empty()) a.held_back = errors_of(held_back, simulated(scenario, held_back));
    return a;
  };
  const sim::Scenario as_shipped = shipped.scenario(library);
  out.before = agreement(as_shipped);
  out.classes_before = classes_of(facts.steps, simulated(as_shipped, facts.steps));

  KernelFit(fitted, library, out).run();
  fit_launches(fitted, library, draft, out.values);
  fit_host(fitted, library, draft, out.values, out.notes);

  const sim::Scenario scenario = draft.scenario(library);
  out.after = agreement(scenario);
  out.classes_after = classes_of(facts.steps, simulated(scenario, facts.steps));
  note_counts(out);
  if (held_back.empty())
    out.notes.emplace_back(
        "too few steps alike to hold one back: the errors are those of the fit itself");
  return out;
}

}  // namespace ridgeline::whatif
