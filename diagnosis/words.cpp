#include "diagnosis/words.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

namespace ridgeline::diagnosis {
namespace {

struct Scale {
  double factor;
  std::string_view unit;
};

/// Three digits that matter; an exponent only for what nobody measures.
std::string three_digits(double x) {
  const double size = std::abs(x);
  if (size >= 1e6) return fmt::format("{:.1e}", x);
  if (size >= 99.95) return fmt::format("{:.0f}", x);
  if (size >= 9.995) return fmt::format("{:.1f}", x);
  return fmt::format("{:.2f}", x);
}

std::string scaled(double x, std::span<const Scale> scales) {
  const Scale* chosen = &scales.front();
  for (const Scale& scale : scales) {
    if (std::abs(x) >= 0.9995 * scale.factor) chosen = &scale;
  }
  return three_digits(x / chosen->factor) + " " + std::string(chosen->unit);
}

constexpr std::array<Scale, 4> kTimes{{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1.0, "s"}}};
constexpr std::array<Scale, 5> kBytes{
    {{1.0, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
constexpr std::array<Scale, 5> kFlop{
    {{1.0, "FLOP"}, {1e6, "MFLOP"}, {1e9, "GFLOP"}, {1e12, "TFLOP"}, {1e15, "PFLOP"}}};

}  // namespace

std::string time_text(double seconds) { return seconds == 0.0 ? "0 s" : scaled(seconds, kTimes); }
std::string bytes_text(double bytes) { return scaled(bytes, kBytes); }
std::string flop_text(double flop) { return scaled(flop, kFlop); }

std::string percent_text(double fraction) {
  const double percent = 100.0 * fraction;
  return std::abs(percent) >= 9.95 ? fmt::format("{:.1f} %", percent)
                                   : three_digits(percent) + " %";
}

std::string number_text(double number) {
  if (std::abs(number) < 999.5) {
    return std::abs(number - std::round(number)) < 1e-9 ? fmt::format("{:.0f}", number)
                                                        : fmt::format("{:.1f}", number);
  }
  if (std::abs(number) >= 1e15) return fmt::format("{:.1e}", number);
  std::string digits = fmt::format("{:.0f}", std::abs(number));
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return (number < 0.0 ? "-" : "") + digits;
}

std::string whole_text(double number) { return number_text(std::round(number)); }

std::string gain_text(core::Interval gain) {
  const std::string low = fmt::format("{:.2f}x", gain.low);
  const std::string high = fmt::format("{:.2f}x", gain.high);
  return low == high ? low : low + " to " + high;
}

std::string time_range_text(core::Interval seconds) {
  const std::string low = time_text(seconds.low);
  const std::string high = time_text(seconds.high);
  if (low == high) return low;
  const std::string low_unit = low.substr(low.find(' '));
  const std::string high_unit = high.substr(high.find(' '));
  return (low_unit == high_unit ? low.substr(0, low.find(' ')) : low) + " to " + high;
}

std::string quantity_text(double x, core::Dimension dimension) {
  switch (dimension) {
    case core::Dimension::fraction:
      return percent_text(x);
    case core::Dimension::time:
      return time_text(x);
    case core::Dimension::bytes:
      return bytes_text(x);
    case core::Dimension::bytes_per_second:
      return bytes_text(x) + "/s";
    case core::Dimension::flop:
      return flop_text(x);
    case core::Dimension::flop_per_second:
      return flop_text(x) + "/s";
    case core::Dimension::rate:
      return number_text(x) + " /s";
    case core::Dimension::none:
      break;
  }
  return x < 1e6 ? number_text(x) : fmt::format("{:.3g}", x);
}

}  // namespace ridgeline::diagnosis
