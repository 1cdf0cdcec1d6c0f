#pragma once
// What somebody could know of a run, at three depths:
//
//   throughput    machine, model, how it is served, and what a benchmark prints
//   percentages   besides, what a profiler and the server's own gauges show, rounded as people
//   type:
//                 counters, kernel shares or busy time, KV cache in use, requests waiting
//   timeline      everything that a timeline tells, exactly
//
// The first two are text, read back like any other typed evidence.

#include <string>

#include "diagnosis/evidence.hpp"
#include "sim/metrics.hpp"
#include "whatif/corpus/servers.hpp"
#include "whatif/objective.hpp"

namespace ridgeline::whatif {

struct RunView {
  const Server& server;
  const sim::RunResult& result;
  const sim::Metrics& metrics;
  const diagnosis::Evidence& timeline;  // of the steps that say most about the run
};

[[nodiscard]] std::string typed_throughput(const RunView& view);
/// Which of the profiler's numbers somebody looked at is drawn.
[[nodiscard]] std::string typed_percentages(const RunView& view, Draw& draw);

}  // namespace ridgeline::whatif
