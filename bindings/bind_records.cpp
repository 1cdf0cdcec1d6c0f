#include <pybind11/stl.h>

#include <tuple>

#include "bindings/records.hpp"
#include "bindings/register.hpp"
#include "bindings/spans.hpp"
#include "hw/ledger.hpp"
#include "sim/run_result.hpp"
#include "timeline/span.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;

py::buffer_info bytes_of(const Records& records) {
  constexpr bool kReadOnly = true;
  const auto bytes = static_cast<py::ssize_t>(records.count() * records.row_bytes());
  return {
      const_cast<void*>(records.data()),  // NOLINT: Python's buffers know no const but kReadOnly
      1,
      "B",
      1,
      {bytes},
      {1},
      kReadOnly};
}

std::vector<std::tuple<std::string, std::string, std::size_t>> fields_of(const Records& records) {
  std::vector<std::tuple<std::string, std::string, std::size_t>> out;
  for (const Field& field : records.fields())
    out.emplace_back(field.name, field.format, field.offset);
  return out;
}

}  // namespace

void register_records(py::module_& m) {
  py::class_<Records>(m, "Records", py::buffer_protocol())
      .def_buffer(&bytes_of)
      .def("count", &Records::count)
      .def("row_bytes", &Records::row_bytes)
      .def("fields", &fields_of);
  py::class_<Spans, std::shared_ptr<Spans>>(m, "Spans")
      .def("kernels", &Spans::kernels)
      .def("calls", &Spans::calls)
      .def("steps", &Spans::steps)
      .def("names", &Spans::names);
  std::vector<std::string> classes(timeline::kKernelClassNames.begin(),
                                   timeline::kKernelClassNames.end());
  m.attr("KERNEL_CLASSES") = py::tuple(py::cast(classes));
  m.attr("REQUEST_STATUSES") =
      py::make_tuple(std::string(sim::name_of(sim::RequestStatus::finished)),
                     std::string(sim::name_of(sim::RequestStatus::refused)),
                     std::string(sim::name_of(sim::RequestStatus::interrupted)));
  std::vector<std::string> causes(hw::kCauseNames.begin(), hw::kCauseNames.end());
  m.attr("CAUSES") = py::tuple(py::cast(causes));
}

}  // namespace ridgeline::bindings
