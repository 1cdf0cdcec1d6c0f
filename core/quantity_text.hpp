#pragma once
// Quantities as people write them: "5.3 TB/s", "192 GB", "15 us", "78 %", "6-30 us", "~40 GB". A
// dimensioned value must carry its unit; a dimensionless one must not. GB is 10^9 bytes and GiB is
// 2^30, always.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interval.hpp"

namespace ridgeline::core {

enum class Dimension { none, fraction, time, bytes, bytes_per_second, flop, flop_per_second, rate };

struct UnitScale {
  std::string_view name;
  double factor;  // SI units in one of it
};

/// The units a dimension is written in, smallest first. `fraction` knows "%" besides a bare number;
/// `rate` is per second.
[[nodiscard]] const std::vector<UnitScale>& units_of(Dimension dimension);

/// "a number with unit like '5.3 TB/s'": what an error says it expected.
[[nodiscard]] std::string expected_text(Dimension dimension);

/// The value in SI units, or nothing when `text` is not one number with one of the dimension's
/// units. Finite values only.
[[nodiscard]] std::optional<double> parse_quantity(std::string_view text, Dimension dimension);

/// "; did you mean '78 %'?" for a bare number that is a fraction only as per cent (2 to 100); empty
/// for anything else.
[[nodiscard]] std::string per_cent_hint(std::string_view text);

/// What a typed value leaves open. "78 %" is 77.5 to 78.5 % (half of the last digit written), "6-30
/// us" and "6..30 us" are ranges, "~40 GB" and "about 40 GB" are 12.5 % either way; "=26 GB" is
/// exact. Trailing zeros of a whole number are taken as written: "6100" is 6099.5 to 6100.5.
[[nodiscard]] std::optional<Interval> parse_interval(std::string_view text, Dimension dimension);

}  // namespace ridgeline::core
