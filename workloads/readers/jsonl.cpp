#include "workloads/readers/jsonl.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "workloads/limits.hpp"
#include "workloads/readers/quote.hpp"

namespace ridgeline::workloads {
namespace {

struct Dialect {
  std::string_view arrival;
  std::string_view prompt_tokens;
  std::string_view output_tokens;
  std::int64_t unit_ns;  // of its clock
  std::string_view clock_text;
  std::string_view hashes{};       // of the prompt's blocks, where the dialect has them
  std::int64_t hashed_tokens = 0;  // of a block
};
constexpr std::array<Dialect, 3> kDialects{{
    {"arrival_time", "input_toks", "output_toks", 1'000'000'000, "seconds, like 1787267980.0827"},
    {"arrival_time_ns", "input_toks", "output_toks", 1, "nanoseconds, like 52000000"},
    {"timestamp", "input_length", "output_length", 1'000'000, "milliseconds, like 27482",
     "hash_ids", 512},
}};

/// One line, read from the left.
class Line {
 public:
  Line(std::string_view name, std::string_view text, std::int64_t number)
      : name_(name), text_(text), number_(number) {}

  void require_end() {
    skip_blanks();
    if (i_ != text_.size()) fail(i_, "the end of the line", text_.substr(i_));
  }
  /// Whether the next character is `c`; takes it then.
  bool takes(char c) {
    skip_blanks();
    if (i_ == text_.size() || text_[i_] != c) return false;
    ++i_;
    return true;
  }
  void take(char c) {
    if (!takes(c)) fail(i_, std::string("'") + c + "'", text_.substr(i_));
  }
  /// A string, without its quotes; escapes are left as they are.
  std::string_view string() {
    take('"');
    const std::size_t from = i_;
    while (i_ < text_.size() && text_[i_] != '"') i_ += text_[i_] == '\\' ? 2 : 1;
    if (i_ >= text_.size()) fail(from - 1, "a string that ends", text_.substr(from - 1));
    return text_.substr(from, i_++ - from);
  }
  /// Any value, as it is written.
  std::string_view value() {
    skip_blanks();
    const std::size_t from = i_;
    std::size_t depth = 0;
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (depth == 0 && (c == ',' || c == '}')) break;
      if (c == '"') {
        string();
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') {
        if (depth == 0) break;
        --depth;
      }
      ++i_;
    }
    std::string_view value = text_.substr(from, i_ - from);
    while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
    if (value.empty() || depth > 0) fail(from, "a value", text_.substr(from));
    return value;
  }
  /// `found` is a part of the line, or ends it.
  [[noreturn]] void fail(std::size_t column, const std::string& expected,
                         std::string_view found) const {
    throw core::ConfigError(std::string(name_) + ":" + std::to_string(number_) + ":" +
                            std::to_string(column + 1) + ": " + expected_text(expected, found));
  }
  [[noreturn]] void fail_at(std::string_view part, std::string_view key,
                            const std::string& expected) const {
    throw core::ConfigError(std::string(name_) + ":" + std::to_string(number_) + ":" +
                            std::to_string(part.data() - text_.data() + 1) + ": " +
                            std::string(key) + ": " + expected_text(expected, part));
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static std::string expected_text(const std::string& expected, std::string_view found) {
    return "expected " + expected + ", got " +
           (found.empty() ? std::string("the end of the line") : quote(found));
  }
  void skip_blanks() {
    while (i_ < text_.size() && is_blank(text_[i_])) ++i_;
  }

  std::string_view name_;
  std::string_view text_;
  std::int64_t number_;
  std::size_t i_ = 0;
};

/// Calls `visit(key, value)` for every entry of the object that the line is.
template <class Visit>
void read_object(Line& line, Visit&& visit) {
  line.take('{');
  if (!line.takes('}')) {
    do {
      const std::string_view key = line.string();
      line.take(':');
      visit(key, line.value());
    } while (line.takes(','));
    line.take('}');
  }
  line.require_end();
}

const Dialect& dialect_of(const std::string_view name, std::string_view text, std::int64_t number) {
  std::string keys;
  const Dialect* found = nullptr;
  Line line(name, text, number);
  read_object(line, [&](std::string_view key, std::string_view) {
    keys += (keys.empty() ? "" : ", ") + std::string(key);
    for (const Dialect& dialect : kDialects) {
      if (key == dialect.arrival) found = &dialect;
    }
  });
  if (found != nullptr) return *found;
  throw core::ConfigError(std::string(name) + ":" + std::to_string(number) +
                          ":1: expected one of the keys 'arrival_time', 'arrival_time_ns', "
                          "'timestamp', got the keys " +
                          quote(keys, 80));
}

std::optional<std::int64_t> tokens(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (n < 0 || n > kMostTokens) return std::nullopt;
  return n;
}

/// The numbers of a list; nothing when the text is none.
std::optional<std::vector<std::uint64_t>> numbers(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  std::vector<std::uint64_t> out;
  for (std::size_t i = text.find_first_not_of(kBlanks, 1); i + 1 < text.size();) {
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), n);
    if (error != std::errc{}) return std::nullopt;
    out.push_back(n);
    i = text.find_first_not_of(kBlanks, static_cast<std::size_t>(end - text.data()));
    if (i + 1 == text.size()) break;
    if (text[i] != ',') return std::nullopt;
    i = text.find_first_not_of(kBlanks, i + 1);
    if (i + 1 >= text.size()) return std::nullopt;  // a comma, and nothing behind it
  }
  return out;
}

class ObjectReader {
 public:
  ObjectReader(const Dialect& dialect, TraceBuilder& requests)
      : dialect_(dialect), requests_(requests) {}

