#pragma once
// Strong types for the quantities a simulated machine is described in. Each is one double in SI
// units; only operations that mean something exist (Bytes / BytesPerSecond is Seconds, Bytes +
// Seconds does not compile). Bare doubles appear only at the edges: SimGrid, JSON and Python.

#include <compare>

namespace ridgeline::core {

template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  /// The number of SI units: seconds, bytes, operations, or their rates.
  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return a *= factor; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return a *= factor; }
  friend constexpr Quantity operator/(Quantity a, double divisor) {
    return Quantity{a.value_ / divisor};
  }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

 private:
  double value_ = 0.0;
};

using Seconds = Quantity<struct SecondsUnit>;
using Bytes = Quantity<struct BytesUnit>;
using Flop = Quantity<struct FlopUnit>;
using BytesPerSecond = Quantity<struct BytesPerSecondUnit>;
using FlopPerSecond = Quantity<struct FlopPerSecondUnit>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
  return Seconds{amount.value() / rate.value()};
}
constexpr Seconds operator/(Flop work, FlopPerSecond rate) {
  return Seconds{work.value() / rate.value()};
}
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
  return BytesPerSecond{amount.value() / time.value()};
}
constexpr FlopPerSecond operator/(Flop work, Seconds time) {
  return FlopPerSecond{work.value() / time.value()};
}
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) {
  return Bytes{rate.value() * time.value()};
}
constexpr Flop operator*(FlopPerSecond rate, Seconds time) {
  return Flop{rate.value() * time.value()};
}

inline namespace literals {
constexpr Seconds operator""_s(long double v) { return Seconds{static_cast<double>(v)}; }
constexpr Seconds operator""_ms(long double v) { return Seconds{static_cast<double>(v) * 1e-3}; }
constexpr Seconds operator""_us(long double v) { return Seconds{static_cast<double>(v) * 1e-6}; }
constexpr Bytes operator""_MB(long double v) { return Bytes{static_cast<double>(v) * 1e6}; }
constexpr Bytes operator""_GB(long double v) { return Bytes{static_cast<double>(v) * 1e9}; }
constexpr BytesPerSecond operator""_TBps(long double v) {
  return BytesPerSecond{static_cast<double>(v) * 1e12};
}
constexpr FlopPerSecond operator""_TFLOPps(long double v) {
  return FlopPerSecond{static_cast<double>(v) * 1e12};
}
constexpr Flop operator""_GFLOP(long double v) { return Flop{static_cast<double>(v) * 1e9}; }
}  // namespace literals

}  // namespace ridgeline::core
