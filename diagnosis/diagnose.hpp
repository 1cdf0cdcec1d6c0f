#pragma once
// From evidence to a diagnosis: what binds, what proves it, what to change, and what not to. Pure:
// the same evidence gives the same diagnosis, whether a person typed it or a timeline was read.

#include <string>
#include <vector>

#include "diagnosis/consistency.hpp"
#include "diagnosis/queueing.hpp"
#include "diagnosis/regime.hpp"

namespace ridgeline::diagnosis {

/// A sentence with the number that carries it.
struct Finding {
  std::string statement;
  double value = 0.0;
  std::string unit;  // "fraction", "seconds", "bytes", "FLOP", "tokens", "tokens/s", "steps/s",
                     // "ratio", "bytes/s"
  Origin origin = Origin::derived;
  bool repeats = false;  // its number stands in another sentence too: for programs, not for people
  Value number{};  // `value` with its bounds and how it came to be; of findings made elsewhere
                   // there is none
};

struct Recommendation {
  std::string name;
  std::string title;
  core::Interval speedup{1.0};
  std::string why;
  Why computed{};  // how `speedup` came to be, where it was computed on the ledger
};

struct Diagnosis {
  std::string title;
  Regime regime = Regime::mixed;
  Phase phase = Phase::decode;
  double confidence = 0.0;
  Why certainty{};                         // how `confidence` came to be
  std::vector<Finding> settling_evidence;  // the one that settles it first
  std::optional<TimeBudget> time_budget;
  std::optional<Queueing> queueing;  // what no step's time shows
  std::vector<Recommendation> fixes;
  std::vector<Recommendation> rejects;  // tempting, and worth less than 5 %
  std::vector<Inconsistency> inconsistencies;
  std::string question;  // whose answer would help most

  /// Below this nothing should be changed before the question is answered.
  static constexpr double kSettled = 0.4;
  [[nodiscard]] bool settled() const { return confidence >= kSettled; }
};

/// Errors (ConfigError): a quantity that is negative, infinite or not a number.
[[nodiscard]] Diagnosis diagnose(const Evidence& evidence);

}  // namespace ridgeline::diagnosis
