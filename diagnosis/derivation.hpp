#pragma once
// How a number came to be: an operation on other numbers, down to those that somebody gave, that
// were read or that were assumed. Immutable, and shared by everything that is computed from it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

enum class Operation : std::uint8_t {
  constant,  // of a formula
  fact,      // given, read or assumed: nothing was computed
  sum,
  difference,
  product,
  quotient,
  larger,    // of two
  overlap,   // the first, within the bounds of the second
  clamped,   // cut to bounds that are certain anyway
  taken_as,  // the same number, trusted less or more
  adjusted,  // changed in place: the number was set beside others
  computed,  // by a formula that `text` describes
};

[[nodiscard]] constexpr std::string_view name_of(Operation operation) {
  constexpr std::string_view kNames[] = {"constant", "fact",     "sum",      "difference",
                                         "product",  "quotient", "larger",   "overlap",
                                         "clamped",  "taken_as", "adjusted", "computed"};
  return kNames[static_cast<std::size_t>(operation)];
}

struct Derivation;
using Why = std::shared_ptr<const Derivation>;

struct Derivation {
  Operation operation = Operation::fact;
  Origin origin = Origin::given;
  core::Interval interval{};
  double best = 0.0;
  core::Interval bounds{};  // of `clamped`
  Why first{};
  Why second{};
  std::vector<Why> more{};  // operands after the second
  std::string text{};       // of a fact its place, of `computed` the formula in words
  std::string name{};       // what the number is, where the code that computed it says so
};

}  // namespace ridgeline::diagnosis
