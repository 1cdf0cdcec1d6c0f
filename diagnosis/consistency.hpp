#pragma once
// The same quantity by two roads. Where the roads do not meet, something was misread, and the
// evidence often says what.

#include <string>
#include <vector>

#include "diagnosis/time_budget.hpp"

namespace ridgeline::diagnosis {

struct Inconsistency {
  std::string quantity;
  Value one_road;
  Value other_road;
  std::string unit;       // "fraction", "bytes", "seconds", "tokens/s"
  std::string reading;    // what most likely happened
  bool explained = true;  // the reading accounts for the difference
};

[[nodiscard]] std::vector<Inconsistency> inconsistencies_of(const Evidence& evidence,
                                                            const Work& work,
                                                            const std::optional<TimeBudget>& budget,
                                                            const std::vector<Clue>& clues = {});

}  // namespace ridgeline::diagnosis
