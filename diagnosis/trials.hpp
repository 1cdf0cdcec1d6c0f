#pragma once
// What a change that somebody tried says about the time before it (Amdahl): a change that leaves
// `leaves` of the time of some causes and makes the whole `gain` times faster acted on
// (1 - 1/gain) / (1 - leaves) of it. One that gained nothing bounds that share from above.

#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/clues.hpp"

namespace ridgeline::diagnosis {

struct Change {
  std::string_view name;
  std::string_view title;
  Causes acts_on;
  core::Interval leaves;
};

/// Every fix is a change; changes that nobody would recommend are listed in trials.cpp. Null when
/// there is none of that name.
[[nodiscard]] const Change* find_change(std::string_view name);
[[nodiscard]] std::vector<std::string> change_names();

/// The effect on what the evidence is about, the first of: throughput, requests, step, ITL, TTFT.
[[nodiscard]] const Trial::Effect& main_effect(const Trial& trial, Window window);

[[nodiscard]] std::vector<Clue> clues_of_trials(const Evidence& evidence, const Work& work);

}  // namespace ridgeline::diagnosis
