#include "diagnosis/usual.hpp"

#include <algorithm>

namespace ridgeline::diagnosis {
namespace {

/// A dense decoder layer is about a dozen kernels in a serving engine (docs/validation.md), three
/// times as many in plain PyTorch, where nothing is fused; a training step does its layers forward,
/// backward and for the optimizer.
constexpr double kKernelsPerLayer = 12.0;
constexpr double kTrainingKernelsPerLayer = 60.0;
/// One launch from Python, and one inside a captured graph (configs/stacks).
constexpr double kEagerLaunch = 6e-6;
constexpr double kGraphLaunch = 1e-6;
/// Engines capture decode steps unless they are told not to; how many people tell them is assumed.
constexpr double kCaptured = 0.8;
/// Scheduling, sampling and detokenizing of a step, and of each sequence in it (configs/stacks,
/// vLLM V1).
constexpr double kHostPerStep = 0.5e-3;
constexpr double kHostPerSequence = 15e-6;
/// Steps that carry whole prompts hold about this many tokens where nobody set a limit (vLLM's
/// max_num_batched_tokens).
constexpr double kPromptTokensPerStep = 8192.0;
/// A small all-reduce with its waiting; two of them a layer.
constexpr double kAllReduce = 25e-6;
/// What a link's payload reaches of its rate.
constexpr double kOfLink = 0.7;
/// Layers of a model that nobody described.
constexpr double kLayers = 40.0;

/// Of one step. Where it is not known: what its tokens take at the measured rate, or an everyday
/// decode step.
double step_seconds(const Evidence& e, const Work& w) {
  if (w.time) return w.time->best;
  if (w.prompt_share > kMostlyPrompts && w.token_rate)
    return best_or(e.engine.max_num_batched_tokens, kPromptTokensPerStep) / w.token_rate->best;
  return 30e-3;
}

}  // namespace

std::array<double, kCauses> usual_seconds(const Evidence& e, const Work& w) {
  std::array<double, kCauses> out{};
  const auto at = [&](Cause c) -> double& { return out[static_cast<std::size_t>(c)]; };
  const double layers = best_or(e.model.layers, kLayers);
  const double devices = best_or(e.machine.devices, 1.0);
  const double time = step_seconds(e, w);
  const double floor = std::max(best_or(w.bytes / w.bandwidth, 0.0), best_or(w.flop / w.peak, 0.0));
  const bool training = w.window == Window::training;
  const double per_layer = training ? kTrainingKernelsPerLayer : kKernelsPerLayer;
  const double kernels = best_or(e.profile.kernels_per_step, per_layer * layers);
  const double launch = training || e.engine.enforce_eager.value_or(false) ? kEagerLaunch
                        : e.engine.enforce_eager
                            ? kGraphLaunch
                            : (1.0 - kCaptured) * kEagerLaunch + kCaptured * kGraphLaunch;
  at(Cause::launch) = kernels * launch;
  if (!training) at(Cause::host) = kHostPerStep + kHostPerSequence * best_or(w.sequences, 1.0);
  if (devices > 1.5) {
    const double message = best_or(w.tokens, 1.0) * best_or(e.model.hidden, 8192.0) * 2.0;
    const double sent = 2.0 * (devices - 1.0) / devices * message;
    const double wire = w.link ? sent / (kOfLink * w.link->best) : 0.0;
    at(Cause::communication) = 2.0 * layers * (kAllReduce + wire);
  }
  at(Cause::kernels) = (1.0 / kUsuallyOfRoof - 1.0) * std::max(floor, 0.1 * time);
  if (!(floor > 0.0) || !w.time) {
    // No roof is in sight: most of a step is its reads, or for long prompts its arithmetic.
    const bool reads = w.window == Window::decode && w.prompt_share < kMostlyPrompts;
    const double read = best_or(w.bytes / w.bandwidth, 0.5 * time);
    at(Cause::bandwidth) = reads ? read : 0.1 * time;
    if (!w.flop_expected) at(Cause::compute) = (reads ? 0.2 : 0.6) * time;
  }
  at(Cause::transfer) = 0.01 * time;
  at(Cause::capacity) = 0.01 * time;
  return out;
}

std::array<double, kCauses> usual_shares(const Evidence& e, const Work& w) {
  std::array<double, kCauses> out = usual_seconds(e, w);
  double all = 0.0;
  for (const double x : out) all += x;
  for (double& x : out) x /= std::max(all, 1e-300);
  return out;
}

double usual_busy(const Evidence& e, const Work& w) {
  const Measured& m = e.measured;
  const bool has_gaps =
      e.serving.arrivals == Arrivals::open || e.serving.arrivals == Arrivals::one_at_a_time;
  const Profile& p = e.profile;
  const bool profiled =
      p.hbm_fraction || p.flop_fraction || p.busy_time || p.busy_fraction || !p.kernel_time.empty();
  if (!has_gaps || w.window != Window::decode || !m.throughput || m.itl || m.step_time ||
      m.throughput_per_sequence || profiled || !w.weights_read || !w.bandwidth || !w.parameters ||
      !w.peak)
    return 0.0;
  // One sequence at a time, which is the longest that serving them can take.
  const std::array<double, kCauses> usual = usual_seconds(e, w);
  double beside = 0.0;
  for (const Cause c : {Cause::launch, Cause::host, Cause::communication})
    beside += usual[static_cast<std::size_t>(c)];
  const double step = w.weights_read->best / w.bandwidth->best / kUsuallyOfRoof + beside;
  const double requests = best_or(e.serving.output_tokens, 0.0) > 0.0
                              ? m.throughput->best / e.serving.output_tokens->best
                              : 0.0;
  constexpr double kUsuallyOfPeak = 0.4;  // prompts of some hundred tokens and more
  const double prompt = 2.0 * w.parameters->best * best_or(e.serving.prompt_tokens, 0.0) /
                        (kUsuallyOfPeak * w.peak->best);
  return m.throughput->best * step + requests * (prompt + beside);
}

}  // namespace ridgeline::diagnosis
