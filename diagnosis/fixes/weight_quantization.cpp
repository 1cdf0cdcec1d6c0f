// Weights in fewer bits, multiplied at the dtype of the activations. Shrinks the bytes and nothing
// else; unpacking is extra work.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/complete.hpp"
#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Scales, zero points and the layers that stay wide come on top of the bits: 4.25 to 5.6 and 8
/// to 8.8 of 16.
constexpr core::Interval kBytesOf4Bit{0.27, 0.35};
constexpr core::Interval kBytesOf8Bit{0.5, 0.55};
/// What unpacking adds to matrix products that were bound by arithmetic.
constexpr core::Interval kUnpacking{1.0, 1.1};

/// How many times as long the arithmetic takes once weights are unpacked to 16 bit, where it now
/// runs in fewer: activations that are quantized too lose that with weights alone in 4 bit.
double slower_arithmetic(const Situation& s) {
  const auto& now = s.evidence.model.activation_dtype;
  if (!now || hw::bytes_of(*now).value() >= 2.0) return 1.0;
  const Maybe narrow = peak_of(s.evidence.machine, *now);
  const Maybe wide = peak_of(s.evidence.machine, hw::Dtype::bf16);
  return narrow && wide && wide->best > 0.0 ? std::max(1.0, narrow->best / wide->best) : 1.0;
}

bool applies(const Situation& s) { return is_inference(s) && has_wide_weights(s); }

Assessment assess(const Situation& s, core::Interval factor, int bits) {
  Rewrite ledger(s.budget);
  ledger.shrink_bytes(LineId::weights, factor);
  ledger.shrink_bytes(LineId::traffic,
                      {factor.low, 1.0});  // how much of it is weights is not known
  const double slower = slower_arithmetic(s);
  ledger.scale(LineId::matrix_arithmetic, kUnpacking * core::Interval(slower));
  if (slower > 1.0 && s.regime == Regime::compute_bound)
    ledger.scale(LineId::matrix_distance, core::Interval(slower));
  // Without the length of a step its reads have no place on the ledger: they may be any part of
  // what is not separated.
  const bool reads_unknown = is_decoding(s) && !s.budget.bandwidth_floor;
  if (reads_unknown) ledger.scale(LineId::not_separated, {factor.low, 1.0});
  const bool weights_bind =
      s.budget.find(LineId::weights) != nullptr && s.regime == Regime::bandwidth_bound;
  if (weights_bind) {
    // Kernels that stream weights stay about as far from the roof as they were, relative to their
    // bytes.
    for (const LineId id :
         {LineId::matrix_distance, LineId::kernel_distance, LineId::not_separated})
      ledger.scale(id, {0.5, 1.0});
  }
  Assessment out{ledger.gain(), {}};
  if (slower > 1.0 && arithmetic_binds(s)) {
    out.why = fmt::format(
        "the arithmetic binds and now runs in 8 bit; with weights alone in {} it runs at 16 bit, "
        "{:.1f} times as long, after they are unpacked",
        bits, slower);
  } else if (s.work.window == Window::prefill) {
    const Maybe read = s.work.weights_read / s.work.bandwidth;
    out.why = read ? fmt::format(
                         "all weights take {} to read in {} of prefill; the multiplies still run "
                         "at 16 bit",
                         time_text(read->best), time_text(s.budget.total.best))
                   : "prefill is bound by arithmetic, which still runs at 16 bit";
  } else if (const Line* weights = s.budget.find(LineId::weights);
             weights != nullptr && s.budget.host_paced) {
    out.why = fmt::format(
        "weights are {} of a step that the host paces: a shorter kernel makes a longer gap",
        percent_text(s.budget.share(LineId::weights).best));
  } else if (weights != nullptr) {
    out.why = fmt::format(
        "weights are {} of the {} step and {} bit leaves {:.0f} to {:.0f} % of their bytes",
        time_text(weights->time.best), time_text(s.budget.total.best), bits, 100 * factor.low,
        100 * factor.high);
  } else if (reads_unknown && !arithmetic_binds(s)) {
    out.why = "how much of the time is the read of the weights is not known";
  } else if (s.budget.find(LineId::matrix_arithmetic) != nullptr) {
    const Maybe hbm = either(s.evidence.profile.hbm_fraction, s.work.hbm_expected);
    out.why = hbm ? fmt::format(
                        "it shrinks the {} of HBM time hidden beneath the arithmetic's {}, which "
                        "stays at 16 bit, and "
                        "unpacking adds to it",
                        percent_text(hbm->best), percent_text(s.budget.share(Cause::compute).best))
                  : "the arithmetic binds and stays at 16 bit; unpacking adds to it";
  } else {
    out.why = "no line of the ledger is weight bytes";
  }
  return out;
}

}  // namespace

extern const Fix kWeightQuantization8Bit;
const Fix kWeightQuantization8Bit{
    .name = "weight_quantization_8bit",
    .title = "Quantize the weights to 8 bit",
    .family = "weight bytes",
    .effort = 1,
    .acts_on = Cause::bandwidth,
    .leaves = {0.5, 0.6},
    .popularity = 0.6,
    .applies = applies,
    .assess = [](const Situation& s) { return assess(s, kBytesOf8Bit, 8); }};
extern const Fix kWeightQuantization4Bit;
const Fix kWeightQuantization4Bit{
    .name = "weight_quantization_4bit",
    .title = "Quantize the weights to 4 bit",
    .family = "weight bytes",
    .effort = 1,
    .acts_on = Cause::bandwidth,
    .leaves = {0.27, 0.5},
    .popularity = 0.95,
    .applies =
        [](const Situation& s) {
          const auto& dtype = s.evidence.model.weight_dtype;
          return is_inference(s) && (!dtype || hw::bytes_of(*dtype).value() >= 1.0);
        },
    .assess =
        [](const Situation& s) {
          const double now = s.evidence.model.weight_dtype
                                 ? hw::bytes_of(*s.evidence.model.weight_dtype).value()
                                 : 2.0;
          return assess(s, kBytesOf4Bit * core::Interval(2.0 / now), 4);
        }};

}  // namespace ridgeline::diagnosis
