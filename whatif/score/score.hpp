#pragma once
// The diagnosis held against what is known: the five cases by both roads, public reports, a
// generated corpus whose limiters and gains are known by re-running, real traces.

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "whatif/corpus/corpus.hpp"
#include "whatif/known_answers.hpp"

namespace ridgeline::whatif {

/// From this confidence on an answer is given as certain, and a wrong one is a defect.
inline constexpr double kHighConfidence = 0.8;

/// How one answer fared.
struct Mark {
  std::string name;
  std::string wanted;  // the first regime that counts as right
  std::string regime;
  double confidence = 0.0;
  bool regime_right = false;
  std::optional<bool> fix_right;            // the first or the second; nothing where none is judged
  std::optional<bool> reject_right;         // any of those rejected
  std::optional<bool> inconsistency_named;  // where there is one
  bool inconsistency_claimed = false;
  std::optional<double>
      gain_error;  // |predicted / true - 1| of the first fix, where both are known
  std::vector<std::string> fixes;
  std::vector<std::string> rejects;
};

/// Against answers that were written down.
[[nodiscard]] Mark mark(const diagnosis::Diagnosis& answer, const KnownAnswer& truth);

/// Against a label: a fix is right if its true gain is at least half of the best one's that needs
/// no other hardware, on a logarithmic scale, and worth 5 %; a reject if it truly brings less than
/// 5 %.
[[nodiscard]] Mark mark(const diagnosis::Diagnosis& answer, const Label& label);

[[nodiscard]] nlohmann::ordered_json to_json(const Mark& mark);
[[nodiscard]] Mark mark_from_json(const nlohmann::json& json);

struct Marks {
  std::vector<Mark> all;

  [[nodiscard]] std::int64_t regime() const;
  [[nodiscard]] std::int64_t fix() const;
  [[nodiscard]] std::int64_t fix_judged() const;
  [[nodiscard]] std::int64_t reject() const;
  [[nodiscard]] std::int64_t reject_judged() const;
  [[nodiscard]] std::int64_t confidently_wrong() const;
  [[nodiscard]] std::int64_t inconsistent() const;
  [[nodiscard]] std::int64_t inconsistent_named() const;
  [[nodiscard]] std::optional<double> gain_error_median() const;
  /// By what was wanted and what was answered.
  [[nodiscard]] std::map<std::string, std::map<std::string, std::int64_t>> confusion() const;

  struct Bin {
    double from = 0.0;
    double to = 1.0;
    std::int64_t n = 0;
    std::int64_t right = 0;
    double said = 0.0;  // mean confidence
  };
  /// How often answers of about the same confidence are right.
  [[nodiscard]] std::vector<Bin> calibration() const;
};

/// The marks of the levels of a corpus item, in the order of `kLevels`.
inline constexpr std::array<std::string_view, 3> kLevels{"timeline", "percentages", "throughput"};
[[nodiscard]] std::array<Mark, 3> mark_levels(const CorpusItem& item);

/// The five cases by both roads: the simulated timeline, then the typed evidence.
[[nodiscard]] Marks score_cases(const core::ConfigLibrary& library);
/// `with_trials`: as they are told, or without what somebody tried and what came of it.
[[nodiscard]] Marks score_reports(const core::ConfigLibrary& library, bool with_trials = true);
/// Traces of which the file is below `folder`; others are left out.
[[nodiscard]] Marks score_traces(const core::ConfigLibrary& library,
                                 const std::filesystem::path& folder);

/// `{n, regime, fix, reject, confidently_wrong, inconsistent, inconsistent_named, calibration,
/// confusion}` with counts, and fractions beside them as `regime_fraction` and so on.
[[nodiscard]] nlohmann::ordered_json to_json(const Marks& marks);

}  // namespace ridgeline::whatif
