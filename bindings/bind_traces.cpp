#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "bindings/register.hpp"
#include "bindings/told.hpp"
#include "diagnosis/pasted/pasted_json.hpp"
#include "diagnosis/trace_report.hpp"
#include "whatif/case.hpp"
#include "whatif/compare.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;

std::string inspect(const std::string& trace, std::size_t top) {
  return diagnosis::json_text(diagnosis::to_json(diagnosis::TraceStudy(trace), top));
}

Told diagnose_trace(const std::string& trace, const std::string& hw, const std::string& model) {
  const diagnosis::TraceStudy study(trace);
  const auto context = diagnosis::trace_context(study, hw, model, core::ConfigLibrary::standard());
  const diagnosis::TraceDiagnosis answer = diagnosis::diagnose_trace(study, context);
  std::string json = diagnosis::json_text(diagnosis::to_json(answer));
  if (!answer.diagnosis) return Told(std::move(json));
  return Told(std::move(json), answer.evidence, *answer.diagnosis, {});
}

std::string compare(const std::string& trace, const std::string& scenario,
                    const std::vector<sim::Override>& overrides) {
  const diagnosis::TraceStudy study(trace);
  const sim::Scenario opened =
      whatif::open_scenario(scenario, overrides, core::ConfigLibrary::standard());
  return whatif::to_json(whatif::compare(study, opened, std::nullopt)).dump();
}

std::string read_pasted(const std::string& text) {
  return diagnosis::to_json(diagnosis::read_pasted(text)).dump();
}

bool looks_like_trace(const std::string& path) { return diagnosis::looks_like_trace(path); }

}  // namespace

void register_traces(py::module_& m) {
  m.def("inspect", &inspect, py::arg("trace"), py::arg("top"));
  m.def("diagnose_trace", &diagnose_trace, py::arg("trace"), py::arg("hw"), py::arg("model"));
  m.def("compare", &compare, py::arg("trace"), py::arg("scenario"), py::arg("overrides"));
  m.def("read_pasted", &read_pasted, py::arg("text"));
  m.def("looks_like_trace", &looks_like_trace, py::arg("path"));
}

}  // namespace ridgeline::bindings
