#pragma once
// Constants of a mechanism from measurements: least squares on logarithms of predicted over
// measured, so that a kernel of 3 us counts as much as one of 3 ms, with far-off rows counting
// linearly instead of squared (pseudo-Huber), because published tables hold rows that nobody tuned.

#include <functional>
#include <string>
#include <vector>

namespace ridgeline::fidelity {

/// A constant to find. It stays between its bounds, which are positive; it is searched for on a
/// logarithmic scale.
struct Constant {
  std::string name;
  double start = 0.0;
  double low = 0.0;
  double high = 0.0;
};

struct Fitted {
  std::string name;
  double value = 0.0;
  double error = 0.0;     // one standard error, relative; infinite where the rows do not say
  bool at_bound = false;  // within a percent of one
};

struct FitResult {
  std::vector<Fitted> constants;
  std::size_t rows = 0;
  int evaluations = 0;  // of all rows
};

/// Fills `residuals` with log(predicted / measured) of every row, for the constants' values.
using Residuals =
    std::function<void(const std::vector<double>& values, std::vector<double>& residuals)>;

/// Levenberg-Marquardt from the start values. InvariantError for bounds that do not enclose the
/// start or fewer rows than constants.
[[nodiscard]] FitResult fit(const std::vector<Constant>& constants, std::size_t rows,
                            const Residuals& residuals);

/// How far predictions lie from measurements.
struct ErrorSummary {
  std::size_t rows = 0;
  double median = 0.0;  // of |predicted / measured - 1|
  double p90 = 0.0;
  double bias = 0.0;             // median of predicted / measured, minus 1
  std::size_t beyond_twice = 0;  // rows off by more than a factor of two
};
[[nodiscard]] ErrorSummary summarize_errors(const std::vector<double>& ratios);

}  // namespace ridgeline::fidelity
