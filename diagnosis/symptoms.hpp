#pragma once
// What a log or a configuration says in words: nothing that can be measured from it, but reason to
// suspect a cause. A symptom never decides against a measurement; it says where the time that no
// measurement separates most likely goes.

#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/clues.hpp"

namespace ridgeline::diagnosis {

struct Symptom {
  std::string_view name;
  std::string_view meaning;  // as 'evidence new' explains it, and as the answer repeats it
  Causes causes;
  std::string_view suggests;  // the fix that it points at
};

[[nodiscard]] const std::vector<Symptom>& all_symptoms();
[[nodiscard]] const Symptom* find_symptom(std::string_view name);
[[nodiscard]] std::vector<std::string> symptom_names();

/// Those that were named, and those that a switch of the engine means.
[[nodiscard]] std::vector<const Symptom*> symptoms_of(const Evidence& evidence);
[[nodiscard]] bool has_symptom(const Evidence& evidence, std::string_view name);

[[nodiscard]] std::vector<Clue> clues_of_symptoms(const Evidence& evidence);

}  // namespace ridgeline::diagnosis
