#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/simulating.hpp"
#include "cli/program.hpp"
#include "core/config_library.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;

int program(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return simulating([&] { return cli::program(static_cast<int>(arguments.size()), argv.data()); });
}

}  // namespace

void register_program(py::module_& m) {
  m.attr("__version__") = RIDGELINE_VERSION;
  m.def("main", &program, py::arg("argv"));
  m.def(
      "install_configs", [](const std::string& root) { core::ConfigLibrary::install(root); },
      py::arg("root"));
  m.def("configs", [] { return core::ConfigLibrary::standard().root().string(); });
}

}  // namespace ridgeline::bindings
