#pragma once
// A quantity of evidence as somebody would have written it: "14 %" and not 13.5 to 14.5 %, "6 to
// 30 us", "about 40 GB". The shortest text that reads back with the same doubt is taken.

#include <string>

#include "core/quantity_text.hpp"

namespace ridgeline::whatif {

/// `counted` stands before the stroke of a rate: "36 tokens/s".
[[nodiscard]] std::string as_written(core::Interval value, core::Dimension dimension,
                                     std::string_view counted = "");

}  // namespace ridgeline::whatif
