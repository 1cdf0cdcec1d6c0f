#include <pybind11/stl.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "bindings/register.hpp"
#include "bindings/simulating.hpp"
#include "fidelity/calibrate.hpp"
#include "fidelity/predict.hpp"
#include "fidelity/validate_files.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;
using unlock = py::call_guard<py::gil_scoped_release>;

std::optional<std::string> given(const std::string& name) {
  return name.empty() ? std::nullopt : std::optional<std::string>(name);
}

std::vector<std::filesystem::path> paths_of(const std::vector<std::string>& paths) {
  return {paths.begin(), paths.end()};
}

/// A table as CSV text crosses the border both ways.
std::string predict_table(const fidelity::Operation& operation, const fidelity::Table& table,
                          const std::string& hw) {
  const auto library = core::ConfigLibrary::standard();
  fidelity::Machines machines(library, given(hw));
  std::ostringstream out;
  fidelity::predict(operation, table, machines, out);
  return out.str();
}

std::string predict_file(const std::string& operation, const std::string& path,
                         const std::string& hw) {
  return predict_table(fidelity::operation_named(operation), fidelity::load_table(path), hw);
}

std::string predict_text(const std::string& operation, const std::string& text,
                         const std::string& hw) {
  return predict_table(fidelity::operation_named(operation), fidelity::parse_table(text, "table"),
                       hw);
}

std::string validate(const std::vector<std::string>& paths, const std::string& hw,
                     const std::string& scenario) {
  return simulating([&] {
    const auto groups =
        fidelity::validate_files(paths_of(paths), core::ConfigLibrary::standard(), given(hw),
                                 given(scenario), [](std::size_t, std::size_t) {
                                   hear_signals();
                                   return true;
                                 });
    return fidelity::to_json(groups).dump();
  });
}

std::string calibrate(const std::vector<std::string>& paths, const std::string& hw,
                      const std::string& only, bool every_row) {
  const auto library = core::ConfigLibrary::standard();
  fidelity::Calibrator calibrator(library, hw, every_row);
  calibrator.add_files(paths_of(paths));
  const auto calibrations = calibrator.run(only);
  nlohmann::ordered_json json;
  json["places"] = fidelity::to_json(calibrations);
  json["machine"] = core::to_yaml(calibrator.overlay(calibrations));
  return json.dump();
}

}  // namespace

void register_measurements(py::module_& m) {
  m.def("predict_file", &predict_file, py::arg("operation"), py::arg("path"), py::arg("hw"),
        unlock());
  m.def("predict_text", &predict_text, py::arg("operation"), py::arg("text"), py::arg("hw"),
        unlock());
  m.def("validate", &validate, py::arg("paths"), py::arg("hw"), py::arg("scenario"));
  m.def("calibrate", &calibrate, py::arg("paths"), py::arg("hw"), py::arg("only"),
        py::arg("every_row"), unlock());
}

}  // namespace ridgeline::bindings
