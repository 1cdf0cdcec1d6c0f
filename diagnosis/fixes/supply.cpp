// What is offered to the device: memory for more sequences, and requests.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/usual.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
extern const Fix kMoreKvMemory;
const Fix kMoreKvMemory{
    .name = "more_kv_memory",
    .title = "Give the KV cache more memory",
    .family = "capacity",
    .effort = 1,
    .acts_on = Cause::capacity,
    .leaves = {0.0, 0.9},
    .popularity = 0.3,
    .applies =
        [](const Situation& s) {
          return is_decoding(s) && s.evidence.serving.kv_usage.has_value();
        },
    .assess = [](const Situation& s) -> Assessment {
      const double used = best_or(s.evidence.serving.kv_usage, 0.0);
      if (s.regime == Regime::capacity_bound) {
        const double per_token =
            s.budget.share(Cause::compute).best + s.budget.share(LineId::kv_cache).best;
        return {{1.05, std::max(1.06, 2.0 / (1.0 + per_token))},
                fmt::format("{} of the KV blocks are taken and requests wait for them",
                            percent_text(used))};
      }
      return {{1.0, 1.0},
              fmt::format("{} of the KV blocks are taken, and what binds is not their number",
                          percent_text(used))};
    }};

extern const Fix kMoreLoad;
const Fix kMoreLoad{
    .name = "more_load",
    .title = "Offer more requests",
    .family = "load",
    .effort = 0,
    .popularity = 0.1,
    .applies = [](const Situation& s) { return s.regime == Regime::load_bound; },
    .assess = [](const Situation& s) -> Assessment {
      const double idle = s.evidence.profile.idle_fraction
                              ? s.evidence.profile.idle_fraction->best
                              : 1.0 - std::min(1.0, usual_busy(s.evidence, s.work));
      return {{1.0 / std::max(0.05, 1.0 - 0.5 * idle), 1.0 / std::max(0.05, 1.0 - idle)},
              fmt::format(
                  "the device has nothing to do for {} of the time; no kernel is too slow for that",
                  percent_text(idle))};
    }};

}  // namespace ridgeline::diagnosis
