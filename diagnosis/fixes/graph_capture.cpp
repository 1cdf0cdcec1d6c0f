// The step launched as one graph: no host call per kernel, and so no gap that waits for one.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// The device still takes a microsecond or two from kernel to kernel.
constexpr core::Interval kGapsLeft{0.0, 0.1};

}  // namespace

extern const Fix kGraphCapture;
const Fix kGraphCapture{
    .name = "graph_capture",
    .title = "Capture the step in a graph",
    .family = "launch",
    .effort = 0,
    .acts_on = Cause::launch,
    .leaves = {0.0, 0.3},
    .popularity = 0.55,
    .applies =
        [](const Situation& s) {
          return is_decoding(s) || s.budget.find(LineId::launch_gaps) != nullptr;
        },
    .assess = [](const Situation& s) -> Assessment {
      Rewrite ledger(s.budget);
      const Line* gaps = s.budget.find(LineId::launch_gaps);
      if (gaps == nullptr) {
        // Behind a roof that binds, most of what nobody separated is kernels on their way to it.
        const bool roof = s.regime == Regime::compute_bound || s.regime == Regime::bandwidth_bound;
        ledger.scale(LineId::not_separated, {roof ? 0.6 : 0.2, 1.0});
        return {
            ledger.gain(),
            fmt::format(
                "launch gaps were not measured; they are at most the {} that nobody has separated",
                percent_text(s.budget.share(LineId::not_separated).best))};
      }
      if (s.budget.back_to_back) {
        return {{1.0},
                fmt::format("already captured, or launched far enough ahead: the gaps between a "
                            "step's kernels come to "
                            "{} of {}",
                            time_text(gaps->time.best), time_text(s.budget.total.best))};
      }
      const Profile& p = s.evidence.profile;
      const bool measured = p.gap_time || p.gap_length;
      ledger.scale(LineId::launch_gaps, s.budget.host_paced ? kGapsLeft
                                        : measured          ? core::Interval(0.5, 1.0)
                                                            : core::Interval(0.0, 1.0));
      const Maybe& count = s.evidence.profile.kernels_per_step;
      return {ledger.gain(),
              fmt::format("it removes {}the gaps between kernels, {} of the {} step",
                          count ? fmt::format("{} launches a step and ", number_text(count->best))
                                : std::string(),
                          time_range_text(gaps->time.interval), time_text(s.budget.total.best))};
    }};

}  // namespace ridgeline::diagnosis
