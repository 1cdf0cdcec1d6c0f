#include "bindings/register.hpp"
#include "core/error.hpp"

namespace ridgeline::bindings {

void register_errors(pybind11::module_& m) {
  pybind11::register_exception<core::ConfigError>(m, "ConfigError", PyExc_ValueError)
      .attr("__doc__") =
      "The input is wrong. The message says where it stands, what was expected and what was found.";
  pybind11::register_exception<core::SimulationError>(m, "SimulationError", PyExc_RuntimeError)
      .attr("__doc__") =
      "The input is well formed but cannot run, like a model that does not fit in memory. The "
      "message says why.";
}

}  // namespace ridgeline::bindings
