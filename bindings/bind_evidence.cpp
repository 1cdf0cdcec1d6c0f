#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "bindings/register.hpp"
#include "bindings/simulating.hpp"
#include "bindings/told.hpp"
#include "diagnosis/evidence_check.hpp"
#include "diagnosis/evidence_template.hpp"
#include "diagnosis/report.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/exercise/deck.hpp"
#include "whatif/told_evidence.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;
using unlock = py::call_guard<py::gil_scoped_release>;

Told diagnose(const std::string& path) {
  const auto library = core::ConfigLibrary::standard();
  const auto answered = [](const diagnosis::Evidence& evidence, const diagnosis::Places& places,
                           const std::vector<std::string>& notes) {
    const diagnosis::Diagnosis answer = diagnosis::diagnose(evidence);
    auto json = diagnosis::to_json(answer);
    if (!notes.empty()) json["notes"] = notes;
    return Told(json.dump(), evidence, answer, places);
  };
  if (std::filesystem::is_directory(path))
    return answered(whatif::open_evidence(path, library), {}, {});
  const diagnosis::EvidenceDocument told = whatif::open_told(path, library);
  return answered(told.evidence, {told.document, library}, told.notes);
}

std::string check_evidence(const std::string& path) {
  const auto library = core::ConfigLibrary::standard();
  const diagnosis::EvidenceDocument told = whatif::open_told(path, library);
  return diagnosis::to_json(
             diagnosis::check_evidence(told.evidence, diagnosis::Places(told.document, library)),
             told.notes)
      .dump();
}

std::string evidence_template(const std::string& machine, const std::string& model, bool training) {
  return diagnosis::evidence_template({.machine = machine, .model = model}, training);
}

std::string exercise(std::int64_t n, std::uint64_t seed, const std::string& source,
                     const std::string& level) {
  return simulating([&] {
    whatif::Deck deck({whatif::drill_source_named(source), whatif::drill_level_named(level), seed},
                      core::ConfigLibrary::standard());
    nlohmann::ordered_json items = nlohmann::ordered_json::array();
    for (std::int64_t i = 0; i < n; ++i) {
      hear_signals();
      const auto next = deck.next();
      if (!next) break;
      items.push_back(whatif::to_json(*next, true));
    }
    return items.dump();
  });
}

}  // namespace

void register_evidence(py::module_& m) {
  py::class_<Told>(m, "Told")
      .def("json", &Told::json)
      .def("text", &Told::text)
      .def("markdown", &Told::markdown)
      .def("memo", &Told::memo)
      .def("explain", &Told::explain, py::arg("quantity"))
      .def("derivations", &Told::derivations);
  m.def("diagnose", &diagnose, py::arg("evidence"), unlock());
  m.def("check_evidence", &check_evidence, py::arg("path"), unlock());
  m.def("evidence_template", &evidence_template, py::arg("machine"), py::arg("model"),
        py::arg("training"));
  m.def("exercise", &exercise, py::arg("n"), py::arg("seed"), py::arg("source"), py::arg("level"));
}

}  // namespace ridgeline::bindings
