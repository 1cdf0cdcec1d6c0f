// How many requests are let in, and what their contexts may take.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

bool memory_is_short(const Situation& s) {
  return s.regime == Regime::capacity_bound || best_or(s.evidence.serving.kv_usage, 0.0) > 0.9 ||
         best_or(s.work.kv_demand, 0.0) > 1.0 || s.budget.share(Cause::capacity).best > 0.05;
}

/// Requests wait although there is room.
bool limit_binds(const Situation& s) {
  return best_or(s.evidence.serving.waiting, 0.0) >= 1.0 && s.evidence.serving.kv_usage &&
         s.evidence.serving.kv_usage->best < 0.8 && is_decoding(s);
}

/// Throughput lost to prompts that are computed, thrown away and computed again.
double lost(const Situation& s) { return s.budget.share(Cause::capacity).best; }

}  // namespace

extern const Fix kAdmissionControl;
const Fix kAdmissionControl{
    .name = "admission_control",
    .title = "Admit only what the KV cache can hold to its end",
    .family = "admission",
    .effort = 0,
    .acts_on = Cause::capacity,
    .leaves = {0.0, 0.8},
    .popularity = 0.2,
    .applies = memory_is_short,
    .assess = [](const Situation& s) -> Assessment {
      const double over = best_or(s.work.kv_demand, 1.0);
      const double share = std::max(lost(s), s.regime == Regime::capacity_bound ? 0.1 : 0.0);
      return {{1.0 + 0.5 * share, 1.0 / std::max(0.1, 1.0 - std::max(share, 0.3))},
              over > 1.05
                  ? fmt::format("the sequences admitted need {:.1f}x the KV memory: those that are "
                                "thrown out are computed twice",
                                over)
                  : std::string("preempted requests are computed again from their prompt")};
    }};

extern const Fix kAdmitMore;
const Fix kAdmitMore{
    .name = "admit_more",
    .title = "Admit more requests at once (max_num_seqs, utilization policy)",
    .family = "admission",
    .effort = 0,
    .popularity = 0.55,
    .applies = [](const Situation& s) { return memory_is_short(s) || limit_binds(s); },
    .assess = [](const Situation& s) -> Assessment {
      if (limit_binds(s)) {
        const double per_token =
            s.budget.share(Cause::compute).best + s.budget.share(LineId::kv_cache).best;
        return {{1.0, 2.0 / (1.0 + std::min(per_token, 1.0))},
                fmt::format("{} requests wait while {} of the KV blocks are taken: a limit keeps "
                            "them out, not memory",
                            whole_text(s.evidence.serving.waiting->best),
                            percent_text(s.evidence.serving.kv_usage->best))};
      }
      const double over = best_or(s.work.kv_demand, 1.0);
      return {{0.5, 1.0},
              over > 1.05 ? fmt::format("there is room for {} of those that run now",
                                        percent_text(1.0 / over))
                          : std::string("no KV blocks are left for more sequences")};
    }};

extern const Fix kKvOffload;
const Fix kKvOffload{.name = "kv_offload",
                     .title = "Keep KV of idle prefixes in the host's memory",
                     .family = "capacity",
                     .effort = 1,
                     .acts_on = Cause::capacity,
                     .leaves = {0.0, 0.9},
                     .popularity = 0.3,
                     .applies = memory_is_short,
                     .assess = [](const Situation& s) -> Assessment {
                       const double share = std::max(lost(s), 0.05);
                       return {{1.0, 1.0 / std::max(0.1, 1.0 - share)},
                               "a prefix that comes back is copied instead of computed again"};
                     }};

extern const Fix kPreparedRequests;
const Fix kPreparedRequests{
    .name = "prepared_requests",
    .title = "Prepare requests off the critical path, once, and cache what was prepared",
    .family = "front end",
    .effort = 1,
    .acts_on = Cause::host,
    .leaves = {0.0, 0.7},
    .popularity = 0.2,
    .applies = [](const Situation& s) { return s.budget.find(LineId::host) != nullptr; },
    .assess = [](const Situation& s) -> Assessment {
      const double share = s.budget.share(LineId::host).best;
      if (s.work.window != Window::prefill)
        return {{1.0, 1.0 / (1.0 - 0.5 * share)},
                "what the host does for each request before its first token is a part of its time"};
      Rewrite ledger(s.budget);
      ledger.scale(LineId::host, {0.05, 0.5});
      return {ledger.gain(),
              fmt::format("{} of the time to the first token is the host's: tokenizing, grammars, "
                          "images, copies between processes",
                          percent_text(share))};
    }};

}  // namespace ridgeline::diagnosis
