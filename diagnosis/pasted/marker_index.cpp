#include "diagnosis/pasted/marker_index.hpp"

#include <cstring>

#include "core/error.hpp"

namespace ridgeline::diagnosis::pasted {

MarkerIndex::MarkerIndex(std::span<const PastedFormat* const> formats) : markers_(kSlots) {
  if (formats.size() > 64) throw core::InvariantError("more pasted formats than bits");
  for (std::size_t i = 0; i < formats.size(); ++i) {
    for (const std::string_view marker : formats[i]->markers) {
      if (marker.size() < kKey) throw core::InvariantError("a marker of fewer than three bytes");
      const std::size_t slot = slot_of(marker.data());
      used_.set(slot);
      markers_[slot].push_back({marker, std::uint64_t{1} << i});
    }
  }
}

std::size_t MarkerIndex::slot_of(const char* bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, kKey);
  // Fibonacci hashing: 2^32 over the golden ratio, the upper bits of the product.
  return static_cast<std::size_t>(word * 2654435769U >> 19U);
}

std::uint64_t MarkerIndex::formats_in(std::string_view text) const {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i + kKey <= text.size(); ++i) {
    const std::size_t slot = slot_of(text.data() + i);
    if (!used_[slot]) continue;
    for (const Marker& marker : markers_[slot]) {
      if (text.substr(i).starts_with(marker.text)) found |= marker.format;
    }
  }
  return found;
}

}  // namespace ridgeline::diagnosis::pasted
