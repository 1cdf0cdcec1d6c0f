#pragma once
// Whether text is UTF-8 (RFC 3629), and where it stops being so.

#include <cstddef>
#include <string_view>

namespace ridgeline::core {

/// Index of the first byte that belongs to no UTF-8 character; the text's size when there is none.
[[nodiscard]] std::size_t first_byte_not_utf8(std::string_view text);

}  // namespace ridgeline::core
