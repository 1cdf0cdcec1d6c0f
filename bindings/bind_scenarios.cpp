#include <pybind11/stl.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bindings/register.hpp"
#include "bindings/roofs.hpp"
#include "bindings/scenarios.hpp"
#include "core/error.hpp"
#include "whatif/case.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;

/// A word as it stands in YAML, as Python has it: what is a number in JSON is one, true and false
/// are, all else is text.
nlohmann::ordered_json plain_value(const core::Node& scalar) {
  if (scalar.quoted) return scalar.scalar;
  auto value = nlohmann::ordered_json::parse(scalar.scalar, nullptr, false);
  if (value.is_number() || value.is_boolean()) return value;
  return scalar.scalar;
}

nlohmann::ordered_json to_json(const core::Node& node) {
  switch (node.kind) {
    case core::Node::Kind::null:
      return nullptr;
    case core::Node::Kind::scalar:
      return plain_value(node);
    case core::Node::Kind::list: {
      auto out = nlohmann::ordered_json::array();
      for (const core::Node& item : node.items) out.push_back(to_json(item));
      return out;
    }
    case core::Node::Kind::map: {
      auto out = nlohmann::ordered_json::object();
      for (const auto& [key, value] : node.entries) out[key] = to_json(value);
      return out;
    }
  }
  throw core::InvariantError("unknown kind of node");
}

std::vector<std::string> names(const std::string& kind) {
  return core::ConfigLibrary::standard().names(kind);
}

}  // namespace

ScenarioHandle open_scenario(const std::optional<std::string>& base,
                             const std::vector<sim::Override>& overrides) {
  const auto library = core::ConfigLibrary::standard();
  if (base)
    return std::make_shared<sim::Scenario>(whatif::open_scenario(*base, overrides, library));
  core::Node nothing;
  nothing.kind = core::Node::Kind::map;
  nothing.position.file = std::make_shared<std::string>("scenario");
  return std::make_shared<sim::Scenario>(sim::read_scenario(nothing, overrides, library));
}

void register_scenarios(py::module_& m) {
  py::class_<sim::Scenario, ScenarioHandle>(m, "Scenario")
      .def("name", [](const sim::Scenario& s) { return s.name; })
      .def("gpu", [](const sim::Scenario& s) { return s.gpu.name; })
      .def("model", [](const sim::Scenario& s) { return s.model.name; })
      .def("stack", [](const sim::Scenario& s) { return s.stack.name; })
      .def("roofs", [](const sim::Scenario& s) { return roofs_json(s.gpu); })
      .def("yaml", [](const sim::Scenario& s) { return core::to_yaml(s.document); })
      .def("json", [](const sim::Scenario& s) { return to_json(s.document).dump(); });
  m.def("open_scenario", &open_scenario, py::arg("base"), py::arg("overrides"));
  m.def("names", &names, py::arg("kind"));
  m.def("suggestion", &core::suggestion, py::arg("word"), py::arg("known"));
}

}  // namespace ridgeline::bindings
