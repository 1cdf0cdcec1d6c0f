#pragma once
// Fits a drafted scenario to the steps of a trace, in three passes, few numbers each:
//
//   kernels   stack.efficiency.time of a group: the median of real over simulated time, step by
//             step. Never below what bytes and FLOP take at the machine's peak; where that binds,
//             the trace's kernels move or compute less than the model says.
//   launches  stack.launch.*: from one launch call to the next, from a call to its kernel on an
//   idle
//             device, from a queued kernel to the next
//   host      what then is missing of a step's length, the same for every step
//
// Every other step with a known batch is held back, of steps with prefills and of those without: no
// number is fitted to it, and errors are given for those and for the others. Left out: how a
// group's factor depends on the batch, and the host's work that hides behind the device, which no
// trace shows.

#include <nlohmann/json.hpp>

#include "whatif/from_trace/choose_stack.hpp"
#include "whatif/from_trace/fitted_value.hpp"

namespace ridgeline::whatif {

struct Agreement {
  std::vector<ErrorRow> fitted;
  std::vector<ErrorRow> held_back;  // empty where there was but one step
};

struct Calibration {
  StackChoice choice;  // its draft is the fitted scenario
  std::vector<FittedValue> values;
  std::size_t fitted_steps = 0;
  std::size_t held_back_steps = 0;
  Agreement before;  // the stack as it is shipped
  Agreement after;
  std::vector<ClassRow> classes_before;  // of all steps
  std::vector<ClassRow> classes_after;
  std::vector<std::string> notes;  // what no number explains
};

[[nodiscard]] Calibration calibrate(const TraceFacts& facts, const TraceHints& hints,
                                    const core::ConfigLibrary& library);

[[nodiscard]] nlohmann::ordered_json to_json(const Calibration& calibration);

}  // namespace ridgeline::whatif
