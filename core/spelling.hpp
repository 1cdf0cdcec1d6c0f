#pragma once
// Names as people write them, made comparable: "X300 (SXM)" and "x300_sxm" are one, and "opt-1.3b"
// is not "opt-13b".

#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::core {

/// Letters and digits only, lower case, a space where two numbers meet.
struct Spelling {
  explicit Spelling(std::string_view written);

  std::string text;
  std::vector<bool> begins;  // of each character: whether a separator stood before it, or nothing
};

[[nodiscard]] inline std::string plain(std::string_view written) { return Spelling(written).text; }

}  // namespace ridgeline::core
