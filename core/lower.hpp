#pragma once
// ASCII letters in lower case: how names in tables and files are compared.

#include <string>
#include <string_view>

namespace ridgeline::core {

/// The text with A to Z as a to z; other bytes, so other alphabets, stay.
[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace ridgeline::core
