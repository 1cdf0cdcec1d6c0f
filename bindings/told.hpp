#pragma once
// A diagnosis as Python holds it: its JSON text, and the diagnosis itself for whoever wants it told
// in another form.

#include <optional>
#include <string>

#include "diagnosis/explain.hpp"
#include "diagnosis/memo.hpp"
#include "diagnosis/report.hpp"

namespace ridgeline::bindings {

class Told {
 public:
  /// Of a trace that cannot be believed there is only the JSON.
  explicit Told(std::string json) : json_(std::move(json)) {}
  Told(std::string json, const diagnosis::Evidence& evidence, diagnosis::Diagnosis answer,
       const diagnosis::Places& places)
      : json_(std::move(json)),
        explanation_(diagnosis::explain(evidence, answer, places)),
        diagnosis_(std::move(answer)) {}

  [[nodiscard]] const std::string& json() const { return json_; }
  /// Empty where there is no diagnosis.
  [[nodiscard]] std::string text() const { return diagnosis_ ? to_text(*diagnosis_) : ""; }
  [[nodiscard]] std::string markdown() const { return diagnosis_ ? to_markdown(*diagnosis_) : ""; }
  [[nodiscard]] std::string memo() const {
    return diagnosis_ ? to_memo(*diagnosis_, explanation_) : "";
  }
  [[nodiscard]] std::string explain(const std::string& quantity) const {
    return diagnosis_ ? to_text(explanation_, quantity) : "";
  }
  [[nodiscard]] std::string derivations() const { return to_json(explanation_).dump(); }

 private:
  std::string json_;
  diagnosis::Explanation explanation_;
  std::optional<diagnosis::Diagnosis> diagnosis_;
};

}  // namespace ridgeline::bindings
