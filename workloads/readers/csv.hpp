#pragma once
// Comma-separated text with a header, read row by row without copying. Columns are found by name,
// in any order, among others; line ends may be LF or CRLF, the last one may be missing, blank lines
// are skipped. Quoted fields are not understood: no trace of numbers and times has them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/trace_file.hpp"

namespace ridgeline::workloads {

/// The names in the first line of a CSV text.
[[nodiscard]] std::vector<std::string_view> csv_header(std::string_view text);

class CsvRows {
 public:
  explicit CsvRows(const TraceText& csv);

  /// Where a column stands. Throws ConfigError when it stands nowhere, listing the columns there
  /// are, or twice.
  [[nodiscard]] std::size_t column(std::string_view name) const;

  /// Moves to the next row; false at the end. Throws ConfigError when a row is not as long as the
  /// header.
  bool next();
  /// A field of the row, spaces around it removed; valid as long as the text.
  [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column]; }
  /// A field as a whole number in [0, most].
  [[nodiscard]] std::int64_t count(std::size_t column, std::int64_t most) const;

  /// Throws ConfigError at a field: "file:line:column: Name: expected <expected>, got '<field>'".
  [[noreturn]] void fail(std::size_t column, const std::string& expected) const;

 private:
  [[nodiscard]] std::string place(const char* at) const;

  std::string name_;
  std::string_view rest_;  // lines not yet read
  std::string_view line_;  // the line the row stands on
  std::int64_t line_number_ = 0;
  std::vector<std::string_view> header_;
  std::vector<std::string_view> fields_;
};

}  // namespace ridgeline::workloads
