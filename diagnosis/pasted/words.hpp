#pragma once
// Finding words and numbers in a line.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::diagnosis::pasted {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] inline bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}
[[nodiscard]] std::string_view trim(std::string_view text);

/// What stands behind the first `marker`, without leading blanks.
[[nodiscard]] std::optional<std::string_view> after(std::string_view text, std::string_view marker);

/// A number as it was printed.
struct Number {
  std::string digits;  // without thousands commas: "12345.60"
  double value = 0.0;
  std::string_view rest;  // what follows, without leading blanks
};
/// A finite decimal number at the front, of zero or more: 12, 12.50, 1,234.5, 1.2E+3.
[[nodiscard]] std::optional<Number> number_at(std::string_view text);
/// The number right behind the first `marker`.
[[nodiscard]] std::optional<Number> number_after(std::string_view text, std::string_view marker);

/// "16" for 16 and 16.00; "49-50" for 49.12, since what is counted lies between.
[[nodiscard]] std::string whole_text(double value);

/// "true" for 1, on, enabled, True; "false" likewise; anything else in lower case.
[[nodiscard]] std::string truth_text(std::string_view written);

/// The word at the front, up to a blank or one of `stops`.
[[nodiscard]] std::string_view word_at(std::string_view text, std::string_view stops = "");

/// The cells of a Markdown table's row, trimmed; empty if `text` is none.
[[nodiscard]] std::vector<std::string_view> cells_of(std::string_view text);
/// The cells of a line of comma-separated values, quotes taken off.
[[nodiscard]] std::vector<std::string> csv_cells(std::string_view text);
/// Pieces between runs of at least two blanks, as columns of a table of fixed widths.
[[nodiscard]] std::vector<std::string_view> columns_of(std::string_view text);

}  // namespace ridgeline::diagnosis::pasted
