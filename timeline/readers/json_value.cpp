#include "timeline/readers/json_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/utf8.hpp"

namespace ridgeline::timeline {
namespace {

/// Decimal digits with a point and an exponent somewhere: mantissa * 10^exponent.
struct Decimal {
  bool negative = false;
  std::uint64_t mantissa = 0;
  std::int64_t exponent = 0;
};

constexpr std::uint64_t kNoMoreDigits =
    1'000'000'000'000'000'000;  // another digit could overflow from here on

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<Decimal> decimal_in(std::string_view text) {
  Decimal d;
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) d.negative = text[i++] == '-';
  bool any = false;
  bool point = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(text[i])) break;
    any = true;
    if (d.mantissa < kNoMoreDigits) {
      d.mantissa = d.mantissa * 10 + static_cast<std::uint64_t>(text[i] - '0');
      if (point) --d.exponent;
    } else if (!point) {
      ++d.exponent;  // beyond 19 digits they only count
    }
  }
  if (!any) return std::nullopt;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const char* begin = text.data() + i + 1;
    const char* const end = text.data() + text.size();
    if (begin != end && *begin == '+') ++begin;
    std::int64_t exponent = 0;
    const auto [rest, error] = std::from_chars(begin, end, exponent);
    if (error != std::errc() || rest != end || std::abs(exponent) > 1'000'000) return std::nullopt;
    d.exponent += exponent;
    i = text.size();
  }
  if (i != text.size()) return std::nullopt;
  return d;
}

/// mantissa * 10^exponent as a whole number, halves away from zero. Absent above `largest`.
std::optional<std::int64_t> whole(Decimal d, std::uint64_t largest) {
  std::uint64_t n = d.mantissa;
  for (; d.exponent > 0 && n != 0; --d.exponent) {
    if (n > largest / 10) return std::nullopt;
    n *= 10;
  }
  if (d.exponent < -19) n = 0;  // n has at most 19 digits
  if (n != 0 && d.exponent < 0) {
    std::uint64_t divisor = 1;
    for (std::int64_t e = d.exponent; e < 0; ++e) divisor *= 10;
    const std::uint64_t rest = n % divisor;
    n = n / divisor + (rest >= divisor - rest ? 1 : 0);
  }
  if (n > largest) return std::nullopt;
  const auto result = static_cast<std::int64_t>(n);
  return d.negative ? -result : result;
}

void replace_forbidden(std::string& text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  for (std::size_t at = 0;
       (at += core::first_byte_not_utf8(std::string_view(text).substr(at))) < text.size();)
    text[at] = '?';
}

simdjson::padded_string_view padded(std::string_view value, std::size_t capacity) {
  return simdjson::padded_string_view(value.data(), value.size(), capacity);
}

}  // namespace

simdjson::simdjson_result<simdjson::ondemand::document> JsonParser::parse(std::string_view value) {
  using simdjson::SIMDJSON_PADDING;
  const auto behind =
      static_cast<std::size_t>((whole_.data() + whole_.size()) - (value.data() + value.size()));
  std::string_view safe = value;
  if (behind < SIMDJSON_PADDING) {
    copy_.assign(value);
    copy_.append(SIMDJSON_PADDING, ' ');
    safe = std::string_view(copy_).substr(0, value.size());
  }
  auto document = parser_.iterate(padded(safe, safe.size() + SIMDJSON_PADDING));
  const simdjson::error_code error = document.error();
  if (error != simdjson::UTF8_ERROR && error != simdjson::UNESCAPED_CHARS) return document;
  copy_.assign(value);
  replace_forbidden(copy_);
  copy_.append(SIMDJSON_PADDING, ' ');
  return parser_.iterate(padded(std::string_view(copy_).substr(0, value.size()), copy_.size()));
}

std::string_view bare(std::string_view token) {
  const auto is_around = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
  while (!token.empty() && is_around(token.back())) token.remove_suffix(1);
  while (!token.empty() && is_around(token.front())) token.remove_prefix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    token = token.substr(1, token.size() - 2);
  return token;
}

std::string_view string_of(simdjson::ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  if (token.empty() || token.front() != '"') return {};
  const std::string_view written = bare(token);
  std::string_view text;
  if (written.find('\\') != std::string_view::npos &&
      value.get_string().get(text) == simdjson::SUCCESS)
    return text;
  static_cast<void>(value.get_raw_json_string());  // moves past it
  return written;
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  // Nearly all are a few digits.
  constexpr std::size_t kCannotOverflow = 18;
  std::int64_t simple = 0;
  std::size_t digits = 0;
  while (digits < std::min(text.size(), kCannotOverflow) && is_digit(text[digits]))
    simple = simple * 10 + (text[digits++] - '0');
  if (digits != 0 && digits == text.size()) return simple;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t n = 0;
    const auto [rest, error] = std::from_chars(text.data() + 2, text.data() + text.size(), n, 16);
    if (error != std::errc() || rest != text.data() + text.size() || n > INT64_MAX)
      return std::nullopt;
    return static_cast<std::int64_t>(n);
  }
  std::int64_t n = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc() && rest == text.data() + text.size()) return n;
  const std::optional<Decimal> decimal = decimal_in(text);
  return decimal ? whole(*decimal, INT64_MAX) : std::nullopt;
}

std::optional<std::int64_t> nanoseconds_in(std::string_view microseconds) {
  constexpr std::uint64_t kLargest = 3'000'000'000'000'000'000;
  std::optional<Decimal> decimal = decimal_in(microseconds);
  if (!decimal) return std::nullopt;
  decimal->exponent += 3;
  return whole(*decimal, kLargest);
}

std::optional<std::int64_t> integer_of(simdjson::ondemand::value& value) {
  return integer_in(bare(value.raw_json_token()));
}

std::optional<double> real_of(simdjson::ondemand::value& value) {
  const std::string_view text = bare(value.raw_json_token());
  double number = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

}  // namespace ridgeline::timeline
