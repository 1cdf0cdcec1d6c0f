// Where prompts are prefilled: in smaller chunks, not again, or on other servers.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Share of the ledger that prompt tokens take: their part of the arithmetic and of what comes with
/// it.
double prompt_share(const Situation& s) {
  if (s.work.window == Window::prefill) return 1.0;
  if (!s.work.tokens && s.work.prompt_share > 0.0) {
    // No step is known, but the rates are: prompts' part of all arithmetic.
    return s.work.prompt_share * std::max(s.budget.share(LineId::matrix_arithmetic).best,
                                          s.regime == Regime::compute_bound ? 0.7 : 0.0);
  }
  if (!s.work.riding || !s.work.tokens || s.budget.find(LineId::matrix_arithmetic) == nullptr)
    return 0.0;
  return std::clamp(s.work.riding->best / std::max(s.work.tokens->best, 1e-300), 0.0, 1.0) *
         s.budget.share(LineId::matrix_arithmetic).best;
}

std::string prompt_words(const Situation& s) {
  return s.work.riding && s.work.tokens && s.work.phase == Phase::mixed
             ? fmt::format("about {} of {} tokens a step are prompt tokens, {} of the time",
                           whole_text(s.work.riding->best), whole_text(s.work.tokens->best),
                           percent_text(prompt_share(s)))
         : s.work.window == Window::prefill
             ? std::string("prefill is all of it")
             : fmt::format("prompts are {} of the tokens, {} of the time",
                           percent_text(s.work.prompt_share), percent_text(prompt_share(s)));
}

}  // namespace

extern const Fix kSmallerPrefillChunk;
const Fix kSmallerPrefillChunk{.name = "smaller_prefill_chunk",
                               .title = "Use smaller prefill chunks",
                               .family = "chunk",
                               .effort = 0,
                               .popularity = 0.35,
                               .applies =
                                   [](const Situation& s) {
                                     return s.work.phase == Phase::prefill ||
                                            s.work.phase == Phase::mixed;
                                   },
                               .assess = [](const Situation&) -> Assessment {
                                 return {{0.9, 1.0},
                                         "chunks move prompt tokens between steps; they remove "
                                         "none, and weights are read once more for each"};
                               }};

extern const Fix kPrefixCache;
const Fix kPrefixCache{
    .name = "prefix_cache",
    .title = "Reuse the KV of prompt prefixes seen before",
    .family = "prompts",
    .effort = 0,
    .acts_on = Cause::compute,
    .leaves = {0.0, 0.9},
    .popularity = 0.35,
    .applies = [](const Situation& s) { return prompt_share(s) > 0.0; },
    .assess = [](const Situation& s) -> Assessment {
      if (s.evidence.engine.enable_prefix_caching.value_or(false))
        return {{1.0}, "it is on already: what repeats is not computed again"};
      if (s.evidence.serving.shared_prefix_tokens && s.evidence.serving.prompt_tokens) {
        const double hit = std::clamp(
            s.evidence.serving.shared_prefix_tokens->best / s.evidence.serving.prompt_tokens->best,
            0.0, 1.0);
        const double share = prompt_share(s);
        return {{1.0 / (1.0 - 0.5 * hit * share), 1.0 / std::max(0.02, 1.0 - hit * share)},
                fmt::format("{} of every prompt is the same; prompts are {} of the time",
                            percent_text(hit), percent_text(share))};
      }
      // None of the prompts may share a beginning; half of their tokens is much where nobody said
      // so.
      return {{1.0, 1.0 / (1.0 - 0.5 * prompt_share(s))},
              prompt_words(s) + "; what share of the prompts begins alike is not known"};
    }};

extern const Fix kDisaggregatedPrefill;
const Fix kDisaggregatedPrefill{
    .name = "disaggregated_prefill",
    .title = "Prefill on separate servers",
    .family = "prompts",
    .effort = 2,
    .needs_hardware = true,
    .acts_on = Cause::compute,
    .leaves = {0.0, 0.9},
    .popularity = 0.4,
    .applies =
        [](const Situation& s) { return s.work.phase == Phase::mixed && prompt_share(s) > 0.0; },
    .assess = [](const Situation& s) -> Assessment {
      const double share = prompt_share(s);
      return {{1.0 / (1.0 - 0.8 * share), 1.0 / std::max(0.02, 1.0 - share)},
              prompt_words(s) + "; other devices would have to carry them"};
    }};

}  // namespace ridgeline::diagnosis
