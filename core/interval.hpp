#pragma once
// A value known only within bounds, and arithmetic that keeps the bounds honest: the result holds
// every value that the operands could give. "78 %" read off a profiler is [0.775, 0.785]; two roads
// to one quantity whose intervals do not meet contradict each other. Operands are treated as
// independent, so `x - x` is wider than zero: write formulas with each value once where it matters.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace ridgeline::core {

struct Interval {
  double low = 0.0;
  double high = 0.0;

  constexpr Interval() = default;
  /// A value known exactly.
  constexpr Interval(double exact)
      : low(exact), high(exact) {}  // NOLINT: a plain number is an interval
  constexpr Interval(double lower, double upper) : low(lower), high(upper) {}

  constexpr bool operator==(const Interval&) const = default;

  [[nodiscard]] constexpr double middle() const { return 0.5 * (low + high); }
  [[nodiscard]] constexpr double width() const { return high - low; }
  [[nodiscard]] constexpr bool contains(double x) const { return low <= x && x <= high; }
  [[nodiscard]] constexpr bool meets(Interval other) const {
    return low <= other.high && other.low <= high;
  }

  /// Zero to infinity: nothing is known but the sign.
  static constexpr Interval unknown_positive() {
    return {0.0, std::numeric_limits<double>::infinity()};
  }
  /// `value` give or take `relative` of it.
  static constexpr Interval within(double value, double relative) {
    return {value - std::abs(value) * relative, value + std::abs(value) * relative};
  }
};

constexpr Interval operator+(Interval a, Interval b) { return {a.low + b.low, a.high + b.high}; }
constexpr Interval operator-(Interval a, Interval b) { return {a.low - b.high, a.high - b.low}; }
namespace detail {
/// 0 x infinity is 0 here: an infinite bound stands for "any finite value, however large".
constexpr double product(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }
}  // namespace detail

constexpr Interval operator*(Interval a, Interval b) {
  const double p[] = {detail::product(a.low, b.low), detail::product(a.low, b.high),
                      detail::product(a.high, b.low), detail::product(a.high, b.high)};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}
/// A divisor that reaches zero gives a quotient without bound on the side it reaches it from; one
/// with zero inside says nothing.
constexpr Interval operator/(Interval a, Interval b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if ((b.low < 0.0 && b.high > 0.0) || (b.low == 0.0 && b.high == 0.0))
    return {-kInfinity, kInfinity};
  // The reciprocal of the divisor, its bounds swapped.
  const double low = b.high == 0.0 ? -kInfinity : 1.0 / b.high;
  const double high = b.low == 0.0 ? kInfinity : 1.0 / b.low;
  if (std::isfinite(low) && std::isfinite(high) && b.low != 0.0 && b.high != 0.0 &&
      std::isfinite(b.low) && std::isfinite(b.high)) {
    const double p[] = {a.low / b.low, a.low / b.high, a.high / b.low,
                        a.high / b.high};  // exact where it can be
    return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
  }
  return a * Interval{low, high};
}

constexpr Interval max(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}
constexpr Interval min(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
constexpr Interval hull(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
/// The values both allow, or nothing when they contradict each other.
constexpr std::optional<Interval> intersect(Interval a, Interval b) {
  if (!a.meets(b)) return std::nullopt;
  return Interval{std::max(a.low, b.low), std::min(a.high, b.high)};
}
/// `a` with everything outside [low, high] cut off.
constexpr Interval clamp(Interval a, double low, double high) {
  return {std::clamp(a.low, low, high), std::clamp(a.high, low, high)};
}

}  // namespace ridgeline::core
