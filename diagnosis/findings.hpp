#pragma once
// The arithmetic that settles a diagnosis, as sentences with numbers.

#include "diagnosis/diagnose.hpp"

namespace ridgeline::diagnosis {

[[nodiscard]] std::vector<Finding> findings_of(const Evidence& evidence, const Work& work,
                                               const std::optional<TimeBudget>& budget,
                                               const std::optional<Queueing>& queueing,
                                               Regime regime, const std::vector<Clue>& clues = {});
/// The measurement or fact whose answer would narrow the diagnosis most.
[[nodiscard]] std::string question_of(const Evidence& evidence, const Work& work,
                                      const std::optional<TimeBudget>& budget,
                                      const std::optional<Queueing>& queueing, Regime regime);

}  // namespace ridgeline::diagnosis
