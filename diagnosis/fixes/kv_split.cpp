// Decode attention split along the context, so that enough workgroups read the KV cache.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
extern const Fix kKvSplit;
const Fix kKvSplit{
    .name = "kv_split",
    .title = "Split decode attention along the context",
    .family = "attention",
    .effort = 1,
    .acts_on = Cause::kernels,
    .leaves = {0.0, 0.8},
    .popularity = 0.2,
    .applies =
        [](const Situation& s) {
          return is_decoding(s) && s.budget.find(LineId::attention_distance) != nullptr;
        },
    .assess = [](const Situation& s) -> Assessment {
      Rewrite ledger(s.budget);
      const Line* kv = s.budget.find(LineId::kv_cache);
      const Line* distance = s.budget.find(LineId::attention_distance);
      // A well-split kernel reads at 0.6 to 0.8 of peak; short of bytes, it stands at its launch
      // floor and nothing helps.
      const double floor = kv != nullptr ? kv->time.best : 0.0;
      const double now = distance->time.best;
      if (const Maybe& occupied = s.evidence.profile.occupied;
          occupied && occupied->best < 0.5 && kv == nullptr) {
        // The same work over all compute units: as much faster as more of them take part.
        ledger.scale(LineId::attention_distance,
                     {occupied->best, std::min(0.6, 4.0 * occupied->best)});
        return {ledger.gain(),
                fmt::format("attention is {} of the time and its workgroups fill {} of the compute "
                            "units",
                            percent_text(s.budget.share(LineId::attention_distance).best),
                            percent_text(occupied->best))};
      }
      ledger.replace(
          LineId::attention_distance,
          {std::min(now, floor * 0.25), std::min(now, std::max(floor * 0.67, 0.5 * now))});
      return {ledger.gain(),
              fmt::format("decode attention stands {} beyond the time its KV bytes need",
                          time_text(now))};
    }};

}  // namespace ridgeline::diagnosis
