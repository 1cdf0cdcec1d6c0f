#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ridgeline::cli {

std::string Table::text(const std::vector<std::size_t>& right, const std::string& indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool to_right = std::find(right.begin(), right.end(), i) != right.end();
      line += to_right ? fmt::format("{:>{}}", row[i], widths[i])
                       : fmt::format("{:<{}}", row[i], widths[i]);
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string number(double value) {
  const double size = std::abs(value);
  if (size != 0.0 && (size >= 1e12 || size < 1e-3)) return fmt::format("{:.3g}", value);
  if (size >= 1000.0) {
    std::string digits = fmt::format("{:.0f}", value);
    for (int at = static_cast<int>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3) {
      digits.insert(static_cast<std::size_t>(at), ",");
    }
    return digits;
  }
  return size >= 100.0 && value != std::round(value) ? fmt::format("{:.1f}", value)
                                                     : fmt::format("{:.3g}", value);
}

std::string duration(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 1000.0) return number(seconds) + " s";
  if (size >= 1.0 || size == 0.0) return fmt::format("{:.3g} s", seconds);
  if (size >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (size >= 1e-6) return fmt::format("{:.3g} us", seconds * 1e6);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

}  // namespace ridgeline::cli
