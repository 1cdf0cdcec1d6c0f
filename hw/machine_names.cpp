#include "hw/machine_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace ridgeline::hw {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// A text as plain() has it, and where its words began.
struct Plain {
  std::string text;
  std::vector<bool> begins;  // a separator stood before this character
};

Plain plain_with_words(std::string_view text) {
  Plain out;
  bool apart = true;
  const auto add = [&](char c) {
    out.text += c;
    out.begins.push_back(apart);
  };
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) == 0) {
      apart = true;
      continue;
    }
    if (apart && is_digit(c) && !out.text.empty() && is_digit(out.text.back())) add(' ');
    add(static_cast<char>(std::tolower(u)));
    apart = false;
  }
  return out;
}

/// What vendors put behind a part's name to call another part: an RTX 3080 Ti is no RTX 3080.
bool names_another_part(const Plain& text, std::size_t at) {
  static constexpr std::array<std::string_view, 5> kSuffixes{"ti", "super", "laptop", "mobile",
                                                             "d"};
  std::size_t end = at;
  while (end < text.text.size() && is_letter(text.text[end]) && (end == at || !text.begins[end]))
    ++end;
  const std::string_view suffix = std::string_view(text.text).substr(at, end - at);
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

/// Whether a word begins here, the x of a count (8xT4) aside.
bool stands_apart(const Plain& text, std::size_t at) {
  const bool counted = at >= 2 && text.text[at - 1] == 'x' && is_digit(text.text[at - 2]);
  return text.begins[at] || counted;
}

bool is_here(const Plain& text, const std::string& word, std::size_t at) {
  constexpr std::size_t kShort = 2;  // T4 is in "int4"; longer names are in no other word
  if (word.size() <= kShort && !stands_apart(text, at)) return false;
  const std::size_t end = at + word.size();
  // Not where a number goes on: X4 is not in X40.
  if (end < text.text.size() && is_digit(word.back()) && is_digit(text.text[end])) return false;
  return !names_another_part(text, end);
}

std::size_t find_word(const Plain& text, const std::string& word) {
  std::size_t at = word.empty() ? std::string::npos : text.text.find(word);
  while (at != std::string::npos && !is_here(text, word, at)) at = text.text.find(word, at + 1);
  return at;
}

}  // namespace

std::string plain(std::string_view text) { return plain_with_words(text).text; }

MachineNames::MachineNames(const core::ConfigLibrary& library) {
  for (const auto& [word, name] : library.words("hw")) words_.emplace_back(plain(word), name);
}

std::string MachineNames::in(std::string_view text) const {
  const Plain wanted = plain_with_words(text);
  std::string best;
  std::size_t best_at = std::string::npos;
  std::size_t best_size = 0;
  for (const auto& [word, name] : words_) {
    const std::size_t at = find_word(wanted, word);
    if (at == std::string::npos) continue;
    if (at < best_at || (at == best_at && word.size() > best_size)) {
      best = name;
      best_at = at;
      best_size = word.size();
    }
  }
  return best;
}

}  // namespace ridgeline::hw
