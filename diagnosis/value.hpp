#pragma once
// What is known of a quantity: the bounds it certainly lies in, the number a person would write
// down for it, and where it came from. Arithmetic carries all three: bounds by interval arithmetic,
// the number by plain arithmetic, the origin by its weakest ancestor. It also leaves behind how the
// number came to be (diagnosis/derivation.hpp), so that every number can be asked "from what?".
// `Maybe` is a value that evidence may lack; whatever is computed from an absent value is absent.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/interval.hpp"
#include "diagnosis/derivation.hpp"

namespace ridgeline::diagnosis {

struct Value {
  core::Interval interval;
  double best = 0.0;  // inside the interval
  Origin origin = Origin::given;
  std::string from;  // "profile.hbm_fraction", "configs/hw/mi300x": for people
  Why why;           // nothing for a constant, and for a number whose computation left no trace

  Value() = default;
  /// A number known exactly: a constant of a formula.
  Value(double exact)
      : interval(exact), best(exact) {}  // NOLINT: formulas mix constants and values
  Value(core::Interval bounds, Origin o, std::string where = {})
      : Value(bounds, bounds.middle(), o, std::move(where)) {}
  Value(core::Interval bounds, double best_guess, Origin o, std::string where = {})
      : interval(bounds), best(best_guess), origin(o), from(std::move(where)) {
    // Made here and not when it is asked for, so that all that is computed from it shares it.
    if (!from.empty()) why = leaf();
  }

  [[nodiscard]] double low() const { return interval.low; }
  [[nodiscard]] double high() const { return interval.high; }
  /// The same value cut to [low, high].
  [[nodiscard]] Value clamped(double low, double high) const;
  [[nodiscard]] Value as(Origin o) const;
  /// The number that a person would write down, as if it were certain.
  [[nodiscard]] Value at_best() const {
    Value out = clamped(best, best);
    out.origin = origin;
    return out;
  }
  /// The same value, and what to call it where it is explained.
  [[nodiscard]] Value named(std::string name) const;

  /// How this number came to be; never nothing. Whoever writes to the members of a value is found
  /// out here: the derivation then says that its number was adjusted.
  [[nodiscard]] Why derivation() const;

 private:
  [[nodiscard]] Why leaf() const;
};

namespace detail {

[[nodiscard]] inline Value result(Operation operation, core::Interval interval, double best,
                                  Origin origin, const Value& a, const Value& b) {
  Value out(interval, best, origin);
  out.why = std::make_shared<const Derivation>(
      Derivation{operation, origin, interval, best, {}, a.derivation(), b.derivation()});
  return out;
}

}  // namespace detail

/// A number by a formula that these operators do not have: `how` says it in words.
[[nodiscard]] inline Value computed(std::string how, core::Interval interval, double best,
                                    Origin origin, const std::vector<Value>& from) {
  Derivation d{Operation::computed, origin, interval, best};
  for (const Value& v : from) {
    Why& place = !d.first ? d.first : !d.second ? d.second : d.more.emplace_back();
    place = v.derivation();
  }
  d.text = std::move(how);
  Value out(interval, best, origin);
  out.why = std::make_shared<const Derivation>(std::move(d));
  return out;
}

inline Why Value::leaf() const {
  const bool exact = from.empty() && origin == Origin::given && interval == core::Interval(best);
  Derivation d{exact ? Operation::constant : Operation::fact, origin, interval, best};
  d.text = from;
  return std::make_shared<const Derivation>(std::move(d));
}

inline Why Value::derivation() const {
  if (!why) return leaf();
  if (why->interval == interval && why->best == best && why->origin == origin) return why;
  return std::make_shared<const Derivation>(
      Derivation{Operation::adjusted, origin, interval, best, {}, why});
}

inline Value Value::clamped(double low, double high) const {
  Value out = *this;
  out.interval = core::clamp(interval, low, high);
  out.best = std::clamp(best, low, high);
  if (out.interval == interval && out.best == best) return out;
  out.why = std::make_shared<const Derivation>(
      Derivation{Operation::clamped, origin, out.interval, out.best, {low, high}, derivation()});
  return out;
}

inline Value Value::as(Origin o) const {
  Value out = *this;
  if (o == origin) return out;
  out.origin = o;
  out.why = std::make_shared<const Derivation>(
      Derivation{Operation::taken_as, o, interval, best, {}, derivation()});
  return out;
}

inline Value Value::named(std::string name) const {
  Value out = *this;
  Derivation d = *derivation();
  d.name = std::move(name);
  out.why = std::make_shared<const Derivation>(std::move(d));
  return out;
}

using Maybe = std::optional<Value>;

[[nodiscard]] inline Value read_exactly(double x, std::string from = {}) {
  return {core::Interval(x), x, Origin::read, std::move(from)};
}

[[nodiscard]] constexpr Origin weakest(Origin a, Origin b) {
  const Origin w = a < b ? b : a;
  return w == Origin::assumed ? w : Origin::derived;
}

inline Value operator+(const Value& a, const Value& b) {
  return detail::result(Operation::sum, a.interval + b.interval, a.best + b.best,
                        weakest(a.origin, b.origin), a, b);
}
inline Value operator-(const Value& a, const Value& b) {
  return detail::result(Operation::difference, a.interval - b.interval, a.best - b.best,
                        weakest(a.origin, b.origin), a, b);
}
inline Value operator*(const Value& a, const Value& b) {
  return detail::result(Operation::product, a.interval * b.interval, a.best * b.best,
                        weakest(a.origin, b.origin), a, b);
}
/// The divisor is a positive quantity; its lower bound may be zero, which leaves the quotient
/// without an upper one.
inline Value operator/(const Value& a, const Value& b) {
  constexpr double kTiny = 1e-300;
  const core::Interval divisor{std::max(b.low(), kTiny), std::max(b.high(), kTiny)};
  return detail::result(Operation::quotient, a.interval / divisor, a.best / std::max(b.best, kTiny),
                        weakest(a.origin, b.origin), a, b);
}

/// The larger of two, bound by bound.
[[nodiscard]] inline Value larger(const Value& a, const Value& b) {
  return detail::result(Operation::larger, core::max(a.interval, b.interval),
                        std::max(a.best, b.best), weakest(a.origin, b.origin), a, b);
}
/// `a` within the bounds of `b` too; nothing where they do not meet. As trusted as `a`.
[[nodiscard]] inline Maybe overlap(const Value& a, const Value& b) {
  const auto both = core::intersect(a.interval, b.interval);
  if (!both) return std::nullopt;
  return detail::result(Operation::overlap, *both, std::clamp(a.best, both->low, both->high),
                        a.origin, a, b);
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
