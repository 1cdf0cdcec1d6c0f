#include "diagnosis/pasted/rows.hpp"

#include <algorithm>
#include <array>

#include "core/lower.hpp"
#include "core/quantity_text.hpp"
#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

struct Spelling {
  std::string_view written;
  std::string_view unit;
};
constexpr std::array<Spelling, 16> kTimes{{{"ms", "ms"},
                                           {"msec", "ms"},
                                           {"millisecond", "ms"},
                                           {"milliseconds", "ms"},
                                           {"s", "s"},
                                           {"sec", "s"},
                                           {"secs", "s"},
                                           {"second", "s"},
                                           {"seconds", "s"},
                                           {"us", "us"},
                                           {"\xc2\xb5s", "us"},
                                           {"usec", "us"},
                                           {"ns", "ns"},
                                           {"nsec", "ns"},
                                           {"min", "min"},
                                           {"h", "h"}}};

// What people count per second.
constexpr std::array<std::string_view, 13> kRates{
    "tok/s",   "tokens/s",   "token/s", "tokens/sec", "tok/sec",  "tokens/secs", "req/s",
    "req/sec", "requests/s", "rps",     "tps",        "tps/user", "t/s"};

bool is_rate(std::string_view unit) {
  return std::find(kRates.begin(), kRates.end(), unit) != kRates.end();
}

bool is_unit(std::string_view unit) {
  return !time_unit(unit).empty() || is_rate(unit) || unit == "tokens" || unit == "%" ||
         unit == "w" || unit == "mhz" || unit == "b";
}

std::string normal(std::string_view label) {
  std::string out;
  for (const char c : core::lower(trim(label))) {
    const bool blank = c == ' ' || c == '\t' || c == '*';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

Row row(std::string_view label, std::string_view value) {
  Row out;
  out.label = normal(label);
  out.value = trim(value);
  if (!out.label.ends_with(')')) return out;
  const std::size_t open = out.label.rfind('(');
  if (open == std::string::npos) return out;
  const std::string unit = out.label.substr(open + 1, out.label.size() - open - 2);
  if (!is_unit(unit)) return out;
  out.unit = unit;
  out.label = normal(out.label.substr(0, open));
  return out;
}

/// The unit behind the number if there is one, else that of the label.
std::string unit_of(const Row& row, const Number& number) {
  return number.rest.empty() ? row.unit : core::lower(number.rest);
}

std::optional<std::string> bytes_text(const Number& number) {
  for (const core::UnitScale& scale : core::units_of(core::Dimension::bytes)) {
    if (number.rest == scale.name) return number.digits + " " + std::string(scale.name);
  }
  return std::nullopt;
}

}  // namespace

std::string_view time_unit(std::string_view written) {
  const auto* const it = std::find_if(kTimes.begin(), kTimes.end(),
                                      [&](const Spelling& s) { return s.written == written; });
  return it == kTimes.end() ? std::string_view{} : it->unit;
}

std::optional<Row> row_of(std::string_view body) {
  if (const auto cells = cells_of(body); cells.size() == 2) return row(cells[0], cells[1]);
  constexpr std::size_t kLongestLabel = 60;
  for (std::size_t i = 0; i < body.size() && i < kLongestLabel; ++i) {
    if (body[i] == ':' && (i + 1 == body.size() || body[i + 1] == ' ' || body[i + 1] == '\t'))
      return row(body.substr(0, i), body.substr(i + 1));
  }
  return std::nullopt;
}

std::optional<std::string> value_of(const Row& row, Kind kind) {
  if (kind == Kind::word || kind == Kind::lower_word) {
    const bool absent = row.value.empty() || row.value == "None" || row.value == "N/A";
    return absent ? std::nullopt
                  : std::optional<std::string>(kind == Kind::word ? std::string(row.value)
                                                                  : core::lower(row.value));
  }
  const auto number = number_at(row.value);
  if (!number) return std::nullopt;
  switch (kind) {
    case Kind::time: {
      const std::string_view unit = time_unit(unit_of(row, *number));
      if (unit.empty()) return std::nullopt;
      return number->digits + " " + std::string(unit);
    }
    case Kind::rate:
      if (!is_rate(unit_of(row, *number))) return std::nullopt;
      return number->digits + " /s";
    case Kind::count:
      if (!number->rest.empty() && number->rest != "tokens") return std::nullopt;
      return whole_text(number->value);
    case Kind::fraction:
      if (number->rest != "%" && !(number->rest.empty() && row.unit == "%")) return std::nullopt;
      return number->digits + " %";
    case Kind::bytes:
      return bytes_text(*number);
    case Kind::word:
    case Kind::lower_word:
    case Kind::silent:
      break;
  }
  return std::nullopt;
}

bool take_row(const Row& row, std::span<const RowRule> rules, const Line& line, Gathered& out) {
  const auto rule = std::find_if(rules.begin(), rules.end(),
                                 [&](const RowRule& r) { return r.label == row.label; });
  if (rule == rules.end()) return false;
  if (rule->kind == Kind::silent) return true;
  if (const auto value = value_of(row, rule->kind)) {
    out.add(rule->key, *value, line, rule->source, rule->repeat);
  } else if (number_at(row.value)) {
    out.doubt(line, "a number without a unit that says what it is");
  }
  return true;
}

}  // namespace ridgeline::diagnosis::pasted
