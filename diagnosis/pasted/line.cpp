#include "diagnosis/pasted/line.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

struct Entity {
  std::string_view written;
  std::string_view meant;
};
// &amp; last: "&amp;gt;" was escaped twice, and once is enough.
constexpr std::array<Entity, 10> kEntities{{{"&gt;", ">"},
                                            {"&lt;", "<"},
                                            {"&quot;", "\""},
                                            {"&#39;", "'"},
                                            {"&#x27;", "'"},
                                            {"&nbsp;", " "},
                                            {"&#160;", " "},
                                            {"&micro;", "\xc2\xb5"},
                                            {"&plusmn;", "\xc2\xb1"},
                                            {"&amp;", "&"}}};

/// Length of a colour or cursor code at the front: ESC [ 31 m, ^[[31m, or [31m alone; else 0.
std::size_t code_length(std::string_view at) {
  std::size_t i = 0;
  const bool escaped = at.starts_with('\x1b') || at.starts_with("^[");
  if (escaped) i = at.front() == '\x1b' ? 1 : 2;
  if (i >= at.size() || at[i] != '[') return escaped ? i : 0;
  const std::size_t first = ++i;
  while (i < at.size() && (is_digit(at[i]) || at[i] == ';' || (escaped && at[i] == '?'))) ++i;
  if (i >= at.size()) return escaped ? i : 0;
  if (escaped) return std::isalpha(static_cast<unsigned char>(at[i])) != 0 ? i + 1 : i;
  return at[i] == 'm' && i > first ? i + 1 : 0;
}

bool needs_work(std::string_view raw) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '\x1b' || c == '&' || c == '\xc2' || c == '\0') return true;
    if (c == '[' && i + 1 < raw.size() && is_digit(raw[i + 1]) && code_length(raw.substr(i)) > 0)
      return true;
    if (c == '^' && i + 1 < raw.size() && raw[i + 1] == '[') return true;
  }
  return false;
}

void append_clean(std::string_view raw, std::string& out) {
  for (std::size_t i = 0; i < raw.size();) {
    const std::string_view at = raw.substr(i);
    const char c = at.front();
    if (c == '\x1b' || c == '[' || c == '^') {
      if (const std::size_t length = code_length(at); length > 0) {
        i += length;
        continue;
      }
    } else if (c == '&') {
      const auto* const entity =
          std::find_if(kEntities.begin(), kEntities.end(),
                       [&](const Entity& e) { return at.starts_with(e.written); });
      if (entity != kEntities.end()) {
        out += entity->meant;
        i += entity->written.size();
        continue;
      }
    } else if (at.starts_with("\xc2\xa0")) {  // a space that does not break
      out += ' ';
      i += 2;
      continue;
    } else if (c == '\0') {
      out += ' ';
      ++i;
      continue;
    }
    out += c;
    ++i;
  }
}

std::string_view without_quote_marks(std::string_view text) {
  while (text.starts_with('>')) text = trim(text.substr(1));
  return text;
}

/// "2025-05-01", and also "05-01".
std::size_t date_length(std::string_view at) {
  std::size_t i = 0;
  std::size_t dashes = 0;
  while (i < at.size() && (is_digit(at[i]) || at[i] == '-' || at[i] == '/')) {
    if (!is_digit(at[i])) ++dashes;
    ++i;
  }
  return dashes >= 1 && dashes <= 2 && i >= 5 && i <= 10 && is_digit(at.front()) ? i : 0;
}

/// "12:00:00", with a fraction and a zone.
std::size_t time_length(std::string_view at) {
  if (at.size() < 8 || !is_digit(at[0]) || at[2] != ':' || at[5] != ':') return 0;
  std::size_t i = 0;
  while (i < at.size() && (is_digit(at[i]) || at[i] == ':' || at[i] == '.' || at[i] == ',' ||
                           at[i] == 'Z' || at[i] == '+')) {
    ++i;
  }
  return i;
}

/// One prefix at the front, blanks behind it included; 0 when there is none.
std::size_t prefix_length(std::string_view at) {
  if (at.empty()) return 0;
  if (at.front() == '(') {  // "(EngineCore_0 pid=123)"
    const std::size_t end = at.find(')');
    return end != std::string_view::npos && end < 80 && contains(at.substr(0, end), "pid=")
               ? end + 1
               : 0;
  }
  if (at.front() == '[') {  // "[loggers.py:116]", "[2025-05-01 12:00:00 TP0]", "[1,0]<stdout>"
    const std::size_t end = at.find(']');
    if (end == std::string_view::npos || end > 60) return 0;
    const std::string_view inside = at.substr(1, end - 1);
    const bool file = contains(inside, ".py:") || contains(inside, ".cpp:");
    const bool level = inside == "INFO" || inside == "WARNING" || inside == "DEBUG" ||
                       inside == "ERROR" || inside.starts_with("Stage-") ||
                       inside.starts_with("TensorRT-LLM") || inside == "TRT-LLM" || inside == "I" ||
                       inside == "W";
    return file || level || date_length(inside) > 0 ? end + 1 : 0;
  }
  for (const std::string_view level : {"INFO", "WARNING", "ERROR", "DEBUG", "WARN"}) {
    if (at.starts_with(level) && at.size() > level.size() &&
        (at[level.size()] == ' ' || at[level.size()] == ':'))
      return level.size() + 1;
  }
  if (is_digit(at.front())) {
    if (const std::size_t length = date_length(at); length > 0 && length < at.size())
      return at[length] == 'T' ? length + 1 : at[length] == ' ' ? length : 0;
    return time_length(at);
  }
  // "loggers.py:116]" of older vLLM, and "vllm-1  |" of docker compose
  const std::size_t blank = at.find(' ');
  if (blank == std::string_view::npos || blank == 0 || blank > 40) return 0;
  const std::string_view word = at.substr(0, blank);
  if (word.back() == ']' && contains(word, ".py:")) return blank;
  const std::string_view behind = trim(at.substr(blank));
  if (behind.starts_with("| ") && is_digit(word.back()) && contains(word, "-"))
    return at.size() - behind.size() + 1;
  return 0;
}

}  // namespace

Lines::Lines(std::string_view text) : rest_(text) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);  // byte order mark
}

bool Lines::next(Line& line) {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  std::string_view raw = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  // A progress bar redraws its line: what was written last stands there.
  for (std::size_t back = 0; (back = raw.rfind('\r')) != std::string_view::npos;) {
    const std::string_view last = raw.substr(back + 1);
    raw = cleaned(last, buffer_).empty() ? raw.substr(0, back) : last;
  }
  line.raw = raw;
  line.text = cleaned(raw, buffer_);
  line.body = without_log_prefix(line.text);
  line.number = ++number_;
  return true;
}

std::string_view cleaned(std::string_view raw, std::string& buffer) {
  if (!needs_work(raw)) return without_quote_marks(trim(raw));
  buffer.clear();
  append_clean(raw, buffer);
  return without_quote_marks(trim(buffer));
}

std::string_view without_log_prefix(std::string_view text) {
  constexpr int kMost = 12;  // prefixes nest: container, process, level, date, time, file
  for (int i = 0; i < kMost; ++i) {
    const std::size_t length = prefix_length(text);
    if (length == 0) break;
    text = trim(text.substr(length));
    if (text.starts_with("- ")) text = trim(text.substr(2));  // "12:00:00,123 - INFO - autotuner"
  }
  return text;
}

}  // namespace ridgeline::diagnosis::pasted
