#pragma once
// What reshapes a closed ledger beyond the step's own times: what each kernel takes however little
// it does, collectives inside busy time that no table tells apart, and clues (diagnosis/clues.hpp).

#include "diagnosis/time_budget.hpp"

namespace ridgeline::diagnosis {

/// The lines still add up to the total; their bounds may have to be tightened.
void reshape(TimeBudget& budget, const Evidence& evidence, const Work& work,
             const std::vector<Clue>& clues);

}  // namespace ridgeline::diagnosis
