#include "diagnosis/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "diagnosis/complete.hpp"
#include "diagnosis/findings.hpp"
#include "diagnosis/fixes/table.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/trials.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Below this a change is not worth its trouble, and a tempting one is worth a warning.
constexpr double kWorthwhile = 1.05;
/// A proposal worth less than this part of the best fix's gain (of logarithms) is one to reject
/// beside it.
constexpr double kPale = 1.0 / 3.0;
/// What somebody saw or asked for weighs this much more than what the ledger alone proposes.
constexpr double kSuggested = 1.5;
constexpr std::size_t kMostFixes = 2;
constexpr std::size_t kMostRejects = 3;

struct Judged {
  const Fix* fix = nullptr;
  Assessment assessment;
  bool asked = false;      // somebody proposes it
  bool suggested = false;  // by that, or by a symptom
  bool measured = false;   // somebody tried it

  [[nodiscard]] bool certain() const { return assessment.gain.low >= kWorthwhile; }
  [[nodiscard]] bool possible() const { return assessment.gain.high >= kWorthwhile; }
  /// Gain on a logarithmic scale, discounted by what it takes to get it.
  [[nodiscard]] double merit() const {
    const double middle = 0.5 * (std::log(assessment.gain.low) + std::log(assessment.gain.high));
    return middle / (1.0 + 0.5 * fix->effort) * (suggested ? kSuggested : 1.0);
  }
  /// Gain halfway between its bounds, on a logarithmic scale.
  [[nodiscard]] double likely() const {
    return std::sqrt(std::max(assessment.gain.low, 1e-6) * std::max(assessment.gain.high, 1e-6));
  }
  /// Sure gains before hopes, and hopes before more hardware.
  [[nodiscard]] int rank() const {
    if (measured && likely() >= kWorthwhile) return -1;
    if (fix->needs_hardware) return 2;
    return certain() || (suggested && likely() >= kWorthwhile) ? 0 : 1;
  }
};

bool proposed(const Evidence& e, const Fix& fix) {
  return std::find(e.proposals.begin(), e.proposals.end(), fix.name) != e.proposals.end();
}

bool suggested_by_symptom(const Evidence& e, const Fix& fix) {
  const std::vector<const Symptom*> seen = symptoms_of(e);
  return std::any_of(seen.begin(), seen.end(),
                     [&](const Symptom* symptom) { return symptom->suggests == fix.name; });
}

const Trial* trial_of(const Evidence& e, const Fix& fix) {
  const auto it = std::find_if(e.trials.begin(), e.trials.end(),
                               [&](const Trial& t) { return t.change == fix.name; });
  return it != e.trials.end() ? &*it : nullptr;
}

/// What somebody tried needs no computing.
Assessment tried(const Trial& trial, Window window) {
  const Trial::Effect& effect = main_effect(trial, window);
  return {effect.gain.interval,
          fmt::format("tried{}: {:.2f}x by {}", trial.when.empty() ? "" : " (" + trial.when + ")",
                      effect.gain.best,
                      effect.measure == "speedup" ? "its author's measure" : effect.measure)};
}

/// Proposed here, though the ledger has nothing that it would act on.
Assessment beside_the_point(const Fix& fix) {
  std::string lines;
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (fix.acts_on.has(static_cast<Cause>(i)))
      lines += (lines.empty() ? "" : " or ") + std::string(kCauseNames[i]);
  }
  return {{1.0},
          lines.empty()
              ? std::string("nothing on the ledger is what it would change")
              : "it acts on " + lines +
                    ", and nothing here says that it could: it is so already, the machine "
                    "lacks it, or no line of the ledger is that"};
}

std::vector<Judged> judge(const Situation& situation) {
  const Evidence& e = situation.evidence;
  std::vector<Judged> out;
  for (const Fix* fix : all_fixes()) {
    const bool asked = proposed(e, *fix);
    const bool suggested = asked || suggested_by_symptom(e, *fix);
    if (const Trial* trial = trial_of(e, *fix)) {
      if (!trial->with)
        out.push_back({fix, tried(*trial, situation.work.window), asked, suggested, true});
      continue;  // in place already
    }
    if (fix->applies(situation))
      out.push_back({fix, fix->assess(situation), asked, suggested});
    else if (asked)
      out.push_back({fix, beside_the_point(*fix), true, true, false});
  }
  return out;
}

