#include "diagnosis/markdown.hpp"

#include <algorithm>

namespace ridgeline::diagnosis::markdown {

std::string escaped(std::string_view text) {
  // A word joiner takes a person's handle or an issue's number apart; a backslash would not.
  constexpr std::string_view kWordJoiner = "\xe2\x81\xa0";
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>|~$&").find(c) != std::string_view::npos) out += '\\';
    // What begins a heading or a list is harmless elsewhere, and looks better alone.
    const bool begins = out.empty() && std::string_view("#+-=").find(c) != std::string_view::npos;
    if (begins) out += '\\';
    out += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
    if (c == '@' || (c == '#' && !begins)) out += kWordJoiner;
  }
  return out;
}

std::string code(std::string_view text) {
  std::string inside(text);
  std::replace_if(
      inside.begin(), inside.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  // As many backticks around it as it does not hold itself.
  std::string fence = "`";
  while (inside.find(fence) != std::string::npos) fence += '`';
  for (std::size_t i = 0; (i = inside.find('|', i)) != std::string::npos; i += 2)
    inside.insert(i, "\\");
  const bool apart = fence.size() > 1;
  return fence + (apart ? " " : "") + inside + (apart ? " " : "") + fence;
}

}  // namespace ridgeline::diagnosis::markdown
