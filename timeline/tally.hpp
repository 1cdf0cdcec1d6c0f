#pragma once
// Counts how often each whole number occurs. A summary adds two numbers a kernel, so this is a flat
// table with open addressing; the sorted map that people read is made once, at the end.

#include <cstdint>
#include <map>
#include <vector>

namespace ridgeline::timeline {

class Tally {
 public:
  void add(std::int64_t value) {
    Slot& slot = slot_for(value);
    if (slot.count++ == 0) {
      slot.value = value;
      if (++used_ * 2 > slots_.size()) grow();
    }
  }

  /// The counts by value, ascending.
  [[nodiscard]] std::map<std::int64_t, std::int64_t> sorted() const {
    std::map<std::int64_t, std::int64_t> out;
    for (const Slot& slot : slots_) {
      if (slot.count > 0) out.emplace(slot.value, slot.count);
    }
    return out;
  }

 private:
  struct Slot {
    std::int64_t value = 0;
    std::int64_t count = 0;  // 0: free
  };

  /// Where `value` is, or the free slot where it belongs.
  [[nodiscard]] Slot& slot_for(std::int64_t value) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t mixed = static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15U;
    std::size_t i =
        static_cast<std::size_t>(mixed >> 20U) & mask;  // the low bits of a product mix badly
    while (slots_[i].count > 0 && slots_[i].value != value) i = (i + 1) & mask;
    return slots_[i];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.count > 0) slot_for(slot.value) = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace ridgeline::timeline
