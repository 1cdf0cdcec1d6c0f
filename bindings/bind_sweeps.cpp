#include <pybind11/stl.h>

#include <limits>

#include "bindings/register.hpp"
#include "bindings/simulating.hpp"
#include "sim/metrics.hpp"
#include "whatif/figures.hpp"
#include "whatif/scenario_runs.hpp"

namespace ridgeline::bindings {
namespace {

namespace py = pybind11;
using Overrides = std::vector<sim::Override>;
using Levers = std::vector<std::string>;

/// Ctrl-C, or whatever else a handler of Python's raises, ends a run.
sim::RunOptions hearing_signals() {
  sim::RunOptions options;
  options.progress = [](std::size_t, std::size_t, core::Instant) {
    hear_signals();
    return true;
  };
  return options;
}

py::object or_none(const std::string& text) {
  return text.empty() ? py::object(py::none()) : py::str(text);
}

/// Every figure by its name, then regime, confidence, error and scenario; None where there is none.
py::dict row(const whatif::ScenarioRuns& runs, const Overrides& point, const Levers& levers,
             bool diagnose) {
  const whatif::SweepRow answer =
      simulating([&] { return runs.row(point, levers, diagnose, hearing_signals()); });
  py::dict out;
  std::size_t i = 0;
  for (const whatif::Figure& figure : whatif::figures())
    out[py::str(figure.name.data(), figure.name.size())] = py::cast(answer.figures[i++]);
  out["regime"] = or_none(answer.regime);
  out["confidence"] = py::cast(answer.confidence);
  out["error"] = or_none(answer.error);
  out["scenario"] = or_none(answer.scenario);
  out["wall_seconds"] = answer.wall_seconds;
  return out;
}

/// Of the requests of a run, in the order of their ids, in seconds, as the bytes of doubles; of one
/// that was not finished, NaN. Refused ones are left out. And how many copies of the server share
/// the load.
py::dict requests(const whatif::ScenarioRuns& runs, const Overrides& point) {
  sim::RunResult result =
      simulating([&] { return sim::run(runs.scenario(point), hearing_signals()); });
  std::erase_if(result.requests, [](const sim::RequestRecord& r) {
    return r.status == sim::RequestStatus::refused;
  });
  const auto column = [&](auto of) {
    std::vector<double> cells;
    cells.reserve(result.requests.size());
    for (const sim::RequestRecord& r : result.requests)
      cells.push_back(r.status == sim::RequestStatus::finished
                          ? of(r)
                          : std::numeric_limits<double>::quiet_NaN());
    return py::bytes(reinterpret_cast<const char*>(cells.data()), cells.size() * sizeof(double));
  };
  using Record = const sim::RequestRecord&;
  py::dict out;
  out["arrival"] = column([](Record r) { return r.arrival.since_start().value(); });
  out["queue"] = column([](Record r) { return r.queue().seconds().value(); });
  out["ttft"] = column([](Record r) { return r.ttft().seconds().value(); });
  out["tpot"] = column([](Record r) {
    return r.output_tokens > 1 ? r.tpot().value() : std::numeric_limits<double>::quiet_NaN();
  });
  out["e2el"] = column([](Record r) { return r.e2e().seconds().value(); });
  out["output_tokens"] = column([](Record r) { return static_cast<double>(r.output_tokens); });
  out["copies"] = result.scenario.engine.data_parallel_size;
  return out;
}

/// Of overrides alone where there is no base.
whatif::ScenarioRuns open(const std::optional<std::string>& base, const Overrides& overrides) {
  const auto library = core::ConfigLibrary::standard();
  if (base) return whatif::ScenarioRuns::open(*base, overrides, library);
  whatif::UnreadScenario nothing{{}, overrides};
  nothing.document.kind = core::Node::Kind::map;
  nothing.document.position.file = std::make_shared<std::string>("scenario");
  return whatif::ScenarioRuns::open(std::move(nothing), library);
}

std::vector<py::tuple> figures() {
  std::vector<py::tuple> out;
  constexpr const char* kBetter[] = {"higher", "lower", "neither"};
  for (const whatif::Figure& f : whatif::figures())
    out.push_back(py::make_tuple(f.name, f.unit, f.meaning, kBetter[static_cast<int>(f.better)]));
  return out;
}

}  // namespace

void register_sweeps(py::module_& m) {
  using whatif::ScenarioRuns;
  py::class_<ScenarioRuns>(m, "ScenarioRuns", "One scenario, run many times with other values.")
      .def_static(
          "read",
          [](const std::string& document, const Overrides& overrides) {
            return ScenarioRuns(document, overrides, core::ConfigLibrary::standard());
          },
          py::arg("document"), py::arg("overrides"))
      .def_static("open", &open, py::arg("base"), py::arg("overrides"))
      .def_static("figures", &figures)
      .def("document", &ScenarioRuns::document)
      .def("overrides", &ScenarioRuns::overrides)
      .def(
          "check",
          [](const ScenarioRuns& runs, const Overrides& point, const Levers& levers) {
            static_cast<void>(runs.scenario(point, levers));
          },
          py::arg("overrides"), py::arg("levers"))
      .def("row", &row, py::arg("overrides"), py::arg("levers"), py::arg("diagnose"))
      .def("requests", &requests, py::arg("overrides"))
      .def("leaves", &ScenarioRuns::leaves, py::arg("overrides"));
}

}  // namespace ridgeline::bindings
