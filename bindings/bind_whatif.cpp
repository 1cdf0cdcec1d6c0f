#include <pybind11/stl.h>

#include <nlohmann/json.hpp>

#include "bindings/register.hpp"
#include "bindings/scenarios.hpp"
#include "bindings/simulating.hpp"
#include "core/error.hpp"
#include "whatif/experiment.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;

whatif::ExperimentOptions hearing_signals(bool each) {
  whatif::ExperimentOptions options;
  options.each = each;
  options.progress = [](const std::string&) {
    hear_signals();
    return true;
  };
  return options;
}

/// Only `progress` could leave none, and it throws instead.
std::string told(const std::optional<whatif::Experiment>& experiment) {
  return to_json(experiment.value()).dump();
}

std::string what_if(const ScenarioHandle& scenario, const std::vector<std::string>& changes,
                    bool each) {
  return simulating([&] {
    return told(whatif::what_if(*scenario, changes, core::ConfigLibrary::standard(),
                                hearing_signals(each)));
  });
}

std::string verify_diagnosis(const ScenarioHandle& scenario) {
  return simulating([&] {
    return told(whatif::verify_diagnosis(*scenario, core::ConfigLibrary::standard(),
                                         hearing_signals(false)));
  });
}

/// Name, argument, meaning.
std::vector<std::vector<std::string>> levers() {
  std::vector<std::vector<std::string>> out;
  for (const whatif::Lever& lever : whatif::levers())
    out.push_back(
        {std::string(lever.name), std::string(lever.argument), std::string(lever.meaning)});
  for (const whatif::Intervention& fix : whatif::interventions()) {
    if (fix.overrides != nullptr) out.push_back({std::string(fix.fix), "", std::string(fix.how)});
  }
  return out;
}

}  // namespace

void register_whatif(py::module_& m) {
  m.def("what_if", &what_if, py::arg("scenario"), py::arg("changes"), py::arg("each"));
  m.def("verify_diagnosis", &verify_diagnosis, py::arg("scenario"));
  m.def("levers", &levers);
}

}  // namespace ridgeline::bindings
