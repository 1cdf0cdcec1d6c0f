#include "diagnosis/diagnose.hpp"

#include <algorithm>
#include <cmath>

#include "diagnosis/complete.hpp"
#include "diagnosis/findings.hpp"
#include "diagnosis/fixes/table.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Below this a change is not worth its trouble, and a tempting one is worth a warning.
constexpr double kWorthwhile = 1.05;
constexpr std::size_t kMostFixes = 2;
constexpr std::size_t kMostRejects = 3;

struct Judged {
  const Fix* fix = nullptr;
  Assessment assessment;

  [[nodiscard]] bool certain() const { return assessment.gain.low >= kWorthwhile; }
  [[nodiscard]] bool possible() const { return assessment.gain.high >= kWorthwhile; }
  /// Gain on a logarithmic scale, discounted by what it takes to get it.
  [[nodiscard]] double merit() const {
    const double middle = 0.5 * (std::log(assessment.gain.low) + std::log(assessment.gain.high));
    return middle / (1.0 + 0.5 * fix->effort);
  }
  /// Sure gains before hopes, and hopes before more hardware.
  [[nodiscard]] int rank() const {
    if (fix->needs_hardware) return 2;
    return certain() ? 0 : 1;
  }
};

std::vector<Judged> judge(const Situation& situation) {
  std::vector<Judged> out;
  for (const Fix* fix : all_fixes()) {
    if (fix->applies(situation)) out.push_back({fix, fix->assess(situation)});
  }
  return out;
}

Recommendation recommendation(const Judged& j) {
  return {std::string(j.fix->name), std::string(j.fix->title), j.assessment.gain, j.assessment.why};
}

std::vector<Recommendation> best_fixes(std::vector<Judged> judged) {
  std::erase_if(judged, [](const Judged& j) { return !j.possible() || j.merit() <= 0.0; });
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
    families.push_back(j.fix->family);
    out.push_back(recommendation(j));
  }
  return out;
}

/// Tempting: proposed by somebody here, or proposed everywhere; a keyword of the evidence adds to
/// it.
double temptation(const Fix& fix, const Situation& s) {
  double t = fix.popularity;
  const auto& proposals = s.evidence.proposals;
  if (std::find(proposals.begin(), proposals.end(), fix.name) != proposals.end()) t += 1.0;
  const bool one_sequence = best_or(s.work.sequences, 2.0) < 1.5 && s.work.window == Window::decode;
  if (fix.family == "batch" && one_sequence) t += 0.3;  // "batch 1": everybody says to batch
  if (fix.family == "kv bytes" && best_or(s.work.context, 0.0) > 8192.0) t += 0.2;
  return t;
}

std::vector<Recommendation> tempting_rejects(const std::vector<Judged>& judged, const Situation& s,
                                             const std::vector<Recommendation>& fixes) {
  std::vector<std::pair<double, const Judged*>> worthless;
  for (const Judged& j : judged) {
    const bool chosen = std::any_of(fixes.begin(), fixes.end(),
                                    [&](const Recommendation& r) { return r.name == j.fix->name; });
    if (!chosen && !j.possible()) worthless.emplace_back(temptation(*j.fix, s), &j);
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
  d.inconsistencies = inconsistencies_of(evidence, work, d.time_budget);
  d.confidence = verdict.confidence;
  for (const Inconsistency& i : d.inconsistencies) d.confidence *= i.explained ? 1.0 : 0.75;
  d.confidence = std::clamp(d.confidence, 0.02, 0.97);
  d.queueing = queueing_of(evidence, work);
  const bool overloaded = d.queueing && d.queueing->overloaded;
  d.settling_evidence = findings_of(evidence, work, d.time_budget, d.queueing, d.regime, clues);
  d.question = question_of(evidence, work, d.time_budget, d.queueing, d.regime);
  if (d.time_budget && !d.time_budget->overfull) {
    const Situation situation{evidence, work, *d.time_budget, d.regime, overloaded};
    const std::vector<Judged> judged = judge(situation);
    d.fixes = best_fixes(judged);
    d.rejects = tempting_rejects(judged, situation, d.fixes);
  }
  return d;
}

}  // namespace ridgeline::diagnosis
