// Several tokens guessed and checked in one pass: more tokens a weight read, more arithmetic a
// token.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Tokens a pass yields after the draft has been paid for, from a poor match to a good one.
constexpr core::Interval kTokensAPass{1.2, 2.0};
constexpr double kChecked = 4.0;

}  // namespace

extern const Fix kSpeculativeDecoding;
const Fix kSpeculativeDecoding{
    .name = "speculative_decoding",
    .title = "Use speculative decoding",
    .family = "speculation",
    .effort = 2,
    .acts_on = {Cause::bandwidth, Cause::launch, Cause::host, Cause::communication},
    .leaves = {0.3, 0.9},
    .popularity = 0.7,
    .applies = [](const Situation& s) { return is_inference(s); },
    .assess = [](const Situation& s) -> Assessment {
      if (s.work.window == Window::prefill)
        return {{1.0}, "it speeds up decoding; the time to the first token holds none"};
      if (arithmetic_binds(s)) {
        const double c = s.budget.share(LineId::matrix_arithmetic).best;
        const double longer = 1.0 - c + c * kChecked;
        return {
            {std::min(1.0, kTokensAPass.low / longer), std::min(1.0, kTokensAPass.high / longer)},
            "every guess costs arithmetic, and arithmetic binds"};
      }
      if (s.budget.host_paced) {
        // Nor is the draft free of launches: each of its passes waits for the same host.
        return {{0.8, 1.6},
                "fewer steps a token, but drafting adds launches to a host that is already late"};
      }
      if (s.budget.share(Cause::bandwidth).best < 0.4) {
        return {{0.8, kTokensAPass.high},
                s.budget.bandwidth_floor
                    ? "what makes the step long is not the read of the weights, and may grow with "
                      "the guesses"
                    : "how much of a step is the read of the weights is not known"};
      }
      const Maybe& hidden = s.budget.compute_floor;
      const double longer =
          hidden ? std::max(1.0, kChecked * hidden->best / std::max(s.budget.total.best, 1e-300))
                 : 1.0;
      return {{kTokensAPass.low / longer, kTokensAPass.high / longer},
              fmt::format("one read of the weights would yield {:.1f} to {:.1f} tokens; arithmetic "
                          "is at {} and has room",
                          kTokensAPass.low, kTokensAPass.high,
                          percent_text(hidden ? hidden->best / std::max(s.budget.total.best, 1e-300)
                                              : 0.0))};
    }};

}  // namespace ridgeline::diagnosis
