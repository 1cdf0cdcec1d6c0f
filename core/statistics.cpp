#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::core {
namespace {

/// numpy.percentile(..., method="linear") over samples sorted by value, `running` holding the
/// cumulative counts.
double percentile(const std::vector<WeightedSample>& sorted,
                  const std::vector<std::uint64_t>& running, double fraction) {
  const double rank = fraction * static_cast<double>(running.back() - 1);
  const auto below = static_cast<std::uint64_t>(std::floor(rank));
  const auto at = [&](std::uint64_t index) {
    const auto it = std::upper_bound(running.begin(), running.end(), index);
    return sorted[static_cast<std::size_t>(it - running.begin())].value;
  };
  const double lower = at(below);
  const double upper = at(std::min(below + 1, running.back() - 1));
  return lower + (upper - lower) * (rank - static_cast<double>(below));
}

}  // namespace

Summary summarize(std::vector<WeightedSample>& samples) {
  std::erase_if(samples, [](const WeightedSample& s) { return s.count == 0; });
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end(),
            [](const auto& a, const auto& b) { return a.value < b.value; });
  std::vector<std::uint64_t> running;
  running.reserve(samples.size());
  Summary out;
  double sum = 0.0;
  for (const auto& s : samples) {
    out.count += s.count;
    running.push_back(out.count);
    sum += s.value * static_cast<double>(s.count);
  }
  const double n = static_cast<double>(out.count);
  out.mean = sum / n;
  double squares = 0.0;
  for (const auto& s : samples) {
    const double d = s.value - out.mean;
    squares += d * d * static_cast<double>(s.count);
  }
  out.std = std::sqrt(squares / n);
  out.min = samples.front().value;
  out.max = samples.back().value;
  out.p50 = percentile(samples, running, 0.50);
  out.p90 = percentile(samples, running, 0.90);
  out.p95 = percentile(samples, running, 0.95);
  out.p99 = percentile(samples, running, 0.99);
  return out;
}

Summary summarize(const std::vector<double>& samples) {
  std::vector<WeightedSample> weighted;
  weighted.reserve(samples.size());
  for (const double v : samples) weighted.push_back({v, 1});
  return summarize(weighted);
}

}  // namespace ridgeline::core
