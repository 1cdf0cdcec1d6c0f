#pragma once
// How the lines of a ledger came to be once it is closed. Closing writes to lines: one takes what
// the others leave, or all give way, and every line's bounds are cut to what the total leaves
// beside the others. That is arithmetic too, and here it joins the derivations of the lines'
// values.

#include "diagnosis/time_budget.hpp"

namespace ridgeline::diagnosis {

/// Changes no number. Lines that nobody wrote to are left as they are.
void leave_trail(TimeBudget& budget);

}  // namespace ridgeline::diagnosis
