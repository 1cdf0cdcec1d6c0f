#include "timeline/readers/json_cursor.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace ridgeline::timeline {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

enum class Mark : std::uint8_t { none, quote, open, close, escape };

constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  marks['"'] = Mark::quote;
  marks['{'] = marks['['] = Mark::open;
  marks['}'] = marks[']'] = Mark::close;
  marks['\\'] = Mark::escape;
  return marks;
}();

/// Bytes of `word` that equal `byte` have their highest bit set in the result. (The lowest set one
/// is exact, all that is asked.)
constexpr std::uint64_t bytes_equal(std::uint64_t word, std::uint8_t byte) {
  const std::uint64_t difference = word ^ (0x0101010101010101U * byte);
  return (difference - 0x0101010101010101U) & ~difference & 0x8080808080808080U;
}

}  // namespace

JsonCursor::JsonCursor(std::string_view text, std::size_t at) : text_(text), at_(at) {
  if (at_ == 0 && text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte-order mark
}

void JsonCursor::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool JsonCursor::fail(std::size_t at) {
  at_ = at;
  damaged_ = true;
  return false;
}

bool JsonCursor::enter(char bracket) {
  skip_space();
  if (damaged_ || at_ >= text_.size() || text_[at_] != bracket) return false;
  ++at_;
  return true;
}

bool JsonCursor::next_element() {
  if (damaged_) return false;
  skip_space();
  // Commas that are missing or too many are let pass: nothing is lost by them.
  while (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    skip_space();
  }
  if (at_ >= text_.size()) return fail(at_);
  if (text_[at_] == ']') {
    ++at_;
    return false;
  }
  return true;
}

bool JsonCursor::next_member(std::string_view& key) {
  if (damaged_) return false;
  skip_space();
  while (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    skip_space();
  }
  if (at_ >= text_.size()) return fail(at_);
  if (text_[at_] == '}') {
    ++at_;
    return false;
  }
  if (text_[at_] != '"') return fail(at_);
  const std::size_t begin = at_ + 1;
  const std::size_t end = end_of_string(begin);
  if (end == kNone) return fail(at_);
  key = text_.substr(begin, end - 1 - begin);
  at_ = end;
  skip_space();
  if (at_ >= text_.size() || text_[at_] != ':') return fail(at_);
  ++at_;
  return true;
}

std::optional<std::string_view> JsonCursor::value() {
  if (damaged_) return std::nullopt;
  skip_space();
  const std::size_t begin = at_;
  std::size_t end = begin;
  const char first = begin < text_.size() ? text_[begin] : '\0';
  if (first == '"') {
    end = end_of_string(begin + 1);
  } else if (first == '{' || first == '[') {
    end = end_of_nested(begin + 1);
  } else {
    while (end < text_.size() && !is_space(text_[end]) &&
           std::string_view(",:\"{}[]").find(text_[end]) == kNone)
      ++end;
    if (end == begin || end == text_.size())
      end = kNone;  // a number that the text's end may have cut is not one
  }
  if (end == kNone) {
    fail(begin);
    return std::nullopt;
  }
  at_ = end;
  return text_.substr(begin, end - begin);
}

std::size_t JsonCursor::end_of_string(std::size_t i) const {
  const char* text = text_.data();
  const std::size_t size = text_.size();
  while (true) {
    if constexpr (std::endian::native == std::endian::little) {
      while (i + 8 <= size) {
        std::uint64_t word = 0;
        std::memcpy(&word, text + i, 8);
        const std::uint64_t hits = bytes_equal(word, '"') | bytes_equal(word, '\\');
        if (hits != 0) {
          i += static_cast<std::size_t>(std::countr_zero(hits)) / 8;
          break;
        }
        i += 8;
      }
    }
    while (i < size && text[i] != '"' && text[i] != '\\') ++i;
    if (i >= size) return kNone;
    if (text[i] == '"') return i + 1;
    i += 2;  // a backslash and what it escapes
  }
}

std::size_t JsonCursor::end_of_nested(std::size_t i) const {
  std::size_t depth = 1;
  while (i < text_.size()) {
    switch (kMarks[static_cast<unsigned char>(text_[i++])]) {
      case Mark::none:
        break;
      case Mark::quote:
        i = end_of_string(i);
        if (i == kNone) return kNone;
        break;
      case Mark::open:
        ++depth;
        break;
      case Mark::escape:
        ++i;  // outside a string it is damage; simdjson sees no quote behind it
        break;
      case Mark::close:
        if (--depth == 0) return i;
        break;
    }
  }
  return kNone;
}

}  // namespace ridgeline::timeline
