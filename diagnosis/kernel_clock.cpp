#include "diagnosis/kernel_clock.hpp"

#include <algorithm>
#include <limits>

namespace ridgeline::diagnosis {
namespace {

constexpr double kKernelsPerLayer = 12.0;  // in a serving engine (docs/validation.md)
constexpr double kLayers = 40.0;           // of a model that nobody described

double kernels_of(const Evidence& e) {
  return best_or(e.profile.kernels_per_step, kKernelsPerLayer * best_or(e.model.layers, kLayers));
}

/// Norms of a decode step are small kernels that take about the same everywhere, two in a layer:
/// their share of the kernels' time tells how long all of it can be.
double longest_by_norms(const Evidence& e, const Work& w) {
  constexpr double kSmallStep = 256.0;    // tokens whose activations are next to nothing
  constexpr double kWorthReading = 0.01;  // smaller shares are rounded too much
  constexpr double kLongNorm = 15e-6;     // 4 to 10 us as a rule; casts and norms of queries too
  const auto norms = e.profile.kernel_time.find(KernelGroup::norm);
  if (norms == e.profile.kernel_time.end() || norms->second.best < kWorthReading ||
      !e.model.layers || !w.tokens || w.tokens->best > kSmallStep)
    return std::numeric_limits<double>::infinity();
  return (2.0 * e.model.layers->best + 1.0) * kLongNorm / norms->second.low();
}

}  // namespace

double longest_kernels(const Evidence& e, const Work& w, double floor) {
  constexpr double kBadKernels = 5.0;
  constexpr double kShortestKernel = 5e-6;  // configs/hw: a small kernel, from start to start
  double beside = 0.0;
  for (const KernelGroup g : {KernelGroup::collective, KernelGroup::copy}) {
    const auto it = e.profile.kernel_time.find(g);
    if (it != e.profile.kernel_time.end()) beside += it->second.best;
  }
  constexpr double kLeast = 0.01;  // of kernels that are neither
  const double by_roof =
      (kBadKernels * floor + kernels_of(e) * kShortestKernel) / std::max(1.0 - beside, kLeast);
  return std::min(by_roof, longest_by_norms(e, w));
}

double turning_time(const Evidence& e) {
  constexpr double kDispatch = 3e-6;  // configs/stacks: up to that between two kernels in a queue
  return e.engine.enforce_eager.value_or(false) ? kDispatch * kernels_of(e) : 0.0;
}

}  // namespace ridgeline::diagnosis
