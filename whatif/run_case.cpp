#include "whatif/run_case.hpp"

#include <algorithm>

#include "diagnosis/report.hpp"
#include "sim/run.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/quantities.hpp"
#include "whatif/told_evidence.hpp"

namespace ridgeline::whatif {
namespace {

std::string first_name(const std::vector<diagnosis::Recommendation>& list) {
  return list.empty() ? "" : list.front().name;
}

}  // namespace

bool CaseOutcome::numbers_hold() const {
  return std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.holds(); });
}

bool CaseOutcome::diagnoses_agree() const {
  return from_timeline.regime == from_typed.regime && from_timeline.phase == from_typed.phase &&
         first_name(from_timeline.fixes) == first_name(from_typed.fixes) &&
         first_name(from_timeline.rejects) == first_name(from_typed.rejects);
}

CaseOutcome run_case(const Case& what, const core::ConfigLibrary& library) {
  const sim::RunResult result = sim::run(what.scenario);
  const sim::Metrics metrics = sim::measure(result);
  const timeline::Summary summary = profile(result, what.profile);
  const Measured measured{result, metrics, summary, window_of(result, what.profile)};

  CaseOutcome out;
  out.what = what;
  for (const Case::Expectation& e : what.expectations)
    out.lines.push_back({e, quantity(e.quantity).of(measured)});
  const diagnosis::Evidence typed = load_evidence_file(what.evidence_file, library);
  out.from_typed = diagnosis::diagnose(typed);
  // What somebody proposes is part of the question, not of the timeline.
  out.from_timeline =
      diagnosis::diagnose(observe_run(result, metrics, what.profile, typed.proposals));
  return out;
}

nlohmann::ordered_json to_json(const CaseOutcome& outcome) {
  nlohmann::ordered_json out;
  out["case"] = outcome.what.letter;
  out["title"] = outcome.what.title;
  for (const CaseOutcome::Line& line : outcome.lines) {
    const std::string& name = line.expected.quantity;
    out["simulated"][name] = line.simulated;
    out["expected"][name] = line.expected.value;
    out["accepted"][name] = {line.expected.accepted.low, line.expected.accepted.high};
  }
  out["given"] = outcome.what.given;
  out["free"] = nlohmann::ordered_json::array();
  for (const Case::Free& free : outcome.what.free) {
    out["free"].push_back({{"keys", free.keys}, {"value", free.value}, {"reason", free.reason}});
  }
  out["diagnosis"]["simulated"] = diagnosis::to_json(outcome.from_timeline);
  out["diagnosis"]["typed"] = diagnosis::to_json(outcome.from_typed);
  out["numbers_hold"] = outcome.numbers_hold();
  out["diagnoses_agree"] = outcome.diagnoses_agree();
  return out;
}

}  // namespace ridgeline::whatif
