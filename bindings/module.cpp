#include <pybind11/pybind11.h>

#include "bindings/register.hpp"

PYBIND11_MODULE(_core, m) {
  m.doc() = "Ridgeline's C++ core. Import `ridgeline`, not this.";
  ridgeline::bindings::register_errors(m);
  ridgeline::bindings::register_program(m);
  ridgeline::bindings::register_evidence(m);
  ridgeline::bindings::register_measurements(m);
  ridgeline::bindings::register_records(m);
  ridgeline::bindings::register_scenarios(m);
  ridgeline::bindings::register_runs(m);
  ridgeline::bindings::register_sweeps(m);
  ridgeline::bindings::register_traces(m);
  ridgeline::bindings::register_whatif(m);
}
