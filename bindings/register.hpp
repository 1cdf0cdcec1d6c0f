#pragma once
// What the module consists of: one function a concept, each in a file of its own.

#include <pybind11/pybind11.h>

namespace ridgeline::bindings {

void register_errors(pybind11::module_& m);
void register_program(pybind11::module_& m);
void register_evidence(pybind11::module_& m);
void register_measurements(pybind11::module_& m);
void register_records(pybind11::module_& m);
void register_scenarios(pybind11::module_& m);
void register_runs(pybind11::module_& m);
void register_sweeps(pybind11::module_& m);
void register_whatif(pybind11::module_& m);
void register_traces(pybind11::module_& m);

}  // namespace ridgeline::bindings
