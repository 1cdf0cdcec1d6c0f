#pragma once
// A table of measurements as people publish them: CSV with a header, every cell kept as it was
// written, so that a row can be hashed, matched and printed again unchanged.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::fidelity {

struct Table {
  std::string name;  // what errors call it
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, std::string, std::less<>> beside;  // what stands beside the file and holds
                                                           // for every row, by a column's name

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// ConfigError that lists the columns there are.
  [[nodiscard]] std::size_t required(std::string_view name) const;
  /// The same of a column that may stand beside the file.
  void require_known(std::string_view name) const;
};

/// The table in a text; errors call it `name`. ConfigError for what is no table, with its line.
[[nodiscard]] Table parse_table(std::string_view text, const std::string& name);
/// The same from a file; "-" is standard input. A folder that is named after machine, model and
/// split says what holds for every row.
[[nodiscard]] Table load_table(const std::filesystem::path& path);

/// One row of a table, its cells by the names of their columns.
class Row {
 public:
  Row(const Table& table, std::size_t index) : table_(table), index_(index) {}

  [[nodiscard]] bool has(std::string_view column) const { return !text(column).empty(); }
  /// Whether the row's own cell says something.
  [[nodiscard]] bool says(std::string_view column) const;
  /// The row's cell; without such a column what stands beside the file, if anything.
  [[nodiscard]] std::string_view text(std::string_view column) const;
  /// A number that must be there, at least `least`. ConfigError: "file: row 3: M: expected ...".
  [[nodiscard]] double number(std::string_view column, double least = 0.0) const;
  [[nodiscard]] std::int64_t count(std::string_view column, std::int64_t least = 1) const;
  /// Nothing where the column or the cell is empty.
  [[nodiscard]] std::optional<double> maybe(std::string_view column) const;
  [[noreturn]] void fail(std::string_view column, const std::string& expected) const;
  /// "file: row 3"; rows are counted from 1, without the header.
  [[nodiscard]] std::string place() const;
  [[nodiscard]] const std::vector<std::string>& cells() const { return table_.rows[index_]; }

 private:
  const Table& table_;
  std::size_t index_;
};

/// Whether a row is kept apart to judge by: a quarter of all, by the 64-bit FNV-1a hash of the seed
/// "1" and the cells joined with the unit separator (0x1f). The same in every run and in any
/// language.
[[nodiscard]] bool held_back(const std::vector<std::string>& cells);

/// The table again as CSV with further columns; fields are quoted where they must be.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

}  // namespace ridgeline::fidelity
