#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "bindings/register.hpp"
#include "bindings/scenarios.hpp"
#include "bindings/simulating.hpp"
#include "bindings/spans.hpp"
#include "bindings/told.hpp"
#include "diagnosis/pasted/pasted_json.hpp"
#include "diagnosis/trace_report.hpp"
#include "whatif/compare.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;
using diagnosis::TraceStudy;
using unlock = py::call_guard<py::gil_scoped_release>;

std::shared_ptr<TraceStudy> read_trace(const std::string& path) {
  return std::make_shared<TraceStudy>(path);
}

std::string trace_json(const TraceStudy& study, std::size_t top) {
  return diagnosis::json_text(diagnosis::to_json(study, top));
}

Told diagnose_trace(const TraceStudy& study, const std::string& hw, const std::string& model) {
  const auto context = diagnosis::trace_context(study, hw, model, core::ConfigLibrary::standard());
  const diagnosis::TraceDiagnosis answer = diagnosis::diagnose_trace(study, context);
  std::string json = diagnosis::json_text(diagnosis::to_json(answer));
  if (!answer.diagnosis) return Told(std::move(json));
  return Told(std::move(json), answer.evidence, *answer.diagnosis, {});
}

std::string compare(const TraceStudy& study, const ScenarioHandle& scenario) {
  return simulating(
      [&] { return whatif::to_json(whatif::compare(study, *scenario, std::nullopt)).dump(); });
}

std::string read_pasted(const std::string& text) {
  return diagnosis::to_json(diagnosis::read_pasted(text)).dump();
}

bool looks_like_trace(const std::string& path) { return diagnosis::looks_like_trace(path); }

}  // namespace

void register_traces(py::module_& m) {
  py::class_<TraceStudy, std::shared_ptr<TraceStudy>>(m, "Trace")
      .def("json", &trace_json, py::arg("top"), unlock())
      .def("diagnose", &diagnose_trace, py::arg("hw"), py::arg("model"), unlock())
      .def("compare", &compare, py::arg("scenario"))
      .def(
          "spans", [](const TraceStudy& study) { return Spans::of(study.timeline, {}); }, unlock());
  m.def("read_trace", &read_trace, py::arg("path"), unlock());
  m.def("read_pasted", &read_pasted, py::arg("text"));
  m.def("looks_like_trace", &looks_like_trace, py::arg("path"));
}

}  // namespace ridgeline::bindings
