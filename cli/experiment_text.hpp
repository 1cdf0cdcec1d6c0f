#pragma once
// A what-if for people: figures side by side, the lines of the ledger that moved, what binds now,
// and what the diagnosis had said beside what came of it.

#include <string>

#include "whatif/experiment.hpp"

namespace ridgeline::cli {

/// Every figure where `all`, else those that people compare.
[[nodiscard]] std::string to_text(const whatif::Experiment& experiment, bool all);

}  // namespace ridgeline::cli
