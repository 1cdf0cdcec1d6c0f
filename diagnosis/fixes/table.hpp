#pragma once
// Every fix the diagnosis knows.

#include <span>

#include "diagnosis/fixes/fix.hpp"

namespace ridgeline::diagnosis {

[[nodiscard]] std::span<const Fix* const> all_fixes();
/// The fix of that name, or nullptr.
[[nodiscard]] const Fix* find_fix(std::string_view name);
[[nodiscard]] std::vector<std::string> fix_names();

}  // namespace ridgeline::diagnosis
