#pragma once
// What holds of every diagnosis, whatever the evidence: numbers that are numbers, a ledger that
// adds up, and rejects that may be rejects.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "diagnosis/fixes/table.hpp"
#include "diagnosis/report.hpp"

namespace ridgeline::tests {

/// Gain halfway between its bounds, on a logarithmic scale.
inline double likely(core::Interval gain) {
  return std::sqrt(std::max(gain.low, 1e-6) * std::max(gain.high, 1e-6));
}

/// The causes that a regime is made of; on the device all three, none where nothing is told apart.
inline diagnosis::Causes causes_of(diagnosis::Regime regime) {
  using diagnosis::Cause;
  using diagnosis::Regime;
  if (regime == Regime::bandwidth_bound || regime == Regime::compute_bound ||
      regime == Regime::kernel_inefficiency)
    return {Cause::bandwidth, Cause::compute, Cause::kernels};
  if (regime == Regime::overhead_bound) return {Cause::launch, Cause::host};
  for (const Cause cause : {Cause::communication, Cause::transfer, Cause::capacity}) {
    if (regime_of_cause(cause) == regime) return cause;
  }
  return {};
}

/// A reject is worth under 5 %; or somebody tried it and it was; or somebody asks for it, and it
/// acts beside what binds, or is worth less than a third of the first fix (of logarithms).
inline bool may_be_rejected(const diagnosis::Recommendation& r, const diagnosis::Diagnosis& d,
                            const diagnosis::Evidence& e) {
  if (r.speedup.high < 1.05) return true;
  const bool tried = std::any_of(e.trials.begin(), e.trials.end(), [&](const diagnosis::Trial& t) {
    return !t.with && t.change == r.name;
  });
  if (tried) return likely(r.speedup) < 1.05;
  const bool asked = std::find(e.proposals.begin(), e.proposals.end(), r.name) != e.proposals.end();
  if (!asked || d.fixes.empty()) return false;
  const diagnosis::Causes acts_on = diagnosis::find_fix(r.name)->acts_on;
  const diagnosis::Causes binding = causes_of(d.regime);
  const bool beside = !binding.empty() && !acts_on.empty() && !acts_on.meets(binding);
  return beside || std::log(likely(r.speedup)) < std::log(likely(d.fixes[0].speedup)) / 3.0;
}

inline bool has_null(const nlohmann::ordered_json& j) {
  if (j.is_null()) return true;
  if (!j.is_structured()) return false;
  for (const auto& item : j) {
    if (has_null(item)) return true;
  }
  return false;
}

inline void check_ledger(const diagnosis::TimeBudget& budget) {
  double sum = 0.0;
  for (const auto& line : budget.lines) {
    INFO(line.part);
    CHECK(std::isfinite(line.time.best));
    CHECK(line.time.best >= 0.0);
    CHECK(line.time.low() <= line.time.best * (1.0 + 1e-9));
    CHECK(line.time.best <= line.time.high() * (1.0 + 1e-9));
    sum += line.time.best;
  }
  if (!budget.lines.empty()) CHECK(sum == Approx(budget.total.best).epsilon(1e-6));
}

inline void check_sound(const diagnosis::Diagnosis& d, const diagnosis::Evidence& e) {
  const nlohmann::ordered_json j = diagnosis::to_json(d);
  const std::string text = diagnosis::to_text(d);
  CHECK(d.confidence >= 0.0);
  CHECK(d.confidence <= 1.0);
  CHECK_FALSE(d.question.empty());
  CHECK(text.find("nan") == std::string::npos);
  CHECK_THAT(text, !Catch::Matchers::Contains("inf "));
  CHECK_FALSE(has_null(j["fixes"]));
  CHECK_FALSE(has_null(j["rejects"]));
  CHECK_FALSE(has_null(j["settling_evidence"]));
  if (d.time_budget && d.time_budget->in_seconds) CHECK_FALSE(has_null(j["time_budget"]));
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    CHECK(end - begin <= 110);
    begin = end + 1;
  }
  if (d.time_budget) check_ledger(*d.time_budget);
  for (const auto& f : d.fixes) CHECK(f.speedup.high >= 1.05);
  for (const auto& r : d.rejects) {
    INFO(r.name << ": " << r.speedup.low << " to " << r.speedup.high);
    CHECK(may_be_rejected(r, d, e));
    for (const auto& f : d.fixes) CHECK(f.name != r.name);
  }
  for (const auto* list : {&d.fixes, &d.rejects}) {
    for (const auto& r : *list) {
      INFO(r.name);
      CHECK(std::isfinite(r.speedup.high));
      CHECK(r.speedup.low <= r.speedup.high);
      CHECK(r.speedup.low >= 0.0);
    }
  }
}

}  // namespace ridgeline::tests
