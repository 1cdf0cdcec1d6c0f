#pragma once
// Numbers the distinct texts among millions of them. Kernels repeat a few hundred names, mostly
// from the same storage, so a look at the address finds almost all of them; the text is compared
// all the same, because a source may reuse its memory.

#include <array>
#include <cstdint>
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
    if (seen.data == text.data() && seen.number < texts_.size() && texts_[seen.number] == text)
      return seen.number;
    auto at = numbers_.find(text);
    if (at == numbers_.end()) {
      texts_.emplace_back(text);
      at = numbers_.emplace(texts_.back(), static_cast<std::uint32_t>(texts_.size() - 1)).first;
    }
    seen = {text.data(), at->second};
    return at->second;
  }

  [[nodiscard]] const std::string& text(std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  static constexpr std::size_t kRecent = 256;
  struct Seen {
    const char* data = nullptr;
    std::uint32_t number = UINT32_MAX;
  };
  static std::size_t slot_of(std::string_view text) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(text.data()));
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15U) >>
                                    56U);  // its top 8 bits: one of kRecent
  }

  std::array<Seen, kRecent> recent_{};
  std::deque<std::string> texts_;  // a deque never moves its elements
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace ridgeline::timeline
