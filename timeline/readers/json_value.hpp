#pragma once
// simdjson on one value out of a larger text, and what profilers write for numbers: 12, 12.5, "12",
// "0x7f", NaN. What is not what was asked for is absent, never an error: a profiler's file is read
// for what it has.

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ridgeline::timeline {

/// Parses values one at a time. A document, and the strings taken from it, live until the next one.
class JsonParser {
 public:
  /// `whole` is the text that all values are part of: simdjson reads a little past a value's end,
  /// and may where there is more.
  explicit JsonParser(std::string_view whole) : whole_(whole) {}

  /// The document of one value. Bytes that JSON forbids (not UTF-8: '?'; bare control characters: a
  /// space) are replaced.
  [[nodiscard]] simdjson::simdjson_result<simdjson::ondemand::document> parse(
      std::string_view value);

 private:
  std::string_view whole_;
  std::string copy_;
  simdjson::ondemand::parser parser_;
};

/// A member's key, where it stands: hardly any has an escape and must be unescaped.
inline bool key_of(simdjson::ondemand::field& field, std::string_view& key) {
  const char* const begin = field.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\\') ++end;  // simdjson has seen that the string ends
  key = std::string_view(begin, static_cast<std::size_t>(end - begin));
  return *end == '"' || field.unescaped_key().get(key) == simdjson::SUCCESS;
}

/// Whether a value begins here. (simdjson takes the bracket of `[1,]` for one, and would look for
/// the array's end behind it.)
inline bool is_value(simdjson::ondemand::value& value) {
  return std::string_view("]},:").find(*value.raw_json_token().data()) == std::string_view::npos;
}

/// Calls `f(value)` for every element. False as for_each_member().
template <class F>
bool for_each_element(simdjson::ondemand::array array, const F& f) {
  for (auto element : array) {
    if (element.error() != simdjson::SUCCESS) return false;
    auto&& value = std::move(element).value_unsafe();
    if (!is_value(value) || !f(value)) return false;
  }
  return true;
}

/// Calls `f(key, value)` for every member. False, at the first that is damaged or for which `f`
/// returns false.
template <class F>
bool for_each_member(simdjson::ondemand::object object, const F& f) {
  for (auto member : object) {
    if (member.error() != simdjson::SUCCESS) return false;
    auto&& field = std::move(member).value_unsafe();  // not copied: it costs as much as the parsing
    std::string_view key;
    if (!key_of(field, key) || !is_value(field.value()) || !f(key, field.value())) return false;
  }
  return true;
}

/// The text of a string, "" for anything else. A string with an escape that is none is given as
/// written.
[[nodiscard]] std::string_view string_of(simdjson::ondemand::value& value);

/// A whole number, written as such, as a decimal (rounded), or in a string, hexadecimal there too.
[[nodiscard]] std::optional<std::int64_t> integer_of(simdjson::ondemand::value& value);
[[nodiscard]] std::optional<double> real_of(simdjson::ondemand::value& value);

// The same of a text.
[[nodiscard]] std::optional<std::int64_t> integer_in(std::string_view text);
/// A decimal count of microseconds as nanoseconds, exact; halves of one away from zero. Absent
/// beyond 3 * 10^18 ns, 95 years, so that a start and a duration always add up.
[[nodiscard]] std::optional<std::int64_t> nanoseconds_in(std::string_view microseconds);

/// A value as written, quotes and space around it removed.
[[nodiscard]] std::string_view bare(std::string_view token);

}  // namespace ridgeline::timeline
