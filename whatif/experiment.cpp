#include "whatif/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "diagnosis/fixes/table.hpp"
#include "sim/metrics.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/figures.hpp"

namespace ridgeline::whatif {
namespace {

constexpr const char* kBefore = "before";

/// Thrown through a run that nobody wants any more.
struct Stopped {};

/// The objective of the first variant, by which all are judged, and its worth there.
struct Yardstick {
  Objective objective;
  double worth;
};

double units_of(const sim::RunResult& result, const sim::Metrics& metrics) {
  if (std::holds_alternative<workloads::TrainingWorkload>(result.scenario.workload)) return 1.0;
  return static_cast<double>(result.scenario.engine.data_parallel_size *
                             std::max<std::int64_t>(1, metrics.output_tokens));
}

Prediction told(const diagnosis::Recommendation& r, const char* place) {
  Prediction p;
  p.fix = r.name;
  p.place = place;
  p.why = r.why;
  p.speedup = r.speedup;
  return p;
}

std::optional<Prediction> found_in(const diagnosis::Diagnosis& d, const std::string& fix) {
  constexpr std::array<const char*, 2> kPlaces{"first fix", "second fix"};
  for (std::size_t i = 0; i < d.fixes.size(); ++i) {
    if (d.fixes[i].name == fix) return told(d.fixes[i], i < kPlaces.size() ? kPlaces.at(i) : "fix");
  }
  for (const diagnosis::Recommendation& r : d.rejects) {
    if (r.name == fix) return told(r, "reject");
  }
  return std::nullopt;
}

class Laboratory {
 public:
  Laboratory(const sim::Scenario& scenario, const core::ConfigLibrary& library,
             const ExperimentOptions& options)
      : scenario_(scenario), library_(library), options_(options) {
    experiment_.scenario = scenario.name;
  }

  /// Runs the scenario with changes and keeps what came of it, unless it is there already.
  const Variant& run(const std::string& name, const std::vector<std::string>& changes) {
    for (const Variant& done : experiment_.variants) {
      if (done.name == name) return done;
    }
    Variant v;
    v.name = name;
    ChangedScenario after = with_changes(scenario_, changes, library_);
    v.changes = std::move(after.changes);
    v.overrides = std::move(after.overrides);
    try {
      measure(after.scenario, v);
    } catch (const core::SimulationError& e) {
      if (experiment_.variants.empty()) throw;  // there is nothing to compare with
      v.cannot_run = e.what();
    }
    return experiment_.variants.emplace_back(std::move(v));
  }

  /// What the diagnosis of the first variant says of a fix; nothing where it knows no answer.
  [[nodiscard]] std::optional<Prediction> prediction_of(const std::string& fix) const {
    const Variant& before = experiment_.variants.front();
    if (fix.empty() || !before.diagnosis || !evidence_) return std::nullopt;
    return whatif::prediction_of(fix, *before.diagnosis, *evidence_);
  }

  [[nodiscard]] const sim::Scenario& scenario() const { return scenario_; }
  [[nodiscard]] Experiment& experiment() { return experiment_; }

 private:
  void measure(const sim::Scenario& scenario, Variant& v) {
    sim::RunOptions run;
    bool stopped = false;
    run.progress = [&](std::size_t, std::size_t, core::Instant) {
      stopped = stopped || (options_.progress && !options_.progress(v.name));
      return !stopped;
    };
    const sim::RunResult result = sim::run(scenario, run);
    if (stopped) throw Stopped{};
    const sim::Metrics metrics = sim::measure(result);
    for (const Figure& figure : figures()) v.figures.push_back(figure.of(result, metrics));
    v.ledger = result.ledger();
    v.units = units_of(result, metrics);
    if (!result.steps.empty()) {
      v.idle = result.end() - result.steps.front().start - v.ledger.total();
      diagnosis::Evidence evidence = observe_run(result, metrics, telling_part(result));
      v.diagnosis = diagnosis::diagnose(evidence);
      if (!evidence_) evidence_ = std::move(evidence);
    }
    if (!yardstick_) {
      const Objective objective = objective_of(result, metrics);
      yardstick_ = {objective, value_of(objective, result, metrics)};
      experiment_.objective = objective;
    }
    if (yardstick_->worth > 0.0)
      v.gain = value_of(yardstick_->objective, result, metrics) / yardstick_->worth;
  }

