#pragma once
// What launching kernels cost, read off the steps of a trace: the times of stack.launch. A step
// that is recorded with other kernels than are simulated keeps its sums: its launches' time is
// spread over the simulated ones. Left out: queue_depth and blocking, which a trace shows only when
// they bind, and the shortest kernel, which the factors of the kernels hold.

#include "whatif/from_trace/draft.hpp"
#include "whatif/from_trace/fitted_value.hpp"

namespace ridgeline::whatif {

void fit_launches(const std::vector<StepFacts>& steps, const core::ConfigLibrary& library,
                  Draft& draft, std::vector<FittedValue>& values);

}  // namespace ridgeline::whatif
