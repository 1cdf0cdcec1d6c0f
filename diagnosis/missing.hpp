#pragma once
// Which number that nobody gave would tell most. Each that is worth asking for is tried at values
// that it could have (diagnosis/field_guide.hpp), and the evidence diagnosed anew with each: what
// changes the regime, or how sure it is, comes first. A value that contradicts what is known is no
// answer and is left out; so is one that would make it another question (a prefill instead of a
// decode step).
//
// Left out: two numbers that tell something only together, and how likely each value is: all of a
// range count alike, in equal steps for fractions and in equal ratios for everything else.

#include <string>
#include <string_view>
#include <vector>

#include "core/quantity_text.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/evidence.hpp"

namespace ridgeline::diagnosis {

/// A stretch of values that have one regime.
struct Band {
  core::Interval values;
  Regime regime = Regime::mixed;
  core::Interval confidence;
};

struct Missing {
  std::string path;  // "profile.hbm_fraction"
  std::string_view meaning;
  core::Dimension dimension = core::Dimension::none;
  std::vector<Band> bands;  // in rising order; of a switch, false and true as 0 and 1
  bool is_switch = false;
  /// How far the answer moves the diagnosis on average: half the sum over the regimes of what each
  /// gains or loses, where a diagnosis stands by its regime with its confidence and by all others
  /// equally with the rest.
  double separates = 0.0;
  std::string sentence;  // "above about 55 % it is bandwidth_bound, below overhead_bound"
};

/// The numbers to ask for, the one that separates most first, at most `most`.
[[nodiscard]] std::vector<Missing> missing_numbers(const Evidence& evidence, std::size_t most = 8);

/// What no single number gives: a GPU or a model that is not known, and how to make it known.
/// Sentences.
[[nodiscard]] std::vector<std::string> unknown_things(const Evidence& evidence);

}  // namespace ridgeline::diagnosis
