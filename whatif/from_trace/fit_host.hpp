#pragma once
// What the host adds to a step: the recorded steps' lengths less the simulated ones, the median.
// Last of the fits, so it also takes what nothing else explains, and is named as that. Whether host
// work hides behind the device, and how much, no trace says: the stack's own is kept where it does
// not show.

#include "whatif/from_trace/draft.hpp"
#include "whatif/from_trace/fitted_value.hpp"

namespace ridgeline::whatif {

void fit_host(const std::vector<StepFacts>& steps, const core::ConfigLibrary& library, Draft& draft,
              std::vector<FittedValue>& values, std::vector<std::string>& notes);

}  // namespace ridgeline::whatif
