#include "core/quantity_text.hpp"

#include <cctype>
#include <charconv>
#include <cmath>

namespace ridgeline::core {
namespace {

struct Literal {
  double value = 0.0;
  double last_digit = 1.0;  // one unit of the last digit written
  std::string_view rest;    // what follows the number
};

std::string_view trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.remove_suffix(1);
  return s;
}

bool is_digit(std::string_view text, std::size_t i) {
  return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
}

/// Just three digits, as after a thousands comma.
bool thousands_follow(std::string_view text) {
  return is_digit(text, 0) && is_digit(text, 1) && is_digit(text, 2) && !is_digit(text, 3);
}

/// A decimal number at the front: digits with optional thousands commas, a fraction, an exponent.
/// No hex, no inf, no nan.
std::optional<Literal> number_at(std::string_view text) {
  std::string digits;
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) {
    if (text[i] == '-') digits += '-';
    ++i;
  }
  int decimals = 0;
  bool seen_point = false;
  bool seen_digit = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits += c;
      seen_digit = true;
      if (seen_point) ++decimals;
    } else if (c == '.' && !seen_point && !(i + 1 < text.size() && text[i + 1] == '.')) {
      digits += c;
      seen_point = true;
    } else if (c == ',' && seen_digit && !seen_point && thousands_follow(text.substr(i + 1))) {
      continue;  // 6,100
    } else {
      break;
    }
  }
  if (!seen_digit) return std::nullopt;
  int exponent = 0;
  if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t j = i + 1;
    if (text[j] == '+' && is_digit(text, j + 1)) ++j;
    const auto [end, error] = std::from_chars(text.data() + j, text.data() + text.size(), exponent);
    if (error == std::errc{}) {
      digits += 'e' + std::to_string(exponent);
      i = static_cast<std::size_t>(end - text.data());
    }
  }
  Literal out;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), out.value);
  if (error != std::errc{} || !std::isfinite(out.value)) return std::nullopt;
  out.last_digit = std::pow(10.0, exponent - decimals);
  out.rest = trim(text.substr(i));
  return out;
}

std::optional<double> factor_of(std::string_view unit, Dimension dimension) {
  if (unit.empty() && (dimension == Dimension::none || dimension == Dimension::fraction ||
                       dimension == Dimension::rate)) {
    return 1.0;
  }
  for (const UnitScale& scale : units_of(dimension)) {
    if (scale.name == unit) return scale.factor;
  }
  return std::nullopt;
}

}  // namespace

const std::vector<UnitScale>& units_of(Dimension dimension) {
  static const std::vector<UnitScale> none{};
  static const std::vector<UnitScale> fraction{{"%", 0.01}};
  static const std::vector<UnitScale> time{{"ns", 1e-9}, {"us", 1e-6},  {"ms", 1e-3},
                                           {"s", 1.0},   {"min", 60.0}, {"h", 3600.0}};
  static const std::vector<UnitScale> bytes{{"B", 1.0},   {"kB", 1e3},
                                            {"KB", 1e3},  {"KiB", 1024.0},
                                            {"MB", 1e6},  {"MiB", 1048576.0},
                                            {"GB", 1e9},  {"GiB", 1073741824.0},
                                            {"TB", 1e12}, {"TiB", 1099511627776.0}};
  static const std::vector<UnitScale> bandwidth{{"B/s", 1.0},
                                                {"kB/s", 1e3},
                                                {"MB/s", 1e6},
                                                {"GB/s", 1e9},
                                                {"GiB/s", 1073741824.0},
                                                {"TB/s", 1e12},
                                                {"TiB/s", 1099511627776.0}};
  static const std::vector<UnitScale> flop{
      {"FLOP", 1.0}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}};
  static const std::vector<UnitScale> flop_rate{
      {"FLOP/s", 1.0}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"TOP/s", 1e12}};
  static const std::vector<UnitScale> rate{{"/s", 1.0}, {"/min", 1.0 / 60.0}};
  switch (dimension) {
    case Dimension::none:
      return none;
    case Dimension::fraction:
      return fraction;
    case Dimension::time:
      return time;
    case Dimension::bytes:
      return bytes;
    case Dimension::bytes_per_second:
      return bandwidth;
    case Dimension::flop:
      return flop;
    case Dimension::flop_per_second:
      return flop_rate;
    case Dimension::rate:
      return rate;
  }
  return none;
}

std::string expected_text(Dimension dimension) {
  switch (dimension) {
    case Dimension::none:
      return "a number without unit";
    case Dimension::fraction:
      return "a fraction like '0.78' or '78 %'";
    case Dimension::time:
      return "a number with unit like '15 us'";
    case Dimension::bytes:
      return "a number with unit like '192 GB'";
    case Dimension::bytes_per_second:
      return "a number with unit like '5.3 TB/s'";
    case Dimension::flop:
      return "a number with unit like '68 GFLOP'";
    case Dimension::flop_per_second:
      return "a number with unit like '1307.4 TFLOP/s'";
    case Dimension::rate:
      return "a rate like '5.5' or '5.5 /s'";
  }
  return "a number";
}

std::optional<double> parse_quantity(std::string_view text, Dimension dimension) {
  const auto number = number_at(trim(text));
  if (!number) return std::nullopt;
  const auto factor = factor_of(number->rest, dimension);
  if (!factor) return std::nullopt;
  const double value = number->value * *factor;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string per_cent_hint(std::string_view text) {
  const auto number = number_at(trim(text));
  if (!number || !number->rest.empty() || number->value < 2.0 || number->value > 100.0) return "";
  return "; did you mean '" + std::string(trim(text)) + " %'?";
}

std::optional<Interval> parse_interval(std::string_view text, Dimension dimension) {
  text = trim(text);
  bool exact = false;
  bool about = false;
  const auto starts = [&](std::string_view word) {
    if (!text.starts_with(word)) return false;
    text = trim(text.substr(word.size()));
    return true;
  };
  if (starts("=")) exact = true;
  if (starts("~") || starts("about ") || starts("around ")) about = true;
  const auto first = number_at(text);
  if (!first) return std::nullopt;

  for (const std::string_view dash : {"-", "..", "–", "to "}) {
    if (!first->rest.starts_with(dash)) continue;
    const auto second = number_at(trim(first->rest.substr(dash.size())));
    if (!second) return std::nullopt;
    const auto factor = factor_of(second->rest, dimension);
    if (!factor || first->value > second->value) return std::nullopt;
    const Interval range{first->value * *factor, second->value * *factor};
    return std::isfinite(range.low) && std::isfinite(range.high) ? std::optional(range)
                                                                 : std::nullopt;
  }

  const auto factor = factor_of(first->rest, dimension);
  if (!factor) return std::nullopt;
  const double value = first->value * *factor;
  if (!std::isfinite(value)) return std::nullopt;
  constexpr double kAbout = 0.125;  // "about 40 GB" is 35 to 45
  if (about) return Interval::within(value, kAbout);
  const double half = exact ? 0.0 : 0.5 * first->last_digit * *factor;
  return Interval{value - half, value + half};
}

}  // namespace ridgeline::core
