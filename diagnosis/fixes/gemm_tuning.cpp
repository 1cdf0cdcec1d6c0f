// Matrix kernels chosen and tuned for their shapes.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/complete.hpp"
#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Tuned matrix products with enough rows reach this much of what the machine sustains.
constexpr core::Interval kOfPeak{0.6, 0.95};
/// And this much of the bandwidth it sustains where they stream weights.
constexpr core::Interval kOfBandwidth{0.7, 0.95};

bool untuned(const Situation& s) {
  return has_symptom(s.evidence, "untuned_gemm") || has_symptom(s.evidence, "untuned_moe");
}

}  // namespace

extern const Fix kGemmTuning;
const Fix kGemmTuning{
    .name = "gemm_tuning",
    .title = "Tune the matrix kernels for their shapes",
    .family = "matrix kernels",
    .effort = 1,
    .acts_on = Cause::kernels,
    .leaves = {0.0, 0.8},
    .popularity = 0.3,
    .applies =
        [](const Situation& s) {
          return s.budget.find(LineId::matrix_distance) != nullptr ||
                 (untuned(s) && s.budget.find(LineId::kernel_distance) != nullptr);
        },
    .assess = [](const Situation& s) -> Assessment {
      if (s.budget.find(LineId::matrix_distance) == nullptr) {
        Rewrite whole(s.budget);
        whole.scale(LineId::kernel_distance, {0.2, 0.9});
        return {
            whole.gain(),
            fmt::format("shapes run with a default configuration; kernels beyond their floor are "
                        "{} of the time",
                        percent_text(s.budget.share(LineId::kernel_distance).best))};
      }
      if (const Maybe& clock = s.evidence.profile.clock_fraction; clock && clock->best < 0.95) {
        // At the power limit the clock falls as a kernel keeps the units busier.
        return {{1.0, 1.03},
                fmt::format("the clock stays at {} of its rating: the rate follows power, and a "
                            "busier kernel draws more of it",
                            percent_text(clock->best))};
      }
      const Line* arithmetic = s.budget.find(LineId::matrix_arithmetic);
      const Line* floor = arithmetic != nullptr ? arithmetic : s.budget.find(LineId::weights);
      const Line* distance = s.budget.find(LineId::matrix_distance);
      if (floor == nullptr) return {{1.0, 1.0}, "the floor of the matrix kernels is not known"};
      const double now = floor->time.best + distance->time.best;
      const core::Interval reach =
          arithmetic != nullptr
              ? kOfPeak * core::Interval(matrix_sustained(s.evidence, s.work.dtype))
              : kOfBandwidth * core::Interval(s.evidence.machine.hbm_sustained);
      const core::Interval after{std::min(now, floor->time.best / reach.high),
                                 std::min(now, floor->time.best / reach.low)};
      Rewrite ledger(s.budget);
      ledger.replace(LineId::matrix_distance, core::Interval(distance->time.best - now) + after);
      core::Interval gain = ledger.gain();
      gain = {std::max(1.0, gain.low), std::max(1.0, gain.high)};
      return {
          gain,
          fmt::format(
              "matrix kernels run at {} of their roof; well-tuned ones reach {:.0f} to {:.0f} %",
              percent_text(floor->time.best / std::max(now, 1e-300)), 100 * reach.low,
              100 * reach.high)};
    }};

}  // namespace ridgeline::diagnosis
