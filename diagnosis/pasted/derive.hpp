#pragma once
// What several facts say only together: means from totals, devices from the degrees of parallelism,
// tokens from blocks.

#include <vector>

#include "diagnosis/pasted/pasted.hpp"

namespace ridgeline::diagnosis::pasted {

/// Adds to `facts` what follows and nobody said.
void derive(std::vector<PastedFact>& facts);

}  // namespace ridgeline::diagnosis::pasted
