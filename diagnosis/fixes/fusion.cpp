// Passes over activations (norms, activations, adds, casts) joined into fewer: the first read and
// the last write stay.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Of the bytes such passes move, fusing leaves the first read and the last write of each chain.
constexpr core::Interval kPassesLeft{0.25, 0.6};
constexpr core::Interval kCastsLeft{0.0, 0.3};

double tail(const Situation& s) {
  return s.budget.share(LineId::norms).best + s.budget.share(LineId::elementwise).best +
         s.budget.share(LineId::casts).best;
}

/// Fewer kernels are fewer launches, too.
constexpr core::Interval kLaunchesLeft{0.3, 0.8};

bool launches_bind(const Situation& s) {
  return s.regime == Regime::overhead_bound && s.budget.share(Cause::launch).best > 0.2;
}

bool applies(const Situation& s) {
  return tail(s) > 0.0 || launches_bind(s) ||
         (s.work.window == Window::training && s.budget.find(LineId::kernel_distance) != nullptr);
}

Assessment assess(const Situation& s, std::string_view how) {
  Rewrite ledger(s.budget);
  if (launches_bind(s)) {
    ledger.scale(LineId::launch_gaps, kLaunchesLeft)
        .scale(LineId::kernel_floors, kLaunchesLeft)
        .scale(LineId::norms, kPassesLeft)
        .scale(LineId::elementwise, kPassesLeft);
    return {
        ledger.gain(),
        fmt::format("launches are {} of the time, and a fused kernel is one instead of many; {}",
                    percent_text(s.budget.share(Cause::launch).best), how)};
  }
  if (!(tail(s) > 0.0)) {
    // Which kernels are slow was not said; unfused passes are the usual ones in training.
    ledger.scale(LineId::kernel_distance, {0.4, 1.0});
    return {
        ledger.gain(),
        fmt::format("kernels beyond their floor are {} of the time, and passes over activations "
                    "are the usual part of it; {}",
                    percent_text(s.budget.share(LineId::kernel_distance).best), how)};
  }
  ledger.scale(LineId::norms, kPassesLeft)
      .scale(LineId::elementwise, kPassesLeft)
      .scale(LineId::casts, kCastsLeft);
  const double share = tail(s);
  const double casts = s.budget.share(LineId::casts).best;
  return {
      ledger.gain(),
      fmt::format("norms, elementwise kernels and casts are {} of the time; removing all of it is "
                  "worth {:.2f}x, "
                  "and the last read and write stay{}; {}",
                  percent_text(share), 1.0 / std::max(0.02, 1.0 - share),
                  casts > 0.0 ? fmt::format("; the casts ({}) go first", percent_text(casts)) : "",
                  how)};
}

}  // namespace

extern const Fix kCompileFusion;
const Fix kCompileFusion{
    .name = "compile_fusion",
    .title = "Let a compiler fuse norms, activations, adds and casts",
    .family = "passes",
    .effort = 1,
    .acts_on = {Cause::kernels, Cause::launch},
    .leaves = {0.0, 0.8},
    .popularity = 0.4,
    .applies = applies,
    .assess = [](const Situation& s) {
      return assess(s, "a compiler gets most of it before any kernel is written by hand");
    }};
extern const Fix kHandFusion;
const Fix kHandFusion{.name = "hand_fusion",
                      .title = "Fuse norms, activations and adds by hand",
                      .family = "passes",
                      .effort = 3,
                      .acts_on = {Cause::kernels, Cause::launch},
                      .leaves = {0.0, 0.8},
                      .popularity = 0.3,
                      .applies = applies,
                      .assess = [](const Situation& s) {
                        return assess(s, "the same lines as a compiler's, for weeks of work");
                      }};
extern const Fix kRemoveCasts;
const Fix kRemoveCasts{.name = "remove_casts",
                       .title = "Remove dtype casts",
                       .family = "passes",
                       .effort = 1,
                       .acts_on = Cause::kernels,
                       .leaves = {0.0, 0.8},
                       .popularity = 0.1,
                       .applies =
                           [](const Situation& s) {
                             return s.budget.share(LineId::casts).best > 0.0 ||
                                    (has_symptom(s.evidence, "dtype_fallback") &&
                                     s.budget.find(LineId::kernel_distance) != nullptr);
                           },
                       .assess = [](const Situation& s) -> Assessment {
                         Rewrite ledger(s.budget);
                         if (s.budget.find(LineId::casts) == nullptr) {
                           ledger.scale(LineId::kernel_distance, {0.4, 0.95});
                           return {ledger.gain(),
                                   "tensors are converted on the way; how long that takes was not "
                                   "measured"};
                         }
                         ledger.scale(LineId::casts, kCastsLeft);
                         return {ledger.gain(),
                                 fmt::format("casts are {} of the time and compute nothing",
                                             percent_text(s.budget.share(LineId::casts).best))};
                       }};

}  // namespace ridgeline::diagnosis
