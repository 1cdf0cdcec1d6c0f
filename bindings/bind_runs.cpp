#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "bindings/register.hpp"
#include "bindings/roofs.hpp"
#include "bindings/run_fields.hpp"
#include "bindings/scenarios.hpp"
#include "bindings/simulating.hpp"
#include "bindings/spans.hpp"
#include "bindings/told.hpp"
#include "bindings/write_trace.hpp"
#include "diagnosis/report.hpp"
#include "sim/metrics.hpp"
#include "sim/run.hpp"
#include "sim/run_directory.hpp"
#include "sim/run_timeline.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/run_case.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;
using unlock = py::call_guard<py::gil_scoped_release>;

/// What a run left behind, kept alive by whoever looks into it.
class Run {
 public:
  explicit Run(sim::RunResult result)
      : result_(std::make_shared<const sim::RunResult>(std::move(result))),
        metrics_(sim::measure(*result_)) {}

  [[nodiscard]] const Result& result() const { return result_; }
  [[nodiscard]] std::string json() const { return sim::result_json(*result_, metrics_).dump(); }
  [[nodiscard]] std::string scenario_yaml() const {
    return core::to_yaml(result_->scenario.document);
  }

  /// Computed once; nothing for a run without a step.
  [[nodiscard]] std::optional<Told> diagnosis() {
    const std::lock_guard lock(diagnosing_);
    if (!diagnosed_) {
      if (!result_->steps.empty()) {
        const auto evidence =
            whatif::observe_run(*result_, metrics_, whatif::telling_part(*result_));
        diagnosis::Diagnosis answer = diagnosis::diagnose(evidence);
        told_.emplace(diagnosis::to_json(answer).dump(), evidence, answer, diagnosis::Places{});
      }
      diagnosed_ = true;
    }
    return told_;
  }

  void save(const std::string& directory) const { sim::write_run_directory(*result_, directory); }

 private:
  Result result_;
  sim::Metrics metrics_;
  std::mutex diagnosing_;
  bool diagnosed_ = false;
  std::optional<Told> told_;
};
using RunHandle = std::shared_ptr<Run>;

/// (requests answered, requests in all or 0, simulated seconds)
using ProgressCall = std::function<void(std::size_t, std::size_t, double)>;

RunHandle run(const ScenarioHandle& scenario, const std::optional<ProgressCall>& progress) {
  return simulating([&] {
    std::exception_ptr raised;  // what a handler of Python's or the caller's function raised
    sim::RunOptions options;
    options.progress = [&](std::size_t answered, std::size_t in_all, core::Instant now) {
      try {
        hear_signals();
        if (progress) (*progress)(answered, in_all, now.since_start().value());
      } catch (...) {
        raised = std::current_exception();
      }
      return raised == nullptr;
    };
    sim::RunResult result = sim::run(*scenario, options);
    if (raised) std::rethrow_exception(raised);
    return std::make_shared<Run>(std::move(result));
  });
}

RunHandle load_run(const std::string& directory) {
  return std::make_shared<Run>(sim::read_run_directory(directory, core::ConfigLibrary::standard()));
}

std::string cases(const std::vector<std::string>& letters) {
  return simulating([&] {
    const auto library = core::ConfigLibrary::standard();
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const whatif::Case& what : whatif::chosen_cases(letters, library)) {
      hear_signals();
      json.push_back(whatif::to_json(whatif::run_case(what, library)));
    }
    return json.dump();
  });
}

}  // namespace

void register_runs(py::module_& m) {
  py::class_<Run, RunHandle>(m, "Run")
      .def("json", &Run::json)
      .def("scenario_yaml", &Run::scenario_yaml)
      .def("roofs", [](const Run& r) { return roofs_json(r.result()->scenario.gpu); })
      .def("diagnosis", &Run::diagnosis, unlock())
      .def("save", &Run::save, py::arg("directory"), unlock())
      .def("requests", [](const Run& r) { return request_records(r.result()); })
      .def("steps", [](const Run& r) { return step_records(r.result()); })
      .def("counters", [](const Run& r) { return counter_records(r.result()); })
      .def("token_gaps", [](const Run& r) { return token_gap_records(r.result()); })
      .def(
          "spans",
          [](const Run& r, double begin_s, double end_s) {
            return Spans::of(sim::RunTimeline(*r.result()), window_between(begin_s, end_s));
          },
          py::arg("begin_s"), py::arg("end_s"), unlock())
      .def(
          "write_trace",
          [](const Run& r, const std::string& path, const std::string& format, double begin_s,
             double end_s) {
            write_trace(*r.result(), path, format, window_between(begin_s, end_s));
          },
          py::arg("path"), py::arg("format"), py::arg("begin_s"), py::arg("end_s"), unlock());
  m.def("run", &run, py::arg("scenario"), py::arg("progress"));
  m.def("load_run", &load_run, py::arg("directory"), unlock());
  m.def("cases", &cases, py::arg("letters"));
}

}  // namespace ridgeline::bindings
