#pragma once
// Simulated time in whole nanoseconds. Every decision of the server compares Instants and every
// line of a ledger is a count of Nanoseconds, so parts add up exactly and a run repeats bit for bit
// whatever ran before it in the process.
//
// Seconds (core/units.hpp) is what a cost formula yields; `round_to_ns` is the one place where it
// becomes Nanoseconds.

#include <cmath>
#include <compare>
#include <cstdint>

#include "core/units.hpp"

namespace ridgeline::core {

/// A length of time as an integer count of nanoseconds.
struct Nanoseconds {
  std::int64_t count = 0;

  constexpr auto operator<=>(const Nanoseconds&) const = default;
  constexpr Nanoseconds& operator+=(Nanoseconds other) {
    count += other.count;
    return *this;
  }
  constexpr Nanoseconds& operator-=(Nanoseconds other) {
    count -= other.count;
    return *this;
  }
  friend constexpr Nanoseconds operator+(Nanoseconds a, Nanoseconds b) { return a += b; }
  friend constexpr Nanoseconds operator-(Nanoseconds a, Nanoseconds b) { return a -= b; }
  friend constexpr Nanoseconds operator*(Nanoseconds a, std::int64_t n) { return {a.count * n}; }

  [[nodiscard]] constexpr Seconds seconds() const {
    return Seconds{static_cast<double>(count) * 1e-9};
  }
};

/// A point in simulated time: nanoseconds since the simulation's start.
struct Instant {
  std::int64_t ns = 0;

  constexpr auto operator<=>(const Instant&) const = default;
  friend constexpr Instant operator+(Instant t, Nanoseconds d) { return {t.ns + d.count}; }
  friend constexpr Instant operator-(Instant t, Nanoseconds d) { return {t.ns - d.count}; }
  friend constexpr Nanoseconds operator-(Instant a, Instant b) { return {a.ns - b.ns}; }

  [[nodiscard]] constexpr Seconds since_start() const {
    return Seconds{static_cast<double>(ns) * 1e-9};
  }
};

/// Later than anything that will happen.
inline constexpr Instant kNever{INT64_MAX};

/// The nearest whole number of nanoseconds, halves away from zero.
inline Nanoseconds round_to_ns(Seconds time) { return {std::llround(time.value() * 1e9)}; }

}  // namespace ridgeline::core
