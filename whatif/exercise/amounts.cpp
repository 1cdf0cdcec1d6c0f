#include "whatif/exercise/amounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace ridgeline::whatif {
namespace {

using core::Dimension;

struct Unit {
  std::string typed;  // as evidence has it: "e9", " GB"
  std::string shown;  // " billion", " GB"
  double factor;
};

/// The largest first. No binary units, no minutes, and a machine's rate in TFLOP/s as its datasheet
/// has it.
std::vector<Unit> units_for(Dimension dimension, std::string_view counted) {
  if (dimension == Dimension::none)
    return {{"e9", " billion", 1e9}, {"e6", " million", 1e6}, {"", "", 1.0}};
  if (dimension == Dimension::rate) return {{" /s", fmt::format(" {}/s", counted), 1.0}};
  std::vector<Unit> out;
  for (const core::UnitScale& unit : core::units_of(dimension)) {
    const bool plain = unit.name != "KB" && unit.name != "min" && unit.name != "h" &&
                       unit.name != "TOP/s" && unit.name != "PFLOP/s" &&
                       unit.name.find('i') == std::string_view::npos;
    const std::string name = " " + std::string(unit.name);
    if (plain) out.insert(out.begin(), {name, name, unit.factor});
  }
  return out;
}

const Unit& unit_for(double size, const std::vector<Unit>& units) {
  constexpr double kWorthWords = 10.0;  // "8 billion", but 1,048,576 tokens
  for (const Unit& unit : units) {
    const bool words = unit.shown.ends_with("illion");
    if (size >= (words && unit.factor < 1e9 ? kWorthWords : 1.0) * 0.9995 * unit.factor)
      return unit;
  }
  return units.back();
}

std::string with_thousands(std::string digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t i = point; i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

bool same(core::Interval a, core::Interval b) {
  const double scale = 1e-9 * std::max(std::abs(b.low), std::abs(b.high));
  return std::abs(a.low - b.low) <= scale && std::abs(a.high - b.high) <= scale;
}

constexpr int kMostDecimals = 4;

/// As few decimals as leave three digits of it right.
std::string number(double x) {
  for (int decimals = 0; decimals < kMostDecimals; ++decimals) {
    std::string text = fmt::format("{:.{}f}", x, decimals);
    if (std::abs(std::stod(text) - x) <= 5e-4 * std::abs(x)) return with_thousands(text);
  }
  return fmt::format("{:.3g}", x);
}

/// "0.0 %": what is left of zero's doubt above it.
std::optional<std::string> zero_as_written(core::Interval value, Dimension dimension,
                                           const Unit& unit) {
  for (int decimals = 0; decimals <= kMostDecimals; ++decimals) {
    const std::string digits = fmt::format("{:.{}f}", 0.0, decimals);
    const auto typed = core::parse_interval(digits + unit.typed, dimension);
    if (typed && same({0.0, typed->high}, value)) return digits + unit.shown;
  }
  return std::nullopt;
}

}  // namespace

std::string as_written(core::Interval value, Dimension dimension, std::string_view counted) {
  const std::vector<Unit> units = units_for(dimension, counted);
  const double middle = value.middle();
  if (middle == 0.0 && value.width() == 0.0)
    return "0" + (dimension == Dimension::none ? "" : units.back().shown);
  const Unit& unit = unit_for(middle, units);
  if (value.width() <= 1e-6 * middle) return number(middle / unit.factor) + unit.shown;
  if (value.low == 0.0) {
    if (const auto zero = zero_as_written(value, dimension, units.back())) return *zero;
  }
  for (const std::string_view hedge : {"", "~"}) {
    for (int decimals = 0; decimals <= kMostDecimals; ++decimals) {
      const std::string digits = fmt::format("{:.{}f}", middle / unit.factor, decimals);
      const auto typed =
          core::parse_interval(fmt::format("{}{}{}", hedge, digits, unit.typed), dimension);
      if (typed && same(*typed, value))
        return (hedge.empty() ? "" : "about ") + with_thousands(digits) + unit.shown;
    }
  }
  const std::string low = number(value.low / unit.factor);
  const std::string high = number(value.high / unit.factor);
  return (low == high ? low : low + " to " + high) + unit.shown;
}

}  // namespace ridgeline::whatif
