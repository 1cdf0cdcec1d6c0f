#pragma once
// What was understood of some evidence before anything is concluded from it: each fact with its
// bounds and where it came from, what had to be assumed, and what is missing
// (diagnosis/missing.hpp).

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diagnosis/evidence.hpp"
#include "diagnosis/missing.hpp"
#include "diagnosis/places.hpp"

namespace ridgeline::diagnosis {

struct Understood {
  std::string path;
  std::string text;    // "1,150 /s (1,149.5 to 1,150.5 /s)", or a word
  Maybe value;         // of a quantity
  std::string origin;  // "given", "read", "derived", "assumed"
  std::string place;   // "e.yaml:4"; "" where nobody wrote it
};

struct EvidenceCheck {
  std::vector<Understood> understood;
  std::vector<std::string> assumed;  // sentences
  std::vector<std::string> unknown;  // sentences: a machine or a model that is not known
  std::vector<Missing> missing;
  Regime regime = Regime::mixed;
  double confidence = 0.0;
};

[[nodiscard]] EvidenceCheck check_evidence(const Evidence& evidence, const Places& places = {});

[[nodiscard]] nlohmann::ordered_json to_json(const EvidenceCheck& check,
                                             const std::vector<std::string>& notes = {});
[[nodiscard]] std::string to_text(const EvidenceCheck& check,
                                  const std::vector<std::string>& notes = {});

}  // namespace ridgeline::diagnosis