/// The weights of diagnosis/regime.cpp are too modest by this much in the middle: c + k c (1 - c)
/// lies nearest to how often answers were right on items of the corpus (`ridgeline score corpus`
/// prints what is left of the difference; docs/score.md has it).
Value as_frequency(const Value& weight) {
  constexpr double kTooModest = 0.6;
  const auto f = [](double c) { return c + kTooModest * c * (1.0 - c); };
  return computed("as often as such answers were right", {f(weight.low()), f(weight.high())},
                  f(weight.best), Origin::derived, {weight});
}

Recommendation recommendation(const Judged& j) {
  return {std::string(j.fix->name), std::string(j.fix->title), j.assessment.gain, j.assessment.why,
          j.assessment.computed};
}

/// Which causes a regime is made of. On the device the kernels' distance from a roof and the roof
/// itself give way to one another.
Causes binding_causes(Regime regime) {
  switch (regime) {
    case Regime::overhead_bound:
      return {Cause::launch, Cause::host};
    case Regime::communication_bound:
      return Cause::communication;
    case Regime::transfer_bound:
      return Cause::transfer;
    case Regime::capacity_bound:
      return Cause::capacity;
    case Regime::bandwidth_bound:
    case Regime::compute_bound:
    case Regime::kernel_inefficiency:
      return {Cause::bandwidth, Cause::compute, Cause::kernels};
    case Regime::load_bound:
    case Regime::mixed:
      break;
  }
  return {};
}

/// What binds comes first; elsewhere little can be gained before it gives way.
bool touches(const Judged& j, Regime regime) {
  const Causes binding = binding_causes(regime);
  return binding.empty() || j.measured || j.fix->acts_on.empty() || j.fix->acts_on.meets(binding);
}

/// Worth little beside another.
bool pale(const Judged& j, const Judged& beside) {
  return !j.measured && std::log(j.likely()) < kPale * std::log(beside.likely());
}

/// Do the same to the same.
bool alike(const Judged& a, const Judged& b) {
  return a.fix->family == b.fix->family && a.fix->acts_on == b.fix->acts_on;
}

std::vector<Recommendation> best_fixes(std::vector<Judged> judged, Regime regime) {
  // What was tried in vain is not done again by other means.
  const auto vain = [&](const Judged& j) {
    return std::any_of(judged.begin(), judged.end(), [&](const Judged& other) {
      return other.measured && other.likely() < kWorthwhile && alike(j, other);
    });
  };
  std::vector<Judged> kept;
  std::copy_if(judged.begin(), judged.end(), std::back_inserter(kept), std::not_fn(vain));
  judged = std::move(kept);
  std::erase_if(judged, [](const Judged& j) { return !j.possible() || j.merit() <= 0.0; });
  // What somebody asks for beside what binds is rejected, and so is all else that would do the
  // same.
  const auto asked_alike = [&](const Judged& j) {
    return std::any_of(judged.begin(), judged.end(),
                       [&](const Judged& other) { return other.asked && alike(j, other); });
  };
  const auto binds = [&](const Judged& j) {
    return touches(j, regime) || (j.certain() && !asked_alike(j));
  };
  if (std::any_of(judged.begin(), judged.end(), binds)) std::erase_if(judged, std::not_fn(binds));
  std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) {
    return a.rank() != b.rank() ? a.rank() < b.rank() : a.merit() > b.merit();
  });
  // What must come first does, where it is on the list at all.
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const auto first = std::find_if(judged.begin(), judged.end(), [&](const Judged& j) {
      return j.fix->name == judged[i].fix->after;
    });
    if (first == judged.end() || first < judged.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    std::rotate(judged.begin() + static_cast<std::ptrdiff_t>(i), first, first + 1);
  }
  std::vector<Recommendation> out;
  std::vector<std::string_view> families;
  for (const Judged& j : judged) {
    if (out.size() == kMostFixes) break;
    if (std::find(families.begin(), families.end(), j.fix->family) != families.end()) continue;
    // Asked for, unsure, and worth little beside the first: that is one to reject.
    if (!out.empty() && j.asked && !j.certain() && pale(j, judged.front())) continue;
    // More hardware is advised where nothing else is.
    if (!out.empty() && j.fix->needs_hardware && !j.asked && !j.measured) continue;
    families.push_back(j.fix->family);
    out.push_back(recommendation(j));
  }
  // What somebody asked about is answered, wherever it stands.
  for (const Judged& j : judged) {
    const bool there = std::any_of(out.begin(), out.end(),
                                   [&](const Recommendation& r) { return r.name == j.fix->name; });
    const bool by_another =
        std::find(families.begin(), families.end(), j.fix->family) != families.end();
    if (j.asked && !there && !by_another && (j.certain() || !pale(j, judged.front())))
      out.push_back(recommendation(j));
  }
  return out;
}

