#pragma once
// Summaries of samples, defined as NumPy defines them (linear percentiles, population standard
// deviation), because that is what vLLM's benchmark prints.

#include <cstdint>
#include <vector>

namespace ridgeline::core {

struct Summary {
  std::uint64_t count = 0;
  double mean = 0.0;
  double std = 0.0;
  double min = 0.0;
  double p50 = 0.0;
  double p90 = 0.0;
  double p95 = 0.0;
  double p99 = 0.0;
  double max = 0.0;
};

/// A value and how often it occurred. Token gaps come in runs of equal values, one per step, so
/// samples are kept this way.
struct WeightedSample {
  double value = 0.0;
  std::uint64_t count = 0;
};

/// Statistics of the samples, each counted as often as it occurred; all zero for no samples.
/// Reorders `samples`.
[[nodiscard]] Summary summarize(std::vector<WeightedSample>& samples);
[[nodiscard]] Summary summarize(const std::vector<double>& samples);

}  // namespace ridgeline::core
