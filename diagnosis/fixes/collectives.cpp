// Collectives by better software: fewer steps, fused with what follows, or beneath kernels that do
// not need their result.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

bool communicates(const Situation& s) {
  return s.budget.find(LineId::communication) != nullptr ||
         (s.regime == Regime::communication_bound &&
          best_or(s.evidence.machine.devices, 1.0) > 1.5);
}

/// The share of the time that collectives take, or may take where nobody measured them.
Assessment shrink(const Situation& s, core::Interval left, const std::string& how) {
  Rewrite ledger(s.budget);
  const bool measured = s.budget.find(LineId::communication) != nullptr;
  if (measured)
    ledger.scale(LineId::communication, left);
  else
    ledger.scale(LineId::not_separated, {left.low, 1.0});
  return {ledger.gain(),
          measured ? fmt::format("collectives are {} of the time; {}",
                                 percent_text(s.budget.share(Cause::communication).best), how)
                   : "collectives were not measured; " + how};
}

}  // namespace

extern const Fix kFasterCollectives;
const Fix kFasterCollectives{
    .name = "faster_collectives",
    .title = "Use one-shot, fused or quantized all-reduces",
    .family = "collectives",
    .effort = 1,
    .acts_on = Cause::communication,
    .leaves = {0.1, 0.8},
    .popularity = 0.3,
    .applies = [](const Situation& s) { return communicates(s) && is_inference(s); },
    .assess =
        [](const Situation& s) {
          // One step over all links instead of many around a ring: a fifth to half of the time for
          // messages below some hundred kilobytes.
          return shrink(
              s, {0.2, 0.6},
              "small messages wait for steps, not for bytes: one step to all peers, and the "
              "norm that follows in the same kernel, takes a part of it");
        }};

extern const Fix kOverlapCommunication;
const Fix kOverlapCommunication{
    .name = "overlap_communication",
    .title = "Overlap collectives with kernels",
    .family = "overlap",
    .effort = 1,
    .acts_on = Cause::communication,
    .leaves = {0.0, 0.7},
    .popularity = 0.3,
    .applies = communicates,
    .assess = [](const Situation& s) {
      const bool training = s.work.window == Window::training;
      return shrink(s, training ? core::Interval(0.1, 0.6) : core::Interval(0.5, 0.9),
                    training ? "gathers of the next layer can run while this one computes"
                             : "in a decode step every layer needs the sum before it goes on: "
                               "only halves of a batch can hide each other's");
    }};

extern const Fix kBalanceExperts;
const Fix kBalanceExperts{
    .name = "balance_experts",
    .title = "Balance experts over devices",
    .family = "experts",
    .effort = 1,
    .acts_on = Cause::kernels,
    .leaves = {0.5, 0.95},
    .popularity = 0.2,
    .applies = [](const Situation& s) { return s.evidence.profile.imbalance.has_value(); },
    .assess = [](const Situation& s) -> Assessment {
      // All devices wait for the busiest one; replicas bring it near the mean.
      const double over = std::max(s.evidence.profile.imbalance->best, 1.0);
      return {
          {1.0 + 0.4 * (over - 1.0), over},
          fmt::format("the busiest device has {:.2f}x the mean work, and all wait for it", over)};
    }};

}  // namespace ridgeline::diagnosis
