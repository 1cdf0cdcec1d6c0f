#pragma once
// The shares of the time by cause that change least from what the step's own numbers say while
// agreeing with every clue: iterative proportional fitting, that is the projection of least
// information onto bounds of sums (Csiszar, Annals of Probability 3 (1975), 146-158).

#include <array>
#include <vector>

#include "diagnosis/clues.hpp"

namespace ridgeline::diagnosis {

/// What the ledger knows of a cause before any clue, as shares.
struct CauseBounds {
  double best = 0.0;
  double low = 0.0;
  double high = 0.0;
  bool measured = false;  // by a clock of its own: nothing that is open can be more of it
};

struct FittedShare {
  double best = 0.0;
  double low = 0.0;
  double high = 1.0;
};
using CauseShares = std::array<FittedShare, kCauses>;

/// `usual`: how what nobody separated usually divides, by cause.
[[nodiscard]] CauseShares fit_causes(const std::array<CauseBounds, kCauses>& known,
                                     const std::vector<Clue>& clues,
                                     const std::array<double, kCauses>& usual);

}  // namespace ridgeline::diagnosis
