#pragma once
// Which shipped stack explains a trace's kernels best, and which of its fusions the trace has not
// or has besides. Two measures, added: kernels that one side has and the other has not, by class,
// over the recorded ones; and the same of their time. Stacks that are alike in these are told apart
// by the length of whole steps: their hosts differ.

#include "whatif/from_trace/draft.hpp"
#include "whatif/from_trace/fit.hpp"

namespace ridgeline::whatif {

struct StackScore {
  std::string name;
  double kernels_off = 0.0;  // kernels amiss, over those recorded
  double time_off = 0.0;     // likewise their time
  double step_off = 0.0;     // of the steps' lengths, median
  std::string cannot_run;    // why it is no candidate on this machine
  [[nodiscard]] double off() const { return kernels_off + time_off; }
};

/// A fusion that was set otherwise than the stack has it.
struct SwitchedFusion {
  std::string key;
  std::string before;
  std::string after;
  double kernels_off_before = 0.0;
  double kernels_off_after = 0.0;
};

struct StackChoice {
  Draft draft;
  std::vector<StackScore> scores;  // best first
  std::vector<SwitchedFusion> switches;
};

/// `steps` to look at; `only` names the one candidate, if not empty. ConfigError when no stack can
/// be simulated on this machine with this model, with the reason of the nearest.
[[nodiscard]] StackChoice choose_stack(const TraceFacts& facts, const std::vector<StepFacts>& steps,
                                       const std::string& only,
                                       const std::vector<sim::Override>& overrides,
                                       const core::ConfigLibrary& library);

/// How far simulated steps are from recorded ones.
[[nodiscard]] StackScore score_of(const std::vector<StepFacts>& real,
                                  const std::vector<StepFacts>& simulated);

}  // namespace ridgeline::whatif
