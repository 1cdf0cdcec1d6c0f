#include "diagnosis/report.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::diagnosis {
namespace {

using json = nlohmann::ordered_json;

json number(double x) { return std::isfinite(x) ? json(x) : json(nullptr); }

json recommendations(const std::vector<Recommendation>& list) {
  json out = json::array();
  for (const Recommendation& r : list) {
    out.push_back({{"name", r.name},
                   {"speedup_low", number(r.speedup.low)},
                   {"speedup_high", number(r.speedup.high)},
                   {"why", r.why}});
  }
  return out;
}

}  // namespace

nlohmann::ordered_json to_json(const Diagnosis& d) {
  json evidence = json::array();
  for (const Finding& f : d.settling_evidence) {
    evidence.push_back({{"statement", f.statement},
                        {"value", number(f.value)},
                        {"unit", f.unit},
                        {"origin", name_of(f.origin)}});
  }
  json ledger = json::array();
  if (d.time_budget) {
    const TimeBudget& budget = *d.time_budget;
    for (const Line& line : budget.lines) {
      const core::Interval& t = line.time.interval;
      const auto seconds = [&](double x) { return budget.in_seconds ? number(x) : json(nullptr); };
      ledger.push_back({{"part", line.part},
                        {"seconds", seconds(line.time.best)},
                        {"seconds_low", seconds(t.low)},
                        {"seconds_high", seconds(t.high)},
                        {"share", number(line.time.best / budget.total.best)},
                        {"share_low", number(std::clamp(t.low / budget.total.best, 0.0, 1.0))},
                        {"share_high", number(std::clamp(t.high / budget.total.best, 0.0, 1.0))}});
    }
  }
  json contradictions = json::array();
  for (const Inconsistency& i : d.inconsistencies) {
    contradictions.push_back({{"quantity", i.quantity},
                              {"one_road", number(i.one_road.best)},
                              {"other_road", number(i.other_road.best)},
                              {"unit", i.unit},
                              {"reading", i.reading},
                              {"explained", i.explained}});
  }
  return {{"regime", name_of(d.regime)},
          {"phase", name_of(d.phase)},
          {"confidence", number(d.confidence)},
          {"settling_evidence", evidence},
          {"time_budget", ledger},
          {"fixes", recommendations(d.fixes)},
          {"rejects", recommendations(d.rejects)},
          {"inconsistencies", contradictions},
          {"question", d.question}};
}

}  // namespace ridgeline::diagnosis
