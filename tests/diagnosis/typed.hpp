#pragma once
// Evidence as a person types it, with the configurations of this repository.

#include <filesystem>
#include <string>

#include "diagnosis/clues.hpp"
#include "diagnosis/evidence_reader.hpp"

namespace ridgeline::tests {

inline diagnosis::Evidence typed(const std::string& text) {
  const core::ConfigLibrary library(std::filesystem::path(RIDGELINE_SOURCE_DIR) / "configs");
  return diagnosis::read_evidence(core::parse_yaml(text, "e.yaml"), library);
}

/// The only clue among those whose statement holds the words; fails a test where there is another
/// number of them.
inline const diagnosis::Clue* clue_with(const std::vector<diagnosis::Clue>& clues,
                                        std::string_view words) {
  const diagnosis::Clue* found = nullptr;
  for (const diagnosis::Clue& clue : clues) {
    if (clue.statement.find(words) == std::string::npos) continue;
    if (found != nullptr) return nullptr;
    found = &clue;
  }
  return found;
}

}  // namespace ridgeline::tests
