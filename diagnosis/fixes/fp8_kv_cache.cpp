// KV cache in 8 bit: half of its bytes.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
extern const Fix kFp8KvCache;
const Fix kFp8KvCache{
    .name = "fp8_kv_cache",
    .title = "Keep the KV cache in fp8",
    .family = "kv bytes",
    .effort = 0,
    .acts_on = Cause::bandwidth,
    .leaves = {0.5, 0.75},
    .popularity = 0.5,
    .applies =
        [](const Situation& s) {
          const auto& dtype = s.evidence.model.kv_cache_dtype;
          return is_decoding(s) && (!dtype || hw::bytes_of(*dtype).value() >= 2.0);
        },
    .assess = [](const Situation& s) -> Assessment {
      if (s.regime == Regime::capacity_bound) {
        return {{1.0, 2.0}, "twice the sequences fit into the same KV memory"};
      }
      Rewrite ledger(s.budget);
      ledger.shrink_bytes(LineId::kv_cache, {0.5, 0.55});
      const Maybe& kv = s.work.kv_read;
      const Maybe& all = s.work.bytes;
      if (!kv || !all) return {ledger.gain(), "no line of the ledger is known to be KV bytes"};
      if (kv->high() < kTooLittleToSee * all->best)
        return {ledger.gain(), "KV cache is too little of what a step reads to see"};
      // Of an assumed shape only the bound is worth saying.
      const bool assumed = kv->origin == Origin::assumed;
      const double bytes = assumed ? kv->high() : kv->best;
      return {ledger.gain(), fmt::format("KV cache is {}{} of the {} that a step reads",
                                         assumed ? "at most about " : "", bytes_text(bytes),
                                         bytes_text(all->best - kv->best + bytes))};
    }};

}  // namespace ridgeline::diagnosis
