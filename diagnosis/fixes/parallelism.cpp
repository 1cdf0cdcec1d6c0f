// The model over more or fewer devices, and the links between them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "diagnosis/fixes/fix.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Two all-reduces a layer at 10 to 25 us each for the sizes that a decode step sends.
constexpr core::Interval kAllReduce{10e-6, 25e-6};

/// Copies on fewer devices, where the rate on fewer was measured.
std::optional<Assessment> by_sweep(const Situation& s) {
  const auto rate = [](const Evidence& e) -> double {
    const Measured& m = e.measured;
    if (m.throughput) return m.throughput->best;
    if (m.throughput_per_sequence) return m.throughput_per_sequence->best;
    if (m.itl) return 1.0 / m.itl->best;
    return 0.0;
  };
  const auto& sweep = s.evidence.sweep;
  if (sweep.size() < 2) return std::nullopt;
  const double devices = best_or(s.evidence.machine.devices, 1.0);
  const double now = rate(sweep.back());
  double best = 0.0;
  double on = 0.0;
  for (const Evidence& point : sweep) {
    const double n = best_or(point.machine.devices, devices);
    if (n >= devices || !(rate(point) > 0.0)) continue;
    if (rate(point) / n > best) {
      best = rate(point) / n;
      on = n;
    }
  }
  if (!(best > 0.0) || !(now > 0.0)) return std::nullopt;
  const double gain = best / (now / devices);
  return Assessment{
      {0.8 * gain, gain},
      fmt::format("a copy on {} device{} gives {:.2f}x of what one device of {} gives",
                  whole_text(on), on > 1.0 ? "s" : "", gain, whole_text(devices))};
}

}  // namespace

extern const Fix kMoreTensorParallelism;
const Fix kMoreTensorParallelism{
    .name = "more_tensor_parallelism",
    .title = "Double the tensor parallelism",
    .family = "devices",
    .effort = 2,
    .needs_hardware = true,
    .acts_on = {Cause::bandwidth, Cause::compute},
    .leaves = {0.5, 0.7},
    .popularity = 0.5,
    .applies = [](const Situation& s) { return is_inference(s) && s.budget.in_seconds; },
    .assess = [](const Situation& s) -> Assessment {
      Rewrite ledger(s.budget);
      for (const LineId id : {LineId::weights, LineId::kv_cache, LineId::traffic,
                              LineId::matrix_arithmetic, LineId::attention_arithmetic}) {
        ledger.scale(id, {0.5, 0.55});
      }
      for (const LineId id : {LineId::matrix_distance, LineId::attention_distance})
        ledger.scale(id, {0.5, 1.0});
      const double layers = best_or(s.evidence.model.layers, 40.0);
      const bool collectives = is_decoding(s);
      if (collectives) ledger.add(kAllReduce * core::Interval(2.0 * layers));
      return {ledger.gain(),
              s.budget.host_paced
                  ? "each device would wait for the same host"
                  : fmt::format(
                        "bytes and arithmetic halve per device{}; the cost per token does not fall",
                        collectives ? fmt::format(", {} collectives a step come on top",
                                                  whole_text(2.0 * layers))
                                    : "")};
    }};

extern const Fix kLessTensorParallelism;
const Fix kLessTensorParallelism{
    .name = "less_tensor_parallelism",
    .title = "Use fewer devices per copy and more copies",
    .family = "devices",
    .effort = 1,
    .acts_on = {Cause::communication, Cause::host, Cause::launch},
    .leaves = {0.0, 0.6},
    .popularity = 0.2,
    .applies =
        [](const Situation& s) {
          return is_inference(s) && best_or(s.evidence.machine.devices, 1.0) > 1.5 &&
                 (s.budget.find(LineId::communication) != nullptr ||
                  s.regime == Regime::communication_bound || !s.evidence.sweep.empty());
        },
    .assess = [](const Situation& s) -> Assessment {
      if (const auto measured = by_sweep(s)) return *measured;
      const Maybe half = s.evidence.machine.hbm_capacity * s.evidence.machine.devices * Maybe(0.5);
      if (half && s.work.weight_bytes && s.work.weight_bytes->best > 0.9 * half->best)
        return {{1.0},
                fmt::format("half of the devices do not hold {} of weights",
                            bytes_text(s.work.weight_bytes->best))};
      // Per device: the halves come back together, and half of the collectives' time goes.
      Rewrite ledger(s.budget);
      if (s.budget.find(LineId::communication) == nullptr) {
        ledger.scale(LineId::not_separated, {0.3, 0.9});
        return {ledger.gain(),
                "collectives were not measured; what nobody separated is about as long as they "
                "would be; gain per device"};
      }
      ledger.scale(LineId::communication, {0.0, 0.6});
      return {ledger.gain(),
              fmt::format("collectives are {} of a step; gain per device, not per request",
                          percent_text(s.budget.share(Cause::communication).best))};
    }};

extern const Fix kFasterLinks;
const Fix kFasterLinks{
    .name = "faster_links",
    .title = "Use faster links, or collectives that use them better",
    .family = "links",
    .effort = 2,
    .acts_on = {Cause::communication, Cause::transfer},
    .leaves = {0.0, 0.8},
    .popularity = 0.2,
    .applies =
        [](const Situation& s) {
          return s.budget.find(LineId::communication) != nullptr ||
                 s.budget.find(LineId::transfer) != nullptr;
        },
    .assess = [](const Situation& s) -> Assessment {
      Rewrite ledger(s.budget);
      // Small messages wait for one another, not for the wire.
      ledger.scale(LineId::communication, {0.5, 0.95}).scale(LineId::transfer, {0.5, 0.95});
      return {ledger.gain(),
              "only what the messages' size takes would shrink, not the waiting of devices for "
              "each other"};
    }};

extern const Fix kFasterDevice;
const Fix kFasterDevice{
    .name = "faster_device",
    .title = "Buy a faster device",
    .family = "devices",
    .effort = 2,
    .needs_hardware = true,
    .acts_on = {Cause::bandwidth, Cause::compute, Cause::kernels},
    .leaves = {0.4, 0.8},
    .popularity = 0.45,
    .applies = [](const Situation&) { return true; },
    .assess = [](const Situation& s) -> Assessment {
      // The next generation: 1.4 to 2.4 times the bandwidth and the matrix rate.
      constexpr core::Interval kLeft{1.0 / 2.4, 1.0 / 1.4};
      Rewrite ledger(s.budget);
      for (const LineId id :
           {LineId::weights, LineId::kv_cache, LineId::traffic, LineId::matrix_arithmetic,
            LineId::attention_arithmetic, LineId::matrix_distance, LineId::attention_distance,
            LineId::kernel_distance, LineId::norms, LineId::elementwise, LineId::casts,
            LineId::other_kernels})
        ledger.scale(id, kLeft);
      ledger.scale(LineId::not_separated, {kLeft.low, 1.0});
      const double outside = s.budget.share(Cause::launch).best + s.budget.share(Cause::host).best +
                             s.budget.share(Cause::communication).best +
                             s.budget.share(Cause::transfer).best;
      return {ledger.gain(), fmt::format("{} of the time is outside its kernels and stays as it is",
                                         percent_text(outside))};
    }};

}  // namespace ridgeline::diagnosis
