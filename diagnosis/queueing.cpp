#include "diagnosis/queueing.hpp"

#include <algorithm>

namespace ridgeline::diagnosis {
namespace {

/// A prompt waits for the step that runs, and then takes part in one at least.
constexpr double kStepsOfItsOwn = 2.0;
/// Prefill is rarely below this share of the matrix peak, for prompts long enough to matter.
constexpr double kSlowestPrefill = 0.25;
/// Where nothing is known of the prompt: in chunks, over this many steps.
constexpr double kStepsOfAnyPrompt = 10.0;
/// A wait below this share of the time to first token is not what makes it long.
constexpr double kWorthAWord = 0.3;
/// Queues that hold this much of the median time to first token, with at least a tenth as many
/// requests waiting as running, do not drain between arrivals. Short bursts make less of either.
constexpr double kDoesNotDrain = 0.8;
constexpr double kWaitingPerRunning = 0.1;
constexpr double kFewestWaiting = 2.0;

}  // namespace

std::optional<Queueing> queueing_of(const Evidence& e, const Work& w) {
  const Maybe& ttft = e.measured.ttft;
  const auto& arrivals = e.serving.arrivals;
  if (!ttft || !w.time || w.window != Window::decode) return std::nullopt;
  if (arrivals == Arrivals::one_at_a_time || arrivals == Arrivals::saturated) return std::nullopt;

  const Maybe arithmetic = Maybe(2.0) * w.parameters * e.serving.prompt_tokens / w.peak;
  const double least = best_or(arithmetic, w.time->best);
  const double most = arithmetic
                          ? kStepsOfItsOwn * w.time->best + arithmetic->best / kSlowestPrefill
                          : kStepsOfAnyPrompt * w.time->best;
  Queueing q;
  q.first_token = *ttft;
  q.wait =
      computed("what the request's own steps, at their longest, leave of the time to first token",
               {ttft->low() - std::max(least, most), ttft->high() - std::min(least, most)},
               ttft->best - most, weakest(ttft->origin, w.time->origin),
               {*ttft, *w.time, arithmetic.value_or(Value(0.0))})
          .clamped(0.0, ttft->high());
  q.waiting = e.serving.waiting;
  const double share = q.wait.best / ttft->best;
  if (share < kWorthAWord) return std::nullopt;
  const double waiting = best_or(q.waiting, 0.0);
  q.overloaded = share >= kDoesNotDrain && waiting >= kFewestWaiting &&
                 waiting >= kWaitingPerRunning * best_or(w.sequences, 0.0);
  return q;
}

}  // namespace ridgeline::diagnosis
