#pragma once
// Runs a case and holds it against what must come out: the numbers, and both diagnoses.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "whatif/case.hpp"

namespace ridgeline::whatif {

struct CaseOutcome {
  struct Line {
    Case::Expectation expected;
    double simulated = 0.0;
    [[nodiscard]] bool holds() const { return expected.accepted.contains(simulated); }
  };
  Case what;
  std::vector<Line> lines;
  diagnosis::Diagnosis from_timeline;  // of the simulated run
  diagnosis::Diagnosis from_typed;     // of the evidence as a person would type it

  /// Every number within its tolerance.
  [[nodiscard]] bool numbers_hold() const;
  /// The two diagnoses say the same: regime, phase, first fix, first reject.
  [[nodiscard]] bool diagnoses_agree() const;
};

[[nodiscard]] CaseOutcome run_case(const Case& what, const core::ConfigLibrary& library);

/// `{case, title, simulated, expected, accepted, given, free, diagnosis: {simulated, typed},
/// numbers_hold, diagnoses_agree}`
[[nodiscard]] nlohmann::ordered_json to_json(const CaseOutcome& outcome);

}  // namespace ridgeline::whatif
