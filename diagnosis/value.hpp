#pragma once
// What is known of a quantity: the bounds it certainly lies in, the number a person would write
// down for it, and where it came from. Arithmetic carries all three: bounds by interval arithmetic,
// the number by plain arithmetic, the origin by its weakest ancestor. `Maybe` is a value that
// evidence may lack; whatever is computed from an absent value is absent.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/interval.hpp"

namespace ridgeline::diagnosis {

/// From strong to weak.
enum class Origin : std::uint8_t {
  given,    // somebody said so
  read,     // read off a timeline or a configuration
  derived,  // computed from given and read values
  assumed,  // or rests on something that nobody said
};

[[nodiscard]] constexpr std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::given:
      return "given";
    case Origin::read:
      return "read";
    case Origin::derived:
      return "derived";
    case Origin::assumed:
      return "assumed";
  }
  return "";
}

struct Value {
  core::Interval interval;
  double best = 0.0;  // inside the interval
  Origin origin = Origin::given;
  std::string from;  // "profile.hbm_fraction", "configs/hw/mi300x": for people

  Value() = default;
  /// A number known exactly: a constant of a formula.
  Value(double exact)
      : interval(exact), best(exact) {}  // NOLINT: formulas mix constants and values
  Value(core::Interval bounds, Origin o, std::string where = {})
      : Value(bounds, bounds.middle(), o, std::move(where)) {}
  Value(core::Interval bounds, double best_guess, Origin o, std::string where = {})
      : interval(bounds), best(best_guess), origin(o), from(std::move(where)) {}

  [[nodiscard]] double low() const { return interval.low; }
  [[nodiscard]] double high() const { return interval.high; }
  /// The same value cut to [low, high].
  [[nodiscard]] Value clamped(double low, double high) const {
    return {core::clamp(interval, low, high), std::clamp(best, low, high), origin, from};
  }
  [[nodiscard]] Value as(Origin o) const { return {interval, best, o, from}; }
};

using Maybe = std::optional<Value>;

[[nodiscard]] inline Value read_exactly(double x, std::string from = {}) {
  return {core::Interval(x), x, Origin::read, std::move(from)};
}

[[nodiscard]] constexpr Origin weakest(Origin a, Origin b) {
  const Origin w = a < b ? b : a;
  return w == Origin::assumed ? w : Origin::derived;
}

inline Value operator+(const Value& a, const Value& b) {
  return {a.interval + b.interval, a.best + b.best, weakest(a.origin, b.origin)};
}
inline Value operator-(const Value& a, const Value& b) {
  return {a.interval - b.interval, a.best - b.best, weakest(a.origin, b.origin)};
}
inline Value operator*(const Value& a, const Value& b) {
  return {a.interval * b.interval, a.best * b.best, weakest(a.origin, b.origin)};
}
/// The divisor is a positive quantity; its lower bound may be zero, which leaves the quotient
/// without an upper one.
inline Value operator/(const Value& a, const Value& b) {
  constexpr double kTiny = 1e-300;
  const core::Interval divisor{std::max(b.low(), kTiny), std::max(b.high(), kTiny)};
  return {a.interval / divisor, a.best / std::max(b.best, kTiny), weakest(a.origin, b.origin)};
}

inline Maybe operator+(const Maybe& a, const Maybe& b) {
  return a && b ? Maybe(*a + *b) : std::nullopt;
}
inline Maybe operator-(const Maybe& a, const Maybe& b) {
  return a && b ? Maybe(*a - *b) : std::nullopt;
}
inline Maybe operator*(const Maybe& a, const Maybe& b) {
  return a && b ? Maybe(*a * *b) : std::nullopt;
}
inline Maybe operator/(const Maybe& a, const Maybe& b) {
  return a && b ? Maybe(*a / *b) : std::nullopt;
}

/// The first that is there.
[[nodiscard]] inline Maybe either(Maybe a, Maybe b) { return a ? std::move(a) : std::move(b); }
[[nodiscard]] inline double best_or(const Maybe& value, double fallback) {
  return value ? value->best : fallback;
}

}  // namespace ridgeline::diagnosis
