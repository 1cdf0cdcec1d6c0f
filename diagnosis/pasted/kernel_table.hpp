#pragma once
// What the tables of kernels have in common: the units of their columns, names that are calls of a
// host and not kernels, and that a second table is of the same run or of another, so only the first
// is taken.

#include <optional>
#include <string>
#include <string_view>

#include "diagnosis/pasted/format.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {

/// Seconds in one unit of a column "Total Time (ns)" or "TotalDurationNs"; nothing if the heading
/// has none.
[[nodiscard]] std::optional<double> seconds_in_heading(std::string_view heading);

/// Seconds of "1.234ms", "12.3us", "2.000s".
[[nodiscard]] std::optional<double> seconds_of(std::string_view cell);

/// A call of the CUDA or HIP runtime, or of HSA, which profilers list in tables of the same shape.
[[nodiscard]] bool is_host_call(std::string_view name);

/// Where a table's rows go: nowhere if there was a table before it.
class KernelTable {
 public:
  /// A header was read.
  void begin(const Line& line, Findings& out);
  void end() { is_open_ = false; }
  [[nodiscard]] bool is_open() const { return is_open_; }

  /// Ignores what is no kernel, and numbers that cannot be.
  void add(std::string_view name, const std::optional<Number>& calls, std::optional<double> seconds,
           const Line& line, Findings& out) const;

 private:
  bool is_open_ = false;
  bool is_taken_ = false;
  bool has_rows_before_ = false;
};

}  // namespace ridgeline::diagnosis::pasted
