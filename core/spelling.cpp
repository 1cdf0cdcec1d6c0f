#include "core/spelling.hpp"

#include <cctype>

namespace ridgeline::core {

Spelling::Spelling(std::string_view written) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  bool apart = true;
  const auto add = [&](char c) {
    text += c;
    begins.push_back(apart);
  };
  for (const char c : written) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) == 0) {
      apart = true;
      continue;
    }
    if (apart && is_digit(c) && !text.empty() && is_digit(text.back())) add(' ');
    add(static_cast<char>(std::tolower(u)));
    apart = false;
  }
}

}  // namespace ridgeline::core
