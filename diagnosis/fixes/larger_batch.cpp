// More sequences (or a larger microbatch) a step. Judged by the rate that was measured: of one
// sequence, or of all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// By how much the total rises with twice the sequences, from the last two points of a sweep.
std::optional<double> gain_of_doubling(const Evidence& e) {
  if (e.sweep.size() < 2) return std::nullopt;
  const Evidence& a = e.sweep[e.sweep.size() - 2];
  const Evidence& b = e.sweep.back();
  if (!a.serving.concurrency || !b.serving.concurrency || !a.measured.throughput ||
      !b.measured.throughput)
    return std::nullopt;
  const double more = std::log(b.serving.concurrency->best / a.serving.concurrency->best);
  if (!(more > 0.2)) return std::nullopt;
  const double rise = std::log(b.measured.throughput->best / a.measured.throughput->best);
  return std::exp2(std::clamp(rise / more, -1.0, 1.0));
}

}  // namespace

extern const Fix kLargerBatch;
const Fix kLargerBatch{
    .name = "larger_batch",
    .title = "Use a larger batch",
    .family = "batch",
    .effort = 0,
    .acts_on = {Cause::bandwidth, Cause::launch, Cause::host, Cause::communication},
    .leaves = {0.0, 0.6},
    .popularity = 0.8,
    .applies = [](const Situation&) { return true; },
    .assess = [](const Situation& s) -> Assessment {
      if (s.work.window == Window::training) {
        const Maybe& rows = s.work.tokens;
        const double devices = best_or(s.evidence.machine.devices, 1.0);
        Rewrite ledger(s.budget);
        ledger.scale(LineId::matrix_distance,
                     {rows && rows->best / devices >= 8192.0 ? 0.9 : 0.5, 1.0});
        ledger.scale(LineId::launch_gaps, {0.3, 0.7});  // as many launches for twice the tokens
        const bool enough = rows && rows->best / devices >= 8192.0;
        return {ledger.gain(),
                fmt::format("{}{}; every pass over activations grows with the batch",
                            rows ? number_text(rows->best) + " tokens a step: " : std::string(),
                            enough ? "matrix products have rows enough"
                                   : "more rows fill the matrix units and share the launches")};
      }
      if (s.work.window == Window::prefill) {
        return {{1.0},
                "prompts prefilled together share the same arithmetic units: none of them starts "
                "sooner"};
      }
      const bool alone = s.evidence.serving.arrivals == Arrivals::one_at_a_time;
      if (alone)
        return {{1.0},
                "requests come one at a time: nothing overlaps, so there is nothing to batch"};
      if (s.regime == Regime::capacity_bound)
        return {{1.0}, "no KV blocks are left for more sequences"};
      if (arithmetic_binds(s)) {
        return {{1.0, 1.03},
                "each token brings its own arithmetic, and arithmetic binds: the step grows with "
                "the batch"};
      }
      const Measured& m = s.evidence.measured;
      if (const auto doubling = gain_of_doubling(s.evidence))
        return {{std::max(1.0, *doubling * 0.95), std::max(1.0, *doubling * 1.05)},
                fmt::format("measured: at the end of the sweep twice the sequences give {:.2f}x",
                            *doubling)};
      if (m.throughput_per_sequence && !m.throughput)
        return {{0.5, 1.0},
                "it raises the total, not the rate of a sequence, which is what was measured"};
      if (!m.throughput)
        return {{0.5, 1.0}, "it raises the total; a sequence shares its steps with more others"};
      const bool open = s.evidence.serving.arrivals == Arrivals::open;
      if (open && !s.overloaded && s.work.sequences) {
        return {{1.0},
                fmt::format("the requests that arrive set the batch, {} on average: a higher limit "
                            "would admit no more",
                            number_text(s.work.sequences->best))};
      }
      // Twice the sequences: what is per step is shared by twice the tokens, what is per token is
      // not.
      const double per_token =
          s.budget.share(Cause::compute).best + s.budget.share(LineId::kv_cache).best;
      const double host = s.budget.share(LineId::host).best;
      const double unknown = s.budget.share(Cause::unexplained).best;
      const double high = 2.0 / (1.0 + per_token + 0.5 * host);
      const double low =
          2.0 / (1.0 + per_token + host + unknown + s.budget.share(Cause::kernels).best);
      // Where requests wait, they are there for the total.
      const bool wait = s.evidence.serving.arrivals == Arrivals::saturated &&
                        best_or(s.evidence.serving.waiting, 0.0) >= 1.0;
      if (m.throughput_per_sequence && !s.overloaded && !wait) {
        // Nobody said which of the two rates is wanted: what the total may gain, a sequence loses.
        return {{1.0, std::max(1.0, high)},
                "it raises the total, if requests enough are there; each answer takes longer"};
      }
      const bool overlap_unknown = best_or(s.work.sequences, 1.0) < 1.5;
      return {{overlap_unknown ? 1.0 : std::max(1.0, low), std::max(1.0, high)},
              overlap_unknown
                  ? "weights are read once a step whatever the batch, if requests overlap at all"
                  : "weights are read once a step whatever the batch"};
    }};

}  // namespace ridgeline::diagnosis
