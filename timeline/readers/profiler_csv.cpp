#include "timeline/readers/profiler_csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace ridgeline::timeline {
namespace {

constexpr std::size_t kShown = 80;

/// A piece of the file in an error message: short, and of one line.
std::string quoted(std::string_view text, std::size_t most = kShown) {
  std::string out = "'";
  for (const char c : text.substr(0, most)) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out + (text.size() > most ? "…'" : "'");
}

void drop_byte_order_mark(std::string_view& text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

ProfilerCsv::ProfilerCsv(std::string name, std::string_view text)
    : name_(std::move(name)), rest_(text) {
  drop_byte_order_mark(rest_);
  if (!next())
    throw core::ConfigError(name_ + ": the file is empty; expected a table with a header");
  if (!unescaped_.empty())
    throw core::ConfigError(place() +
                            ": expected a header of plain names, got quotes inside quotes");
  header_ = std::exchange(fields_, {});
}

std::optional<std::size_t> ProfilerCsv::column(
    std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
  }
  return std::nullopt;
}

std::size_t ProfilerCsv::required(std::initializer_list<std::string_view> names) const {
  if (const auto found = column(names)) return *found;
  constexpr std::size_t kHeaderShown = 200;
  std::string known;
  for (const std::string_view h : header_) {
    if (known.size() <= kHeaderShown) known += (known.empty() ? "" : ", ") + std::string(h);
  }
  throw core::ConfigError(name_ + ":1: " + std::string(*names.begin()) +
                          ": expected a column of this name, got the columns " +
                          quoted(known, kHeaderShown));
}

bool ProfilerCsv::for_each_row(const std::function<void()>& row) {
  while (next()) {
    if (fields_.size() != header_.size() || open_quote_) {
      if (unterminated_) return true;
      throw core::ConfigError(place() + ": expected " + std::to_string(header_.size()) +
                              " fields as in the header, got " + std::to_string(fields_.size()));
    }
    if (!unterminated_) {
      row();
      continue;
    }
    try {
      row();
    } catch (const core::ConfigError&) {
      return true;
    }
  }
  return false;
}

bool ProfilerCsv::next() {
  while (!rest_.empty() && (rest_.front() == '\n' || rest_.front() == '\r')) {
    if (rest_.front() == '\n') ++lines_read_;
    rest_.remove_prefix(1);
  }
  if (rest_.empty()) return false;
  line_ = lines_read_ + 1;
  fields_.clear();
  unescaped_.clear();
  open_quote_ = false;
  while (true) {
    if (rest_.starts_with('"')) {
      fields_.push_back(take_quoted());
    } else {
      const std::size_t end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
      fields_.push_back(trim(rest_.substr(0, end)));
      rest_.remove_prefix(end);
    }
    unterminated_ = rest_.empty();
    if (unterminated_) return true;
    const char separator = rest_.front();
    if (separator != ',') return true;  // the line end is skipped at the next call
    rest_.remove_prefix(1);
  }
}

/// Leaves `rest_` at the separator behind the field. What stands between the closing quote and the
/// separator is not looked at.
std::string_view ProfilerCsv::take_quoted() {
  rest_.remove_prefix(1);
  std::string* joined = nullptr;
  std::string_view field;
  while (true) {
    const std::size_t quote = std::min(rest_.find('"'), rest_.size());
    const std::string_view piece = rest_.substr(0, quote);
    lines_read_ += std::count(piece.begin(), piece.end(), '\n');
    const bool doubled = rest_.substr(std::min(quote + 1, rest_.size())).starts_with('"');
    if (doubled && joined == nullptr) joined = &unescaped_.emplace_back();
    if (joined != nullptr) {
      *joined += piece;
    } else {
      field = piece;
    }
    if (quote == rest_.size()) {
      open_quote_ = true;
      rest_ = {};
      break;
    }
    rest_.remove_prefix(quote + 1);
    if (!doubled) {
      rest_.remove_prefix(std::min(rest_.find_first_of(",\r\n"), rest_.size()));
      break;
    }
    *joined += '"';
    rest_.remove_prefix(1);
  }
  return joined != nullptr ? std::string_view(*joined) : field;
}

std::int64_t ProfilerCsv::count(std::size_t column, std::int64_t most) const {
  const std::string_view field = fields_[column];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc::invalid_argument || end != field.data() + field.size())
    fail(column, "a whole number");
  if (error != std::errc{} || value < 0 || value > most)
    fail(column, "a whole number from 0 to " + std::to_string(most));
  return value;
}

std::int64_t ProfilerCsv::count_or(std::optional<std::size_t> column, std::int64_t fallback,
                                   std::int64_t most) const {
  return column && !fields_[*column].empty() ? count(*column, most) : fallback;
}

std::optional<double> ProfilerCsv::number(std::size_t column) const {
  const std::string_view field = fields_[column];
  double value = 0.0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool whole = error == std::errc{} && end == field.data() + field.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::int32_t ProfilerCsv::trailing_number(std::optional<std::size_t> column) const {
  if (!column || fields_[*column].empty()) return 0;
  const std::string_view field = fields_[*column];
  std::size_t begin = field.size();
  while (begin > 0 && field[begin - 1] >= '0' && field[begin - 1] <= '9') --begin;
  std::int32_t value = 0;
  const auto [end, error] =
      std::from_chars(field.data() + begin, field.data() + field.size(), value);
  if (error != std::errc{}) fail(*column, "a number, or a name that ends in one");
  return value;
}

void ProfilerCsv::fail(std::size_t column, const std::string& expected) const {
  throw core::ConfigError(place() + ": " + std::string(header_[column]) + ": expected " + expected +
                          ", got " + quoted(fields_[column]));
}

std::vector<std::string_view> profiler_csv_header(std::string_view text) {
  drop_byte_order_mark(text);
  constexpr std::size_t kLongest =
      1U << 20U;  // pmc_perf.csv has thousands of columns; a JSON file may be one line
  std::string_view line = text.substr(0, kLongest);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string_view> names;
  if (line.empty() || line.front() == '{' || line.front() == '[' ||
      line.find('\0') != std::string_view::npos)
    return names;
  while (true) {
    const std::size_t comma = line.find(',');
    std::string_view name = trim(line.substr(0, comma));
    if (name.size() >= 2 && name.starts_with('"') && name.ends_with('"'))
      name = name.substr(1, name.size() - 2);
    names.push_back(name);
    if (comma == std::string_view::npos) return names;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace ridgeline::timeline
