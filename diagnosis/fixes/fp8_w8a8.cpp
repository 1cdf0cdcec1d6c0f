// Weights and activations in fp8: half of the bytes and, where the part has the unit, a higher
// matrix rate.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

Maybe fp8_over_current(const Situation& s) {
  const auto& peak = s.evidence.machine.peak;
  if (!s.work.peak) return std::nullopt;
  const Value one = *s.work.peak / s.evidence.machine.devices.value_or(Value(1.0));
  if (const auto it = peak.find(hw::Dtype::fp8); it != peak.end()) return it->second / one;
  if (s.evidence.machine.datasheet) return std::nullopt;  // this part has none
  return Value(core::Interval(1.0, 2.0), 2.0, Origin::assumed);
}

bool applies(const Situation& s) {
  return is_inference(s) && has_wide_weights(s) && fp8_over_current(s).has_value();
}

Assessment assess(const Situation& s) {
  const Value faster = *fp8_over_current(s);
  // Quantizing activations and the layers that stay wide keep a tenth of the saving.
  const core::Interval arithmetic{1.0 / faster.high(), std::min(1.0, 1.1 / faster.low())};
  constexpr core::Interval kBytes{0.5, 0.55};
  Rewrite ledger(s.budget);
  ledger.shrink_arithmetic(arithmetic, kBytes)
      .shrink_bytes(LineId::weights, kBytes)
      .shrink_bytes(LineId::traffic, {0.5, 1.0});
  if (s.budget.find(LineId::matrix_arithmetic) != nullptr || s.regime == Regime::bandwidth_bound) {
    for (const LineId id :
         {LineId::matrix_distance, LineId::kernel_distance, LineId::not_separated})
      ledger.scale(id, {0.65, 1.0});
  }
  Assessment out{ledger.gain(), {}};
  out.why = s.budget.find(LineId::matrix_arithmetic) != nullptr
                ? fmt::format(
                      "arithmetic is {} of the time and its peak rises {:.1f}x; it halves the "
                      "weight bytes too",
                      percent_text(s.budget.share(LineId::matrix_arithmetic).best), faster.best)
                : "it halves the weight bytes; arithmetic does not bind here";
  return out;
}

}  // namespace

extern const Fix kFp8W8A8;
const Fix kFp8W8A8{.name = "fp8_w8a8",
                   .title = "Use fp8 weights and activations",
                   .family = "weight bytes",
                   .effort = 1,
                   .acts_on = {Cause::bandwidth, Cause::compute},
                   .leaves = {0.5, 0.7},
                   .popularity = 0.5,
                   .applies = applies,
                   .assess = assess};

}  // namespace ridgeline::diagnosis
