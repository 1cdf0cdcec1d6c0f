#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "bindings/register.hpp"
#include "bindings/told.hpp"
#include "diagnosis/report.hpp"
#include "sim/run.hpp"
#include "sim/run_directory.hpp"
#include "whatif/case.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/exercise/deck.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;

/// JSON text crosses the border; the package turns it into dictionaries.
std::string run(const std::string& scenario, const std::vector<sim::Override>& overrides,
                const std::string& out) {
  const auto library = core::ConfigLibrary::standard();
  bool interrupted = false;
  sim::RunOptions options;
  options.progress = [&interrupted](std::size_t, std::size_t, core::Instant) {
    interrupted =
        ::PyErr_CheckSignals() != 0;  // Ctrl-C, or whatever else a handler of Python's raises
    return !interrupted;
  };
  const sim::RunResult result =
      sim::run(whatif::open_scenario(scenario, overrides, library), options);
  if (interrupted) throw py::error_already_set();
  const sim::Metrics metrics = sim::measure(result);
  const auto answer = whatif::diagnose_run(result, metrics);
  if (!out.empty()) sim::write_run_directory(result, out);
  nlohmann::ordered_json json;
  json["result"] = sim::result_json(result, metrics);
  if (answer) json["diagnosis"] = diagnosis::to_json(*answer);
  return json.dump();
}

Told diagnose(const std::string& path) {
  const auto library = core::ConfigLibrary::standard();
  const diagnosis::Evidence evidence = whatif::open_evidence(path, library);
  const diagnosis::Places places = std::filesystem::is_directory(path)
                                       ? diagnosis::Places{}
                                       : diagnosis::Places(core::load_yaml(path), library);
  const diagnosis::Diagnosis answer = diagnosis::diagnose(evidence);
  return Told(diagnosis::to_json(answer).dump(), evidence, answer, places);
}

std::string exercise(std::int64_t n, std::uint64_t seed, const std::string& source,
                     const std::string& level) {
  whatif::Deck deck({whatif::drill_source_named(source), whatif::drill_level_named(level), seed},
                    core::ConfigLibrary::standard());
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (std::int64_t i = 0; i < n; ++i) {
    if (::PyErr_CheckSignals() != 0) throw py::error_already_set();
    const auto next = deck.next();
    if (!next) break;
    items.push_back(whatif::to_json(*next, true));
  }
  return items.dump();
}

}  // namespace

void register_runs(py::module_& m) {
  py::class_<Told>(m, "Told")
      .def("json", &Told::json)
      .def("text", &Told::text)
      .def("markdown", &Told::markdown)
      .def("memo", &Told::memo)
      .def("explain", &Told::explain, py::arg("quantity"))
      .def("derivations", &Told::derivations);
  m.def("run", &run, py::arg("scenario"), py::arg("overrides"), py::arg("out"));
  m.def("diagnose", &diagnose, py::arg("evidence"));
  m.def("exercise", &exercise, py::arg("n"), py::arg("seed"), py::arg("source"), py::arg("level"));
}

}  // namespace ridgeline::bindings
