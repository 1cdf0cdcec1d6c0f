// Attention that never writes its score matrix: its time becomes its own arithmetic, and the
// transient allocation goes.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Fused prefill attention over long prompts reaches this much of the matrix peak.
constexpr core::Interval kOfPeak{0.30, 0.42};

core::Interval fused_time(const Situation& s) {
  const Value at_peak = *s.work.attention_flop / *s.work.peak;
  return {at_peak.best / kOfPeak.high, at_peak.best / kOfPeak.low};
}

bool applies(const Situation& s) {
  if (s.work.window != Window::prefill || !s.budget.in_seconds) return false;
  return s.evidence.profile.kernel_time.contains(KernelGroup::attention)
             ? s.work.attention_flop && s.work.peak
             : s.work.materialised;
}

}  // namespace

extern const Fix kFusedAttention;
const Fix kFusedAttention{
    .name = "fused_attention",
    .title = "Use fused (flash) attention",
    .family = "attention",
    .effort = 0,
    .acts_on = Cause::kernels,
    .leaves = {0.0, 0.8},
    .popularity = 0.6,
    .applies = applies,
    .assess = [](const Situation& s) -> Assessment {
      const Line* floor = s.budget.find(LineId::attention_arithmetic);
      const Line* distance = s.budget.find(LineId::attention_distance);
      if (floor == nullptr || distance == nullptr) {
        return {{1.0, 1.0 / std::max(0.02, 1.0 - s.budget.share(LineId::not_separated).best)},
                "the score matrix is materialised; how long that takes was not measured"};
      }
      const double now = floor->time.best + distance->time.best;
      core::Interval after = fused_time(s);
      after = {std::min(after.low, now), std::min(after.high, now)};
      Rewrite ledger(s.budget);
      ledger.replace(LineId::attention_distance, core::Interval(distance->time.best - now) + after);
      const double total = s.budget.total.best;
      return {ledger.gain(),
              fmt::format("attention takes {} for {}; fused it needs {}{}: the whole comes to {}",
                          time_text(now), flop_text(s.work.attention_flop->best),
                          time_range_text(after),
                          s.work.materialised ? " and the transient vanishes" : "",
                          time_range_text({total - now + after.low, total - now + after.high}))};
    }};

extern const Fix kAttentionBackend;
const Fix kAttentionBackend{
    .name = "attention_backend",
    .title = "Use an attention backend with a kernel for this model's heads",
    .family = "attention",
    .effort = 0,
    .acts_on = Cause::kernels,
    .leaves = {0.0, 0.8},
    .popularity = 0.3,
    .applies =
        [](const Situation& s) {
          return is_inference(s) && (has_symptom(s.evidence, "attention_fallback") ||
                                     (!s.evidence.profile.occupied &&
                                      s.budget.share(LineId::attention_distance).best > 0.3));
        },
    .assess = [](const Situation& s) -> Assessment {
      Rewrite ledger(s.budget);
      const bool apart = s.budget.find(LineId::attention_distance) != nullptr;
      ledger.scale(apart ? LineId::attention_distance : LineId::kernel_distance, {0.15, 0.9});
      return {ledger.gain(),
              apart ? fmt::format("attention stands {} of the time beyond its floor",
                                  percent_text(s.budget.share(LineId::attention_distance).best))
                    : std::string("the kernel in use is a fallback; how long it takes was not "
                                  "measured")};
    }};

}  // namespace ridgeline::diagnosis
