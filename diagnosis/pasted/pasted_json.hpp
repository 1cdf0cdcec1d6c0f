#pragma once
// What was read of pasted text as JSON, for programs.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "diagnosis/pasted/pasted.hpp"

namespace ridgeline::diagnosis {

/// {"facts": [{key, value, line, line_number, format}], "kernels": [{name, calls, seconds,
/// line_number}], "unread": [...], "notes": [...]}
[[nodiscard]] nlohmann::ordered_json to_json(const Pasted& pasted);

/// Pasted text may hold bytes of any encoding: this is UTF-8, without control characters.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace ridgeline::diagnosis
