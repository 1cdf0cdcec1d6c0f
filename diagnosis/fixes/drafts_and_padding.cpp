// Tokens that are computed and thrown away: drafts that are not accepted, rows that pad a graph, an
// expert nobody chose.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

bool drafts(const Situation& s) {
  const bool tried =
      std::any_of(s.evidence.trials.begin(), s.evidence.trials.end(), [](const Trial& t) {
        return t.change == "speculative_decoding" || t.change == "longer_drafts" ||
               t.change == "shorter_drafts";
      });
  return tried || best_or(s.evidence.engine.speculative_tokens, 0.0) > 0.0;
}

/// Bytes that a counter saw over those that a step needs.
double excess_bytes(const Situation& s) {
  const Maybe needed = s.work.bytes;
  const Maybe counted = either(s.evidence.measured.bytes_per_step,
                               s.evidence.profile.hbm_fraction * s.work.bandwidth * s.work.time);
  return needed && counted && needed->best > 0.0 ? counted->best / needed->best : 1.0;
}

}  // namespace

extern const Fix kShorterDrafts;
const Fix kShorterDrafts{
    .name = "shorter_drafts",
    .title = "Guess fewer tokens a pass, none under load",
    .family = "speculation",
    .effort = 0,
    .acts_on = Cause::compute,
    .leaves = {0.2, 0.9},
    .popularity = 0.1,
    .applies = drafts,
    .assess = [](const Situation& s) -> Assessment {
      double slower = 1.0;
      for (const Trial& t : s.evidence.trials) {
        if (t.change != "speculative_decoding" && t.change != "longer_drafts") continue;
        for (const Trial::Effect& effect : t.effects) slower = std::min(slower, effect.gain.best);
      }
      if (slower < 0.97)
        return {{1.0 + 0.5 * (1.0 / slower - 1.0), 1.0 / slower},
                fmt::format("guesses made it {:.2f}x slower: each costs arithmetic or a serial "
                            "pass, and most are thrown away",
                            1.0 / slower)};
      const double guessed = best_or(s.evidence.engine.speculative_tokens, 0.0);
      const double accepted = best_or(s.evidence.engine.accepted_tokens, 0.0);
      if (guessed > 0.0 && accepted > 0.0 && accepted < 0.5 * guessed)
        return {{1.05, std::max(1.1, 0.3 * guessed / accepted)},
                fmt::format("{} tokens are guessed a pass and {:.2f} come out of it",
                            whole_text(guessed), accepted)};
      return {{1.0}, "nothing says that the guesses cost more than they bring"};
    }};

extern const Fix kLongerDrafts;
const Fix kLongerDrafts{
    .name = "longer_drafts",
    .title = "Guess more tokens a pass",
    .family = "speculation",
    .effort = 0,
    .popularity = 0.5,
    .applies = drafts,
    .assess = [](const Situation&) -> Assessment {
      return {{0.5, 1.04},
              "each further guess is accepted less often than the one before and costs the same"};
    }};

extern const Fix kFinerGraphSizes;
const Fix kFinerGraphSizes{
    .name = "finer_graph_sizes",
    .title = "Capture graphs for more batch sizes",
    .family = "graph sizes",
    .effort = 0,
    .acts_on = Cause::kernels,  // rows beyond those that carry a token are beyond the floor
    .leaves = {0.0, 0.9},
    .popularity = 0.2,
    .applies =
        [](const Situation& s) {
          return s.evidence.profile.gemm_rows && s.work.tokens && s.work.window == Window::decode &&
                 s.work.tokens->best > 16.0;
        },
    .assess = [](const Situation& s) -> Assessment {
      const double rows = s.evidence.profile.gemm_rows->best;
      const double used = std::max(s.work.tokens->best, 1.0);
      const double over = std::max(rows / used, 1.0);
      const double grows =
          s.budget.share(Cause::compute).best + s.budget.share(Cause::kernels).best;
      return {{1.0, 1.0 + grows * (over - 1.0) / over},
              fmt::format("{} rows run for {} tokens; what grows with rows is {} of the step",
                          whole_text(rows), whole_text(used), percent_text(grows))};
    }};

extern const Fix kReadOnlyChosenExperts;
const Fix kReadOnlyChosenExperts{
    .name = "read_only_chosen_experts",
    .title = "Read only the weights that tokens are routed to, as they are stored",
    .family = "excess bytes",
    .effort = 2,
    .acts_on = Cause::kernels,
    .leaves = {0.0, 0.8},
    .popularity = 0.1,
    .applies = [](const Situation& s) { return is_decoding(s) && excess_bytes(s) > 2.0; },
    .assess = [](const Situation& s) -> Assessment {
      const double times = excess_bytes(s);
      return {{std::min(2.0, 0.5 * times), 0.8 * times},
              fmt::format("a step moves {:.0f}x the bytes that it needs: all experts, or weights "
                          "unpacked to 16 bit",
                          times)};
    }};

extern const Fix kRaisePowerLimit;
const Fix kRaisePowerLimit{
    .name = "raise_power_limit",
    .title = "Raise the power limit, and compare sustained clocks",
    .family = "power",
    .effort = 0,
    .acts_on = Cause::compute,
    .leaves = {0.5, 1.0},
    .popularity = 0.2,
    .applies = [](const Situation& s) { return s.evidence.profile.clock_fraction.has_value(); },
    .assess = [](const Situation& s) -> Assessment {
      const double clock = std::clamp(s.evidence.profile.clock_fraction->best, 0.05, 1.0);
      const double grows =
          s.budget.share(Cause::compute).best + s.budget.share(Cause::kernels).best;
      return {
          {1.0 + 0.3 * (1.0 / clock - 1.0) * std::min(1.0, grows), 1.0 / clock},
          fmt::format("the clock stays at {} of its rating; the rate of a matrix kernel follows "
                      "it",
                      percent_text(clock))};
    }};

}  // namespace ridgeline::diagnosis
