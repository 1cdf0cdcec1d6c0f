#include "diagnosis/pasted/words.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/lower.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool thousands_follow(std::string_view text) {
  return text.size() >= 3 && is_digit(text[0]) && is_digit(text[1]) && is_digit(text[2]) &&
         (text.size() == 3 || !is_digit(text[3]));
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::string_view> after(std::string_view text, std::string_view marker) {
  const std::size_t at = text.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  return trim(text.substr(at + marker.size()));
}

std::optional<Number> number_at(std::string_view text) {
  constexpr std::size_t kLongest = 40;  // no tool prints more digits
  Number out;
  std::size_t i = 0;
  bool point = false;
  bool digit = false;
  for (; i < text.size() && i < kLongest; ++i) {
    const char c = text[i];
    if (is_digit(c)) {
      digit = true;
    } else if (c == ',' && digit && !point && thousands_follow(text.substr(i + 1))) {
      continue;
    } else if (c == '.' && !point && i + 1 < text.size() && is_digit(text[i + 1])) {
      point = true;
    } else {
      break;
    }
    out.digits += c;
  }
  if (!digit || i == kLongest) return std::nullopt;
  if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t j = i + 1;
    if (text[j] == '+' || text[j] == '-') ++j;
    const std::size_t first = j;
    while (j < text.size() && is_digit(text[j])) ++j;
    if (j > first && j - first <= 3) {
      out.digits += 'e';
      if (text[i + 1] == '-') out.digits += '-';
      out.digits += text.substr(first, j - first);
      i = j;
    }
  }
  const char* const end = out.digits.data() + out.digits.size();
  const auto [stop, error] = std::from_chars(out.digits.data(), end, out.value);
  if (error != std::errc{} || stop != end || !std::isfinite(out.value)) return std::nullopt;
  out.rest = trim(text.substr(i));
  return out;
}

std::optional<Number> number_after(std::string_view text, std::string_view marker) {
  const auto behind = after(text, marker);
  return behind ? number_at(*behind) : std::nullopt;
}

std::string whole_text(double value) {
  const double low = std::floor(value);
  return low == value ? fmt::format("{:.0f}", value) : fmt::format("{:.0f}-{:.0f}", low, low + 1.0);
}

std::string truth_text(std::string_view written) {
  std::string lower = core::lower(written);
  if (lower == "true" || lower == "1" || lower == "on" || lower == "enabled") return "true";
  if (lower == "false" || lower == "0" || lower == "off" || lower == "disabled") return "false";
  return lower;
}

std::string_view word_at(std::string_view text, std::string_view stops) {
  std::size_t i = 0;
  while (i < text.size() && !is_blank(text[i]) && stops.find(text[i]) == std::string_view::npos)
    ++i;
  return text.substr(0, i);
}

std::vector<std::string_view> cells_of(std::string_view text) {
  std::vector<std::string_view> cells;
  if (text.size() < 3 || text.front() != '|') return cells;
  text.remove_prefix(1);
  if (text.ends_with('|')) text.remove_suffix(1);
  while (true) {
    const std::size_t bar = text.find('|');
    cells.push_back(trim(text.substr(0, bar)));
    if (bar == std::string_view::npos) return cells;
    text.remove_prefix(bar + 1);
  }
}

std::vector<std::string> csv_cells(std::string_view text) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
        cells.back() += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) cell = trim(cell);
  return cells;
}

std::vector<std::string_view> columns_of(std::string_view text) {
  std::vector<std::string_view> columns;
  text = trim(text);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t j = i;
    while (j < text.size() && is_blank(text[j])) ++j;
    if (j - i >= 2 || (j > i && text[i] == '\t')) {
      columns.push_back(text.substr(begin, i - begin));
      begin = j;
    }
    i = j == i ? i + 1 : j;
  }
  if (!text.empty()) columns.push_back(text.substr(begin));
  return columns;
}

}  // namespace ridgeline::diagnosis::pasted
