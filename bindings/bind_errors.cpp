#include "bindings/register.hpp"
#include "core/error.hpp"

namespace ridgeline::bindings {

void register_errors(pybind11::module_& m) {
  pybind11::register_exception<core::ConfigError>(m, "ConfigError", PyExc_ValueError);
  pybind11::register_exception<core::SimulationError>(m, "SimulationError", PyExc_RuntimeError);
}

}  // namespace ridgeline::bindings
