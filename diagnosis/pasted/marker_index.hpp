#pragma once
// Which formats may know a line: those of which a marker occurs in it. One pass over the line
// whatever the number of formats, so that a log of a million foreign lines is read as fast as it is
// copied.

#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "diagnosis/pasted/format.hpp"

namespace ridgeline::diagnosis::pasted {

class MarkerIndex {
 public:
  explicit MarkerIndex(std::span<const PastedFormat* const> formats);

  /// A bit for each format, the first is bit 0.
  [[nodiscard]] std::uint64_t formats_in(std::string_view text) const;

 private:
  struct Marker {
    std::string_view text;
    std::uint64_t format;
  };
  static constexpr std::size_t kKey = 3;            // bytes that a slot is found by
  static constexpr std::size_t kSlots = 1U << 13U;  // many more than markers: most bytes miss

  [[nodiscard]] static std::size_t slot_of(const char* bytes);

  std::bitset<kSlots> used_;
  std::vector<std::vector<Marker>> markers_;  // by slot
};

}  // namespace ridgeline::diagnosis::pasted
