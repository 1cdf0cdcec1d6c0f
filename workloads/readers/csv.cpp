#include "workloads/readers/csv.hpp"

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "workloads/readers/quote.hpp"

namespace ridgeline::workloads {
namespace {

/// Cuts the first line off `rest`, without its line end.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

void split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

std::vector<std::string_view> csv_header(std::string_view text) {
  std::vector<std::string_view> names;
  split(take_line(text), names);
  return names;
}

CsvRows::CsvRows(const TraceText& csv) : name_(csv.name), rest_(csv.text) {
  line_ = take_line(rest_);
  ++line_number_;
  split(line_, header_);
}

std::size_t CsvRows::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found != header_.end()) {
    if (const auto twice = std::find(found + 1, header_.end(), name); twice != header_.end()) {
      throw core::ConfigError(place(twice->data()) + ": " + std::string(name) +
                              ": duplicate column; first given at column " +
                              std::to_string(found->data() - line_.data() + 1));
    }
    return static_cast<std::size_t>(found - header_.begin());
  }
  constexpr std::size_t kHeaderShown = 200;
  std::string names;
  for (const std::string_view known : header_)
    names += (names.empty() ? "" : ", ") + std::string(known);
  throw core::ConfigError(name_ + ":1:1: " + std::string(name) +
                          ": expected a column of this name, got the columns " +
                          quote(names, kHeaderShown));
}

bool CsvRows::next() {
  do {
    if (rest_.empty()) return false;
    line_ = take_line(rest_);
    ++line_number_;
  } while (trim(line_).empty());
  split(line_, fields_);
  if (fields_.size() != header_.size()) {
    throw core::ConfigError(place(line_.data()) + ": expected " + std::to_string(header_.size()) +
                            " fields as in the header, got " + std::to_string(fields_.size()) +
                            ": " + quote(line_));
  }
  return true;
}

std::int64_t CsvRows::count(std::size_t column, std::int64_t most) const {
  const std::string_view text = fields_[column];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size())
    fail(column, "a whole number");
  if (error != std::errc{} || value < 0 || value > most) {
    fail(column, "a whole number from 0 to " + std::to_string(most));
  }
  return value;
}

void CsvRows::fail(std::size_t column, const std::string& expected) const {
  throw core::ConfigError(place(fields_[column].data()) + ": " + std::string(header_[column]) +
                          ": expected " + expected + ", got " + quote(fields_[column]));
}

std::string CsvRows::place(const char* at) const {
  return name_ + ":" + std::to_string(line_number_) + ":" + std::to_string(at - line_.data() + 1);
}

}  // namespace ridgeline::workloads