  const sim::Scenario& scenario_;
  const core::ConfigLibrary& library_;
  const ExperimentOptions& options_;
  std::optional<Yardstick> yardstick_;
  std::optional<diagnosis::Evidence> evidence_;  // of the first variant
  Experiment experiment_;
};

/// The fix that the diagnosis wants first, as long as there is something to do for it.
std::string first_needed(const std::string& fix, const sim::Scenario& scenario) {
  const std::string_view after = diagnosis::find_fix(fix)->after;
  if (after.empty() || intervention(after).overrides == nullptr) return "";
  return intervention(after).overrides(scenario) ? std::string(after) : "";
}

Tried tried(const Variant& v) { return {v.name, v.changes, v.overrides, v.cannot_run, v.gain}; }

}  // namespace

void lay_beside(Prediction& p, const Tried& t, const sim::Scenario& scenario, double on_top_of) {
  p.variant = t.name;
  if (t.changes.back().effect.overrides.empty()) {
    p.note = "changes nothing here: it is so already, or cannot be";
    return;
  }
  if (!t.cannot_run.empty()) {
    p.note = t.cannot_run;
    return;
  }
  p.measured = t.gain / on_top_of;
  if (t.changes.size() > 1) {
    p.judged = true;
    p.note = fmt::format("on top of {}", t.changes.front().name);
    return;
  }
  // A diagnosis judges a fix at one size; another size may do as well, or not.
  const Intervention& own = intervention(p.fix);
  if (own.overrides == nullptr)
    p.note = "said of such a change in general, not of this one";
  else if (own.overrides(scenario) != t.overrides)
    p.note = fmt::format("said of another size of it: {}", own.how);
  else if (const std::string first = first_needed(p.fix, scenario); !first.empty())
    p.note = fmt::format("said of it on top of {}", first);
  else
    p.judged = true;
}

double Prediction::miss() const {
  if (!judged || holds()) return 0.0;
  return *measured > speedup.high ? *measured / speedup.high - 1.0 : *measured / speedup.low - 1.0;
}

std::optional<Prediction> prediction_of(const std::string& fix,
                                        const diagnosis::Diagnosis& diagnosis,
                                        const diagnosis::Evidence& evidence) {
  if (auto found = found_in(diagnosis, fix)) return found;
  // It says nothing of it by itself; asked, it does.
  diagnosis::Evidence asked = evidence;
  asked.proposals.push_back(fix);
  auto found = found_in(diagnosis::diagnose(asked), fix);
  if (found) found->place = "asked";
  return found;
}

std::optional<Experiment> what_if(const sim::Scenario& scenario,
                                  const std::vector<std::string>& changes,
                                  const core::ConfigLibrary& library,
                                  const ExperimentOptions& options) try {
  // What is wrong shows before anything runs.
  static_cast<void>(with_changes(scenario, changes, library));
  const bool each = options.each && changes.size() > 1;
  for (const std::string& change : each ? changes : std::vector<std::string>{})
    static_cast<void>(with_changes(scenario, {change}, library));
  Laboratory laboratory(scenario, library, options);
  laboratory.run(kBefore, {});
  if (each) {
    for (const std::string& change : changes) laboratory.run(change, {change});
  }
  laboratory.run(fmt::format("{}", fmt::join(changes, " ")), changes);
  Experiment& out = laboratory.experiment();
  for (const Variant& v : out.variants) {
    if (v.changes.size() != 1) continue;
    if (auto p = laboratory.prediction_of(v.changes.front().effect.fix)) {
      lay_beside(*p, tried(v), scenario);
      out.predictions.push_back(std::move(*p));
    }
  }
  return std::move(out);
} catch (const Stopped&) {
  return std::nullopt;
}

std::optional<Experiment> verify_diagnosis(const sim::Scenario& scenario,
                                           const core::ConfigLibrary& library,
                                           const ExperimentOptions& options) try {
  Laboratory laboratory(scenario, library, options);
  laboratory.run(kBefore, {});
  Experiment& out = laboratory.experiment();
  const std::optional<diagnosis::Diagnosis> answer = out.variants.front().diagnosis;
  if (!answer) return std::move(out);
  const auto verify = [&](const diagnosis::Recommendation& r) {
    auto p = laboratory.prediction_of(r.name);
    if (!p) return;
    if (const Intervention& change = intervention(r.name); change.overrides == nullptr) {
      p->variant = r.name;
      p->note = fmt::format("cannot be simulated: {}", change.how);
    } else {
      try {
        const std::string first = first_needed(r.name, scenario);
        if (first.empty()) {
          lay_beside(*p, tried(laboratory.run(r.name, {r.name})), scenario);
        } else {
          const double before = laboratory.run(first, {first}).gain;
          lay_beside(*p, tried(laboratory.run(first + " " + r.name, {first, r.name})), scenario,
                     before);
        }
      } catch (const core::ConfigError& e) {  // it makes no scenario
        p->note = e.what();
      }
    }
    out.predictions.push_back(std::move(*p));
  };
  for (const diagnosis::Recommendation& fix : answer->fixes) verify(fix);
  for (const diagnosis::Recommendation& reject : answer->rejects) verify(reject);
  std::erase_if(out.variants,
                [](const Variant& v) { return v.name != kBefore && v.changes_nothing(); });
  return std::move(out);
} catch (const Stopped&) {
  return std::nullopt;
}

}  // namespace ridgeline::whatif
