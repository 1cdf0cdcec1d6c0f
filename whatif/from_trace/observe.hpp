#pragma once
// What a recorded trace, or a run's directory of our own, shows of the server behind it: machine,
// model, the batches of its steps, how it launched them, over how many devices. What it does not
// show is said in `notes` or asked for.
//
// Of a run's directory only the timeline, machine, model and the format of its KV cache are looked
// at, so that what comes out can be held against the scenario that made it. Left out: steps that
// check drafts.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "diagnosis/diagnose.hpp"
#include "sim/scenario.hpp"
#include "whatif/from_trace/step_facts.hpp"
#include "whatif/step_replay.hpp"

namespace ridgeline::whatif {

/// What the user says of a trace.
struct TraceHints {
  std::string hw;     // names or paths of configurations; empty: as the trace says
  std::string model;  // it never says
  std::string stack;  // empty: the one that explains it best
  StepHints steps;
  std::vector<sim::Override> overrides;  // of the scenario; they stand above what is fitted
};

struct TraceFacts {
  std::string file;
  std::string device;  // as the trace names it
  core::Node hw;       // references, as a scenario has them
  core::Node model;
  std::int64_t steps_in_trace = 0;
  std::string how_steps;         // were found, in a sentence
  std::vector<StepFacts> steps;  // those with a known batch; of many a sample, evenly spread
  bool graphs = false;           // pure decode steps ran as graphs
  std::int64_t tensor_parallel = 1;
  std::string kv_cache_dtype;                     // of a run's directory; no trace says it
  std::optional<diagnosis::Diagnosis> diagnosis;  // of the trace itself
  diagnosis::Evidence evidence;                   // that it is of
  std::vector<std::string> notes;
};

/// ConfigError when the trace cannot be believed, when machine or model are not known, or when no
/// step's batch is; each says which option would help.
[[nodiscard]] TraceFacts observe_trace(const std::filesystem::path& path, const TraceHints& hints,
                                       const core::ConfigLibrary& library);

}  // namespace ridgeline::whatif
