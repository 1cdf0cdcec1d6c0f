#pragma once
// A table for people: columns as wide as their widest cell, numbers to the right.

#include <string>
#include <vector>

namespace ridgeline::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Two spaces between columns; `right` columns (by index) are set to the right. Each line begins
  /// with `indent`.
  [[nodiscard]] std::string text(const std::vector<std::size_t>& right,
                                 const std::string& indent = "  ") const;

 private:
  std::vector<std::vector<std::string>> rows_;  // header first
};

/// A number with a sensible count of digits: 0.784, 6.25, 160.5, 160, 19,366.
[[nodiscard]] std::string number(double value);
/// A time in the unit that suits it: 6.25 ms, 2.58 s.
[[nodiscard]] std::string duration(double seconds);

}  // namespace ridgeline::cli
