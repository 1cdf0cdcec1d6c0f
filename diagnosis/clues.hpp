#pragma once
// What evidence other than the step's own numbers says about where its time goes: a change somebody
// tried, a sweep, a table of kernels, a line in a log. However they were come by, they are one
// thing: bounds on the share of the time that some causes take together. The ledger is fitted to
// them (diagnosis/time_budget.hpp).

#include <algorithm>
#include <string>
#include <vector>

#include "diagnosis/causes.hpp"
#include "diagnosis/work.hpp"

namespace ridgeline::diagnosis {

struct Clue {
  Causes causes;
  core::Interval share{0.0, 1.0};  // of the unit's time, all the causes together
  /// Of what measurement leaves open, how much more than usual these causes are to be suspected: 1
  /// says nothing.
  double suspicion = 1.0;
  bool measured = true;   // a log line or a switch only raises a suspicion
  std::string statement;  // a sentence, with its number
  Value value;            // that number
  std::string unit;       // as diagnosis/diagnose.hpp has them

  /// The share, where the clue is a share; its least otherwise.
  [[nodiscard]] double likely() const {
    return unit == "fraction" && !causes.empty() ? std::clamp(value.best, share.low, share.high)
                                                 : share.low;
  }
};

/// A clue that is a share of the time and says so; `best` is cut to the bounds.
[[nodiscard]] Clue share_clue(Causes causes, core::Interval share, double best,
                              std::string statement, Origin origin = Origin::derived);

/// All of them: trials, sweep, kernel table, timers, symptoms.
[[nodiscard]] std::vector<Clue> clues_of(const Evidence& evidence, const Work& work);

}  // namespace ridgeline::diagnosis
