#pragma once
// Rows of a summary: "Mean TTFT (ms):   123.45", "| Mean TTFT (ms) | 123.45 |". The unit stands
// behind the label or behind the number; a time without either is ambiguous.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diagnosis/pasted/gathered.hpp"
#include "diagnosis/pasted/line.hpp"

namespace ridgeline::diagnosis::pasted {

struct Row {
  std::string label;       // lower case, one blank between words, without its unit
  std::string unit;        // "ms", "tok/s"; empty if the label has none
  std::string_view value;  // trimmed
};
/// The row in a line's body.
[[nodiscard]] std::optional<Row> row_of(std::string_view body);

enum class Kind : std::uint8_t {
  time,
  rate,      // per second
  count,     // of whole things
  fraction,  // per cent
  bytes,
  word,
  lower_word,  // a name that tools capitalise differently
  silent,      // known, and not of use
};

struct RowRule {
  std::string_view label;
  std::string_view key;
  Kind kind;
  Source source = Source::stated;
  Repeat repeat = Repeat::contradiction;
};

/// "123.45 ms", "16", as the kind is written in evidence; nothing if the value is not of the kind
/// ("not set", "nan") or has no unit where it needs one.
[[nodiscard]] std::optional<std::string> value_of(const Row& row, Kind kind);

/// Adds what the rule for this row's label says. False if there is none.
bool take_row(const Row& row, std::span<const RowRule> rules, const Line& line, Gathered& out);

/// A unit of time as evidence writes it: "milliseconds" is "ms"; empty if it is none.
[[nodiscard]] std::string_view time_unit(std::string_view written);

}  // namespace ridgeline::diagnosis::pasted
