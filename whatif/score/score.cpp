#include "whatif/score/score.hpp"

#include <algorithm>
#include <cmath>

#include "core/statistics.hpp"
#include "diagnosis/diagnose_trace.hpp"
#include "diagnosis/fixes/table.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/run_case.hpp"
#include "whatif/told_evidence.hpp"

namespace ridgeline::whatif {
namespace {

using json = nlohmann::ordered_json;

/// A gain below this is none; as the diagnosis has it.
constexpr double kWorthwhile = 1.05;
/// Of the best fix's gain, on a logarithmic scale, what a right one has at least.
constexpr double kHalf = 0.5;

bool one_of(const std::vector<std::string>& names, const std::vector<std::string>& wanted,
            std::size_t most) {
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    if (std::find(wanted.begin(), wanted.end(), names[i]) != wanted.end()) return true;
  }
  return false;
}

Mark answered(const diagnosis::Diagnosis& answer) {
  Mark m;
  m.name = answer.title;
  m.regime = name_of(answer.regime);
  m.confidence = answer.confidence;
  for (const auto& fix : answer.fixes) m.fixes.push_back(fix.name);
  for (const auto& reject : answer.rejects) m.rejects.push_back(reject.name);
  m.inconsistency_claimed =
      std::any_of(answer.inconsistencies.begin(), answer.inconsistencies.end(),
                  [](const diagnosis::Inconsistency& i) { return !i.explained; });
  return m;
}

std::optional<double> true_gain(const Label& label, const std::string& fix) {
  for (const TrueGain& gain : label.gains) {
    if (gain.fix == fix) return gain.gain;
  }
  return std::nullopt;
}

template <class Predicate>
std::int64_t count(const std::vector<Mark>& marks, Predicate&& holds) {
  return std::count_if(marks.begin(), marks.end(), holds);
}

}  // namespace

Mark mark(const diagnosis::Diagnosis& answer, const KnownAnswer& truth) {
  Mark m = answered(answer);
  m.name = truth.name;
  m.wanted = truth.regimes.empty() ? "" : name_of(truth.regimes.front());
  m.regime_right =
      std::find(truth.regimes.begin(), truth.regimes.end(), answer.regime) != truth.regimes.end();
  if (!truth.fixes.empty()) m.fix_right = one_of(m.fixes, truth.fixes, 2);
  if (!truth.rejects.empty()) m.reject_right = one_of(m.rejects, truth.rejects, m.rejects.size());
  if (truth.inconsistent) m.inconsistency_named = m.inconsistency_claimed;
  return m;
}

Mark mark(const diagnosis::Diagnosis& answer, const Label& label) {
  Mark m = answered(answer);
  m.wanted = name_of(label.regime);
  m.regime_right = label.accepts(answer.regime);
  // What could be had on the same machine by something definite: "faster kernels" are no recipe.
  double best = 1.0;
  for (const TrueGain& gain : label.gains) {
    const diagnosis::Fix* fix = diagnosis::find_fix(gain.fix);
    if (fix == nullptr || fix->needs_hardware || fix->name == "faster_kernels") continue;
    best = std::max(best, gain.gain.value_or(1.0));
  }
  if (best >= kWorthwhile) {
    m.fix_right = false;
    for (const std::string& fix : m.fixes) {
      const auto gain = true_gain(label, fix);
      if (gain && *gain >= kWorthwhile && std::log(*gain) >= kHalf * std::log(best))
        m.fix_right = true;
    }
  }
  for (const std::string& reject : m.rejects) {
    const auto gain = true_gain(label, reject);
    if (!gain) continue;
    m.reject_right = m.reject_right.value_or(true) && *gain < kWorthwhile;
  }
  if (!answer.fixes.empty()) {
    const auto& first = answer.fixes.front();
    if (const auto gain = true_gain(label, first.name); gain && *gain > 0.0)
      m.gain_error = std::abs(std::sqrt(first.speedup.low * first.speedup.high) / *gain - 1.0);
  }
  return m;
}

json to_json(const Mark& m) {
  const auto maybe = [](const auto& value) { return value ? json(*value) : json(nullptr); };
  return {{"name", m.name},
          {"wanted", m.wanted},
          {"regime", m.regime},
          {"confidence", m.confidence},
          {"regime_right", m.regime_right},
          {"fix_right", maybe(m.fix_right)},
          {"reject_right", maybe(m.reject_right)},
          {"inconsistency_named", maybe(m.inconsistency_named)},
          {"inconsistency_claimed", m.inconsistency_claimed},
          {"gain_error", maybe(m.gain_error)},
          {"fixes", m.fixes},
          {"rejects", m.rejects}};
}

Mark mark_from_json(const nlohmann::json& j) {
  const auto maybe = [&](const char* key, auto example) {
    using T = decltype(example);
    return j.at(key).is_null() ? std::optional<T>{} : std::optional<T>(j.at(key).get<T>());
  };
  Mark m;
  m.name = j.at("name");
  m.wanted = j.at("wanted");
  m.regime = j.at("regime");
  m.confidence = j.at("confidence");
  m.regime_right = j.at("regime_right");
  m.fix_right = maybe("fix_right", true);
  m.reject_right = maybe("reject_right", true);
  m.inconsistency_named = maybe("inconsistency_named", true);
  m.inconsistency_claimed = j.at("inconsistency_claimed");
  m.gain_error = maybe("gain_error", 0.0);
  m.fixes = j.at("fixes").get<std::vector<std::string>>();
  m.rejects = j.at("rejects").get<std::vector<std::string>>();
  return m;
}

