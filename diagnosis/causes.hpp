#pragma once
// What time can be lost to. A line of the ledger has one cause, a change acts on several.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace ridgeline::diagnosis {

enum class Cause : std::uint8_t {
  bandwidth,
  compute,
  kernels,
  launch,
  host,
  communication,
  transfer,
  capacity,
  unexplained
};
inline constexpr std::size_t kCauses = 9;
inline constexpr std::array<std::string_view, kCauses> kCauseNames{
    "HBM bandwidth", "arithmetic", "kernels beyond their floor", "launches",   "the host",
    "collectives",   "transfers",  "want of KV memory",          "unexplained"};
[[nodiscard]] constexpr std::string_view name_of(Cause c) {
  return kCauseNames[static_cast<std::size_t>(c)];
}

/// A set of causes.
class Causes {
 public:
  constexpr Causes() = default;
  constexpr Causes(Cause one) : Causes({one}) {}  // NOLINT: one cause is a set of one
  constexpr Causes(std::initializer_list<Cause> several) {
    for (const Cause c : several) bits_ |= bit(c);
  }
  [[nodiscard]] constexpr bool has(Cause c) const { return (bits_ & bit(c)) != 0; }
  [[nodiscard]] constexpr bool meets(const Causes& other) const {
    return (bits_ & other.bits_) != 0;
  }
  [[nodiscard]] constexpr Causes without(Cause c) const {
    Causes out = *this;
    out.bits_ &= ~bit(c);
    return out;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const Causes&) const = default;

 private:
  static constexpr unsigned bit(Cause c) { return 1U << static_cast<unsigned>(c); }
  unsigned bits_ = 0;
};

}  // namespace ridgeline::diagnosis
