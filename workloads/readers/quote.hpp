#pragma once
// Text from a file of unknown content, as an error may show it: in quotes, short, and printable
// ASCII, whatever terminal or decoder it meets.

#include <string>
#include <string_view>

namespace ridgeline::workloads {

/// The first `most` characters between quotes, with '?' for what cannot be printed.
[[nodiscard]] std::string quote(std::string_view text, std::size_t most = 40);

}  // namespace ridgeline::workloads