/// Tempting: proposed by somebody here, or proposed everywhere; a keyword of the evidence adds to
/// it.
double temptation(const Fix& fix, const Situation& s) {
  double t = fix.popularity;
  if (proposed(s.evidence, fix)) t += 1.0;
  const bool one_sequence = best_or(s.work.sequences, 2.0) < 1.5 && s.work.window == Window::decode;
  if (fix.family == "batch" && one_sequence) t += 0.3;  // "batch 1": everybody says to batch
  if (fix.family == "kv bytes" && best_or(s.work.context, 0.0) > 8192.0) t += 0.2;
  return t;
}

std::vector<Recommendation> tempting_rejects(const std::vector<Judged>& judged, const Situation& s,
                                             const std::vector<Recommendation>& fixes) {
  std::vector<std::pair<double, const Judged*>> worthless;
  const auto first = std::find_if(judged.begin(), judged.end(), [&](const Judged& j) {
    return !fixes.empty() && fixes.front().name == j.fix->name;
  });
  for (const Judged& j : judged) {
    const bool chosen = std::any_of(fixes.begin(), fixes.end(),
                                    [&](const Recommendation& r) { return r.name == j.fix->name; });
    // Asked for here, and beside what binds, or worth little beside what is to be done first.
    const bool beside =
        j.asked && first != judged.end() && (!touches(j, s.regime) || pale(j, *first));
    const bool failed = j.measured && j.likely() < kWorthwhile;
    if (!chosen && (!j.possible() || beside || failed))
      worthless.emplace_back(temptation(*j.fix, s) + (failed ? 0.4 : 0.0), &j);
  }
  std::stable_sort(worthless.begin(), worthless.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Recommendation> out;
  std::vector<std::string_view> families;
  for (const auto& [score, j] : worthless) {
    if (out.size() == kMostRejects) break;
    if (score < 0.35 ||
        std::find(families.begin(), families.end(), j->fix->family) != families.end())
      continue;
    families.push_back(j->fix->family);
    out.push_back(recommendation(*j));
  }
  return out;
}

}  // namespace

Diagnosis diagnose(const Evidence& as_told) {
  require_sensible(as_told);
  const Evidence evidence = completed(as_told);
  const Work work = work_of(evidence);
  const std::vector<Clue> clues = clues_of(evidence, work);
  Diagnosis d;
  d.title = evidence.title;
  d.phase = work.phase;
  d.time_budget = time_budget(evidence, work, clues);
  const Verdict verdict = regime_of(evidence, work, d.time_budget, clues);
  d.regime = verdict.regime;
  d.inconsistencies = inconsistencies_of(evidence, work, d.time_budget, clues);
  Value confidence = verdict.confidence;
  for (const Inconsistency& i : d.inconsistencies) {
    if (!i.explained)
      confidence =
          confidence * Value(core::Interval(0.75), Origin::assumed, "weight of a contradiction");
  }
  confidence = as_frequency(confidence).clamped(0.02, 0.97);
  d.confidence = confidence.best;
  d.certainty = confidence.derivation();
  d.queueing = queueing_of(evidence, work);
  const bool overloaded = d.queueing && d.queueing->overloaded;
  d.settling_evidence = findings_of(evidence, work, d.time_budget, d.queueing, d.regime, clues);
  d.question = question_of(evidence, work, d.time_budget, d.queueing, d.regime);
  if (d.time_budget && !d.time_budget->overfull) {
    const Situation situation{evidence, work, *d.time_budget, d.regime, overloaded};
    const std::vector<Judged> judged = judge(situation);
    d.fixes = best_fixes(judged, d.regime);
    d.rejects = tempting_rejects(judged, situation, d.fixes);
  }
  return d;
}

}  // namespace ridgeline::diagnosis