  void read(Line line) {
    std::optional<std::int64_t> arrival;
    std::optional<std::int64_t> prompt;
    std::optional<std::int64_t> output;
    std::optional<std::vector<std::uint64_t>> hashes;
    std::string_view hashes_text;
    const std::string count = "a whole number from 0 to " + std::to_string(kMostTokens);
    const auto set = [&line](auto& slot, const auto& read, std::string_view key,
                             std::string_view value, const std::string& expected) {
      if (slot) line.fail_at(value, key, "a key that stands once");
      slot = read;
      if (!slot) line.fail_at(value, key, expected);
    };
    read_object(line, [&](std::string_view key, std::string_view value) {
      if (key == dialect_.arrival) {
        set(arrival, clock_ns(value, dialect_.unit_ns), key, value,
            std::string(dialect_.clock_text));
      } else if (key == dialect_.prompt_tokens) {
        set(prompt, tokens(value), key, value, count);
      } else if (key == dialect_.output_tokens) {
        set(output, tokens(value), key, value, count);
      } else if (!dialect_.hashes.empty() && key == dialect_.hashes) {
        set(hashes, numbers(value), key, value, "a list of whole numbers");
        hashes_text = value;
      }
    });
    const auto require = [&line](const auto& slot, std::string_view key) {
      if (!slot) line.fail(0, "the key '" + std::string(key) + "'", "an object without it");
    };
    require(arrival, dialect_.arrival);
    require(prompt, dialect_.prompt_tokens);
    require(output, dialect_.output_tokens);
    std::vector<PromptPiece> shared;
    if (hashes && !hashes->empty()) {
      const std::int64_t each = dialect_.hashed_tokens;
      const std::int64_t blocks = (*prompt + each - 1) / each;
      if (static_cast<std::int64_t>(hashes->size()) != blocks) {
        line.fail_at(hashes_text, dialect_.hashes,
                     std::to_string(blocks) + " of them, one for every " + std::to_string(each) +
                         " tokens of the prompt");
      }
      std::int64_t left = *prompt;
      shared.reserve(hashes->size());
      for (const std::uint64_t id : *hashes) {
        shared.push_back({id, std::min(left, each)});
        left -= each;
      }
    }
    requests_.add(*arrival, *prompt, *output, std::move(shared));
  }

 private:
  const Dialect& dialect_;
  TraceBuilder& requests_;
};

}  // namespace

bool recognizes_jsonl(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

TraceFile read_jsonl(const TraceText& trace) {
  TraceBuilder requests;
  const Dialect* dialect = nullptr;
  std::int64_t number = 0;
  for (std::string_view rest = trace.text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (dialect == nullptr) dialect = &dialect_of(trace.name, text, number);
    ObjectReader(*dialect, requests).read(Line(trace.name, text, number));
  }
  return std::move(requests).finish(trace.name);
}

std::optional<std::int64_t> clock_ns(std::string_view text, std::int64_t unit_ns) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (text.find_first_of("eE") != std::string_view::npos) {
    double value = 0.0;  // nobody writes a wall clock so: a double has digits enough
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    value *= static_cast<double>(unit_ns);
    if (!(value >= 0.0 && value < static_cast<double>(kMost))) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{} || whole < 0 || text.front() == '-') return std::nullopt;
  if (whole > kMost / unit_ns - 1) return std::nullopt;
  std::int64_t ns = whole * unit_ns;
  std::string_view decimals(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (decimals.empty()) return ns;
  if (decimals.front() != '.' || decimals.size() == 1) return std::nullopt;
  decimals.remove_prefix(1);
  std::int64_t unit = unit_ns;
  for (const char c : decimals) {
    if (c < '0' || c > '9') return std::nullopt;
    unit /= 10;
    ns += (c - '0') * unit;
  }
  return ns;
}

}  // namespace ridgeline::workloads
