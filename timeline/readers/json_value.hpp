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

/// Calls `f(key, value)` for every member. False, at the first that is damaged or for which `f`
/// returns false.
template <class F>
bool for_each_member(simdjson::ondemand::object object, const F& f) {
  for (auto member : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    if (std::move(member).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS)
      return false;
    if (!f(key, field.value())) return false;
  }
  return true;
}

/// The text of a string, "" for anything else. A string with an escape that is none is given as
/// written.
[[nodiscard]] std::string_view string_of(simdjson::ondemand::value value);

/// A whole number, written as such, as a decimal (rounded), or in a string, hexadecimal there too.
[[nodiscard]] std::optional<std::int64_t> integer_of(simdjson::ondemand::value value);
[[nodiscard]] std::optional<double> real_of(simdjson::ondemand::value value);
/// A decimal count of microseconds as nanoseconds, exact; halves of one away from zero. Absent
/// beyond 3 * 10^18 ns, 95 years, so that a start and a duration always add up.
[[nodiscard]] std::optional<std::int64_t> microseconds_of(simdjson::ondemand::value value);

// The same of a text.
[[nodiscard]] std::optional<std::int64_t> integer_in(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> nanoseconds_in(std::string_view microseconds);

/// A value as written, quotes and space around it removed.
[[nodiscard]] std::string_view bare(std::string_view token);

}  // namespace ridgeline::timeline
