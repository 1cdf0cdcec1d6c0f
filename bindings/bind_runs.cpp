#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "bindings/register.hpp"
#include "diagnosis/report.hpp"
#include "sim/run.hpp"
#include "sim/run_directory.hpp"
#include "whatif/case.hpp"
#include "whatif/diagnose_run.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;

/// JSON text crosses the border; the package turns it into dictionaries.
std::string run(const std::string& scenario, const std::vector<sim::Override>& overrides, const std::string& out) {
  const auto library = core::ConfigLibrary::standard();
  nlohmann::ordered_json json;
  const sim::RunResult result = sim::run(whatif::open_scenario(scenario, overrides, library));
  const sim::Metrics metrics = sim::measure(result);
  if (!out.empty()) sim::write_run_directory(result, out);
  json["result"] = sim::result_json(result, metrics);
  if (!result.steps.empty()) {
    json["diagnosis"] = diagnosis::to_json(diagnosis::diagnose(whatif::observe_run(result, metrics, whatif::telling_part(result))));
  }
  return json.dump();
}

std::string diagnose(const std::string& evidence_file) {
  return diagnosis::to_json(diagnosis::diagnose(whatif::load_evidence_file(evidence_file, core::ConfigLibrary::standard()))).dump();
}

}  // namespace

void register_runs(py::module_& m) {
  m.def("run", &run, py::arg("scenario"), py::arg("overrides"), py::arg("out"));
  m.def("diagnose", &diagnose, py::arg("evidence_file"));
}

}  // namespace ridgeline::bindings
