#pragma once
// Comma-separated tables as profilers write them: a header, fields that may be quoted (RFC 4180: ""
// inside quotes is one quote, line ends and commas inside them are text), LF or CRLF, blank lines.
// Columns are found by name, in any order, among others. A profiler that was killed leaves half a
// line behind: the last line, when it has no line end, is given the benefit of the doubt.

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::timeline {

class ProfilerCsv {
 public:
  /// Reads the header. The text must outlive this object.
  ProfilerCsv(std::string name, std::string_view text);

  [[nodiscard]] const std::vector<std::string_view>& header() const { return header_; }
  /// Where the first of these names stands.
  [[nodiscard]] std::optional<std::size_t> column(
      std::initializer_list<std::string_view> names) const;
  [[nodiscard]] bool has(std::string_view name) const { return column({name}).has_value(); }
  /// The same for a column without which the table means nothing: throws ConfigError, listing the
  /// columns there are.
  [[nodiscard]] std::size_t required(std::initializer_list<std::string_view> names) const;

  /// Calls `row` for every row. A row that is not as long as the header is an error, as is one for
  /// which `row` throws ConfigError, unless it is the last and has no line end: then it is dropped,
  /// and the result is true. So `row` reads before it records.
  [[nodiscard]] bool for_each_row(const std::function<void()>& row);

  // Fields of the row in turn; text lives until the next row.
  [[nodiscard]] std::string_view text(std::size_t column) const { return fields_[column]; }
  [[nodiscard]] std::string_view text(std::optional<std::size_t> column) const {
    return column ? fields_[*column] : std::string_view{};
  }
  /// A whole number in [0, most].
  [[nodiscard]] std::int64_t count(std::size_t column, std::int64_t most = INT64_MAX) const;
  /// The same where the column or the field may be absent.
  [[nodiscard]] std::int64_t count_or(std::optional<std::size_t> column, std::int64_t fallback,
                                      std::int64_t most = INT64_MAX) const;
  /// A finite number; nothing where the field is something else.
  [[nodiscard]] std::optional<double> number(std::size_t column) const;
  /// The number at the end of "Agent 4", or 4 alone; 0 without the column or the field.
  [[nodiscard]] std::int32_t trailing_number(std::optional<std::size_t> column) const;

  /// Throws ConfigError: "file:line: Column: expected <expected>, got '<field>'".
  [[noreturn]] void fail(std::size_t column, const std::string& expected) const;

 private:
  /// Takes the next record off the text; false at the end. Sets whether it was cut short.
  bool next();
  std::string_view take_quoted();
  [[nodiscard]] std::string place() const { return name_ + ":" + std::to_string(line_); }

  std::string name_;
  std::string_view rest_;
  std::int64_t line_ = 0;  // where the record in turn begins
  std::int64_t lines_read_ = 0;
  bool unterminated_ = false;  // the record ended with the text, not with a line end
  bool open_quote_ = false;    // inside quotes at that
  std::vector<std::string_view> header_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // fields that are not as they stand in the text
};

/// The names in the first line of a table, without reading on; empty if that line is not text.
/// Views into `text`.
[[nodiscard]] std::vector<std::string_view> profiler_csv_header(std::string_view text);

}  // namespace ridgeline::timeline
