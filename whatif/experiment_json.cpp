#include <string>

#include "diagnosis/report.hpp"
#include "whatif/experiment.hpp"
#include "whatif/figures.hpp"

namespace ridgeline::whatif {
namespace {

using Json = nlohmann::ordered_json;

Json variant_json(const Variant& v) {
  Json out;
  out["name"] = v.name;
  out["overrides"] = Json::object();
  for (const auto& [key, value] : v.overrides) out["overrides"][key] = value;
  if (!v.ran()) {
    out["cannot_run"] = v.cannot_run;
    return out;
  }
  out["gain"] = v.gain;
  for (std::size_t i = 0; i < v.figures.size(); ++i)
    out["figures"][std::string(figures()[i].name)] = v.figures[i] ? Json(*v.figures[i]) : Json();
  for (std::size_t i = 0; i < hw::kCauses; ++i)
    out["ledger_ns"][std::string(hw::kCauseNames[i])] = v.ledger.by_cause[i].count;
  out["ledger_ns"]["idle"] = v.idle.count;
  out["ledger_is_of"] = v.units;
  if (v.diagnosis) out["diagnosis"] = diagnosis::to_json(*v.diagnosis);
  return out;
}

}  // namespace

nlohmann::ordered_json to_json(const Prediction& p) {
  Json out;
  out["variant"] = p.variant;
  out["fix"] = p.fix;
  out["place"] = p.place;
  out["speedup"] = {p.speedup.low, p.speedup.high};
  out["measured"] = p.measured ? Json(*p.measured) : Json();
  out["holds"] = p.judged ? Json(p.holds()) : Json();
  out["why"] = p.why;
  if (!p.note.empty()) out["note"] = p.note;
  return out;
}

nlohmann::ordered_json to_json(const Experiment& experiment) {
  Json out;
  out["scenario"] = experiment.scenario;
  out["objective"] = name_of(experiment.objective);
  out["variants"] = Json::array();
  for (const Variant& v : experiment.variants) out["variants"].push_back(variant_json(v));
  out["predictions"] = Json::array();
  for (const Prediction& p : experiment.predictions) out["predictions"].push_back(to_json(p));
  return out;
}

}  // namespace ridgeline::whatif
