#pragma once
// Numbers the distinct texts among millions of them. Kernels repeat a few hundred long names, so a
// look at a few of a text's bytes finds almost all of them without hashing the rest.

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ridgeline::timeline {

class NameIndex {
 public:
  NameIndex() = default;
  NameIndex(const NameIndex&) = delete;  // numbers_ looks into texts_
  NameIndex& operator=(const NameIndex&) = delete;
  NameIndex(NameIndex&&) = default;  // a deque that moves leaves its texts where they are
  NameIndex& operator=(NameIndex&&) = default;

  /// 0, 1, 2, … in the order of first appearance.
  [[nodiscard]] std::uint32_t of(std::string_view text) {
    Seen& seen = recent_[slot_of(text)];
    if (seen.text == text && seen.number != kNone) return seen.number;
    auto at = numbers_.find(text);
    if (at == numbers_.end()) {
      texts_.emplace_back(text);
      at = numbers_.emplace(texts_.back(), static_cast<std::uint32_t>(texts_.size() - 1)).first;
    }
    seen = {at->first, at->second};
    return at->second;
  }

  [[nodiscard]] const std::string& text(std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  static constexpr std::size_t kRecent = 256;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Seen {
    std::string_view text;  // in texts_
    std::uint32_t number = kNone;
  };
  /// Of its length and bytes at both ends and between them, where the names of generated kernels
  /// differ.
  static std::size_t slot_of(std::string_view text) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    std::uint64_t mix = text.size();
    const auto add = [&](std::size_t at, std::size_t size) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, size);
      mix = (mix ^ word) * 0x9E3779B97F4A7C15U;
      mix ^= mix >> 32U;
    };
    if (text.size() < kWord) {
      if (!text.empty()) add(0, text.size());
    } else {
      const std::size_t last = text.size() - kWord;
      for (const std::size_t at : {std::size_t{0}, last / 4, last / 2, last / 4 * 3, last})
        add(at, kWord);
    }
    return static_cast<std::size_t>(mix % kRecent);
  }

  std::array<Seen, kRecent> recent_{};
  std::deque<std::string> texts_;  // a deque never moves its elements
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace ridgeline::timeline
