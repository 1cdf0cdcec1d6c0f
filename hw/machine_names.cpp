#include "hw/machine_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/spelling.hpp"

namespace ridgeline::hw {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The letters that follow, up to the next word.
std::string_view letters_at(const core::Spelling& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.text.size() && is_letter(text.text[end]) && (end == at || !text.begins[end]))
    ++end;
  return std::string_view(text.text).substr(at, end - at);
}

/// Whether what follows makes another name of a word that ends here.
bool goes_on(const core::Spelling& text, const std::string& word, std::size_t end) {
  if (end >= text.text.size()) return false;
  // X4 is not in X40.
  if (is_digit(word.back()) && is_digit(text.text[end])) return true;
  const std::string_view letters = letters_at(text, end);
  // "K90 Ti" is not in "K90 timings", but "M300X" is in "two M300Xs".
  if (is_letter(word.back()) && !text.begins[end] && !letters.empty() && letters != "s")
    return true;
  // What vendors put behind a part's name to call another part: an RTX 3080 Ti is no RTX 3080.
  static constexpr std::array<std::string_view, 5> kSuffixes{"ti", "super", "laptop", "mobile",
                                                             "d"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), letters) != kSuffixes.end();
}

/// Whether a word begins here, the x of a count (8xT4) aside.
bool stands_apart(const core::Spelling& text, std::size_t at) {
  const bool counted = at >= 2 && text.text[at - 1] == 'x' && is_digit(text.text[at - 2]);
  return text.begins[at] || counted;
}

bool is_here(const core::Spelling& text, const std::string& word, std::size_t at) {
  constexpr std::size_t kShort = 2;  // T4 is in "int4"; longer names are in no other word
  if (word.size() <= kShort && !stands_apart(text, at)) return false;
  return !goes_on(text, word, at + word.size());
}

std::size_t find_word(const core::Spelling& text, const std::string& word) {
  std::size_t at = word.empty() ? std::string::npos : text.text.find(word);
  while (at != std::string::npos && !is_here(text, word, at)) at = text.text.find(word, at + 1);
  return at;
}

}  // namespace

MachineNames::MachineNames(const core::ConfigLibrary& library) {
  for (const auto& [word, name] : library.words("hw")) words_.emplace_back(core::plain(word), name);
}

std::string MachineNames::in(std::string_view text) const {
  const core::Spelling wanted(text);
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
