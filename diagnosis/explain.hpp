#pragma once
// "From what?", for every number of a diagnosis: the derivations that its values carry, as one list
// in which each step stands once, operands first. Two numbers that are computed alike from the same
// facts are one step, wherever in the code they were computed; that is also how a step gets its
// name: the quantities of the work are computed once more here and recognised.
//
// Left out: the weights within a heuristic. Findings, gains and the confidence are explained as far
// as the diagnosis keeps how they came to be.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/places.hpp"

namespace ridgeline::diagnosis {

/// Exponents of the units that a diagnosis deals in.
struct Unit {
  int seconds = 0;
  int bytes = 0;
  int flop = 0;
  bool fraction = false;  // a plain number that people write as per cent

  bool operator==(const Unit&) const = default;
};

struct Step {
  Operation operation = Operation::fact;
  std::string name;  // "" where it has none
  core::Interval interval;
  double best = 0.0;
  Origin origin = Origin::given;
  std::optional<Unit> unit;       // nothing where it cannot be told
  std::vector<std::size_t> from;  // operands, all of them earlier steps
  std::string text;               // of a fact its place, of others what they do in words
  core::Interval bounds{};        // of `clamped`

  /// Nothing was computed here that these steps show.
  [[nodiscard]] bool is_leaf() const { return from.empty(); }
};

enum class Asked : std::uint8_t { confidence, ledger, finding, fix, reject, quantity };
[[nodiscard]] std::string_view name_of(Asked asked);

/// A number that one can ask for.
struct Answer {
  Asked kind = Asked::quantity;
  std::string name;      // as --explain takes it
  std::string sentence;  // that it stands in
  std::size_t step = 0;
};

struct Explanation {
  std::vector<Step> steps;
  std::vector<Answer> answers;  // confidence, ledger, findings, fixes, rejects, then quantities
  std::optional<std::size_t> total;  // the step that is the ledger's total

  /// A step and all that it rests on, by their order in `steps`.
  [[nodiscard]] std::vector<std::size_t> below(std::size_t step) const;
  /// The facts among them: given, read or assumed.
  [[nodiscard]] std::vector<std::size_t> facts_below(std::size_t step) const;
};

/// `diagnosis` must be the one of `evidence`; `places` say where its quantities were written.
[[nodiscard]] Explanation explain(const Evidence& evidence, const Diagnosis& diagnosis,
                                  const Places& places = {});

/// What the operation of a step makes of its operands' numbers; its own number where the operation
/// is not one of arithmetic.
[[nodiscard]] Value evaluated(const Explanation& explanation, std::size_t step);

/// Every number of the diagnosis with its tree; or those of one quantity, by its name. ConfigError
/// with the nearest name for one that is not there.
[[nodiscard]] std::string to_text(const Explanation& explanation, std::string_view quantity = "");

/// An array of steps: id, name, operation, value, low, high, unit, origin, from (ids), and `place`
/// or `how`; `answers` where the number stands in the diagnosis. SI units. All of them, or those
/// below one quantity.
[[nodiscard]] nlohmann::ordered_json to_json(const Explanation& explanation,
                                             std::string_view quantity = "");

/// "16.0 GB, given (e.yaml:6)": a step's own number, range and origin.
[[nodiscard]] std::string number_with_origin(const Step& step);
/// "16.0 GB (15.5 to 16.5 GB)".
[[nodiscard]] std::string number_with_range(const Step& step);

}  // namespace ridgeline::diagnosis
