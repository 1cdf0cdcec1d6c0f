#pragma once
// What was fitted to a trace, for people: how well it agrees, number by number, and what changes
// would do.

#include <string>

#include "whatif/from_trace/from_trace.hpp"

namespace ridgeline::cli {

/// Every figure of a served scenario where `all`.
[[nodiscard]] std::string to_text(const whatif::FromTrace& answer, bool all);

}  // namespace ridgeline::cli
