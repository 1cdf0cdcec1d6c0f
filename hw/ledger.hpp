#pragma once
// Where the time of a step went. Seven causes, in whole nanoseconds, and they add up to the step
// exactly.

#include <array>
#include <cstdint>
#include <string_view>

#include "core/instant.hpp"

namespace ridgeline::hw {

enum class Cause : std::uint8_t {
  compute,        // in kernels that the matrix units bind
  memory,         // in kernels that HBM binds
  floor,          // in kernels that do so little that their fixed cost binds
  communication,  // in collectives and transfers between devices
  dispatch,       // between kernels: the device turning from one to the next
  launch,         // between kernels: the device waiting for the host to issue the next
  host,           // before and after the kernels: scheduling, sampling, detokenizing
};
inline constexpr std::size_t kCauses = 7;
inline constexpr std::array<std::string_view, kCauses> kCauseNames{
    "compute", "memory", "floor", "communication", "dispatch", "launch", "host"};

struct Ledger {
  std::array<core::Nanoseconds, kCauses> by_cause{};

  [[nodiscard]] core::Nanoseconds& operator[](Cause cause) {
    return by_cause[static_cast<std::size_t>(cause)];
  }
  [[nodiscard]] core::Nanoseconds operator[](Cause cause) const {
    return by_cause[static_cast<std::size_t>(cause)];
  }
  bool operator==(const Ledger&) const = default;

  Ledger& operator+=(const Ledger& other) {
    for (std::size_t i = 0; i < kCauses; ++i) by_cause[i] += other.by_cause[i];
    return *this;
  }
  Ledger& operator-=(const Ledger& other) {
    for (std::size_t i = 0; i < kCauses; ++i) by_cause[i] -= other.by_cause[i];
    return *this;
  }
  friend Ledger operator-(Ledger a, const Ledger& b) { return a -= b; }

  [[nodiscard]] core::Nanoseconds total() const {
    core::Nanoseconds sum{};
    for (const core::Nanoseconds part : by_cause) sum += part;
    return sum;
  }
  /// Time with a kernel on the device.
  [[nodiscard]] core::Nanoseconds busy() const {
    return (*this)[Cause::compute] + (*this)[Cause::memory] + (*this)[Cause::floor] +
           (*this)[Cause::communication];
  }
};

}  // namespace ridgeline::hw
