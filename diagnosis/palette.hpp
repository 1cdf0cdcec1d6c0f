#pragma once
// Colours of a diagnosis on a terminal: the escape sequences of ECMA-48, the eight colours that
// every terminal has. Without them a text is the same to the byte. Whether a terminal is there is
// for whoever prints to know.

#include <array>
#include <string>
#include <string_view>

#include "diagnosis/time_budget.hpp"

namespace ridgeline::diagnosis {

class Palette {
 public:
  explicit Palette(bool coloured = false) : coloured_(coloured) {}

  [[nodiscard]] std::string head(std::string_view text) const { return painted("1", text); }
  [[nodiscard]] std::string alarm(std::string_view text) const { return painted("31", text); }
  /// The same colour for a cause in every diagnosis.
  [[nodiscard]] std::string of(Cause cause, std::string_view text) const {
    constexpr std::array<std::string_view, kCauses> kCodes{"34", "35", "33", "31",
                                                           "36", "32", "92", "90"};
    return painted(kCodes[static_cast<std::size_t>(cause)], text);
  }

 private:
  /// Each line by itself, so that a pager may begin at any.
  [[nodiscard]] std::string painted(std::string_view code, std::string_view text) const {
    if (!coloured_) return std::string(text);
    std::string out;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      if (!line.empty()) {
        out.append("\x1b[").append(code).append("m").append(line).append("\x1b[0m");
      }
      if (end == std::string_view::npos) break;
      out += '\n';
      text.remove_prefix(end + 1);
    }
    return out;
  }

  bool coloured_;
};

}  // namespace ridgeline::diagnosis