std::int64_t Marks::regime() const {
  return count(all, [](const Mark& m) { return m.regime_right; });
}
std::int64_t Marks::fix() const {
  return count(all, [](const Mark& m) { return m.fix_right.value_or(false); });
}
std::int64_t Marks::fix_judged() const {
  return count(all, [](const Mark& m) { return m.fix_right.has_value(); });
}
std::int64_t Marks::reject() const {
  return count(all, [](const Mark& m) { return m.reject_right.value_or(false); });
}
std::int64_t Marks::reject_judged() const {
  return count(all, [](const Mark& m) { return m.reject_right.has_value(); });
}
std::int64_t Marks::confidently_wrong() const {
  return count(all,
               [](const Mark& m) { return !m.regime_right && m.confidence >= kHighConfidence; });
}
std::int64_t Marks::inconsistent() const {
  return count(all, [](const Mark& m) { return m.inconsistency_named.has_value(); });
}
std::int64_t Marks::inconsistent_named() const {
  return count(all, [](const Mark& m) { return m.inconsistency_named.value_or(false); });
}

std::optional<double> Marks::gain_error_median() const {
  std::vector<double> errors;
  for (const Mark& m : all) {
    if (m.gain_error) errors.push_back(*m.gain_error);
  }
  if (errors.empty()) return std::nullopt;
  return core::summarize(errors).p50;
}

std::map<std::string, std::map<std::string, std::int64_t>> Marks::confusion() const {
  std::map<std::string, std::map<std::string, std::int64_t>> out;
  for (const Mark& m : all) ++out[m.wanted][m.regime_right ? m.wanted : m.regime];
  return out;
}

std::vector<Marks::Bin> Marks::calibration() const {
  std::vector<Bin> bins;
  for (const double from : {0.0, 0.2, 0.4, 0.6, 0.8, 0.9}) {
    const double to = from < 0.75 ? from + 0.2 : from < 0.85 ? 0.9 : 1.0;
    Bin bin{from, to};
    for (const Mark& m : all) {
      if (m.confidence < from || m.confidence >= to) continue;
      ++bin.n;
      bin.right += m.regime_right ? 1 : 0;
      bin.said += m.confidence;
    }
    if (bin.n > 0) bin.said /= static_cast<double>(bin.n);
    bins.push_back(bin);
  }
  return bins;
}

std::array<Mark, 3> mark_levels(const CorpusItem& item) {
  std::array<Mark, 3> out{mark(diagnosis::diagnose(item.timeline), item.label),
                          mark(diagnosis::diagnose(item.percentages), item.label),
                          mark(diagnosis::diagnose(item.throughput), item.label)};
  for (Mark& m : out) m.name = std::to_string(item.index);
  return out;
}

Marks score_cases(const core::ConfigLibrary& library) {
  Marks marks;
  const std::vector<KnownAnswer> truths = read_known_answers(library, "cases");
  for (const auto& file : case_files(library)) {
    const CaseOutcome outcome = run_case(load_case(file, library), library);
    for (const KnownAnswer& truth : truths) {
      if (truth.name != file.stem().string()) continue;
      marks.all.push_back(mark(outcome.from_timeline, truth));
      marks.all.push_back(mark(outcome.from_typed, truth));
      marks.all.back().name += " (typed)";
    }
  }
  return marks;
}

Marks score_reports(const core::ConfigLibrary& library, bool with_trials) {
  Marks marks;
  for (const KnownAnswer& truth : read_known_answers(library, "reports")) {
    diagnosis::Evidence evidence = load_evidence_file(truth.path, library);
    if (!with_trials) evidence.trials.clear();
    marks.all.push_back(mark(diagnosis::diagnose(evidence), truth));
  }
  return marks;
}

Marks score_traces(const core::ConfigLibrary& library, const std::filesystem::path& folder) {
  Marks marks;
  for (const KnownAnswer& truth : read_known_answers(library, "traces")) {
    if (!std::filesystem::exists(folder / truth.path)) continue;
    const diagnosis::TraceStudy study(folder / truth.path);
    const auto context = diagnosis::trace_context(study, truth.hw, truth.model, library);
    const diagnosis::TraceDiagnosis answer = diagnosis::diagnose_trace(study, context);
    marks.all.push_back(mark(answer.diagnosis.value_or(diagnosis::Diagnosis{}), truth));
  }
  return marks;
}

json to_json(const Marks& marks) {
  const auto n = static_cast<double>(marks.all.size());
  const auto fraction = [](std::int64_t part, double whole) {
    return whole > 0.0 ? json(static_cast<double>(part) / whole) : json(nullptr);
  };
  json out{
      {"n", marks.all.size()},
      {"regime", marks.regime()},
      {"regime_fraction", fraction(marks.regime(), n)},
      {"fix", marks.fix()},
      {"fix_judged", marks.fix_judged()},
      {"fix_fraction", fraction(marks.fix(), static_cast<double>(marks.fix_judged()))},
      {"reject", marks.reject()},
      {"reject_judged", marks.reject_judged()},
      {"reject_fraction", fraction(marks.reject(), static_cast<double>(marks.reject_judged()))},
      {"confidently_wrong", marks.confidently_wrong()},
      {"inconsistent", marks.inconsistent()},
      {"inconsistent_named", marks.inconsistent_named()}};
  if (const auto error = marks.gain_error_median()) out["gain_error_median"] = *error;
  json bins = json::array();
  for (const Marks::Bin& bin : marks.calibration()) {
    bins.push_back({{"from", bin.from},
                    {"to", bin.to},
                    {"n", bin.n},
                    {"right", bin.right},
                    {"said", bin.said}});
  }
  out["calibration"] = bins;
  out["confusion"] = marks.confusion();
  return out;
}

}  // namespace ridgeline::whatif
