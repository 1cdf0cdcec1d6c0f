#include <algorithm>

#include "diagnosis/fixes/fix.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Share of the time saved in kernels that shortens a step whose launches come one by one from a slower host: what
/// follows the last launch.
constexpr core::Interval kRealised{0.0, 0.2};

bool on_device(Cause c) { return c == Cause::bandwidth || c == Cause::compute || c == Cause::kernels; }

}  // namespace

void Rewrite::save(const Line& line, core::Interval seconds) {
  saved_ = saved_ + (budget_.host_paced && on_device(line.cause) ? seconds * kRealised : seconds);
}

Rewrite& Rewrite::scale(LineId id, core::Interval factor) {
  if (const Line* line = budget_.find(id)) save(*line, line->time.interval * (core::Interval(1.0) - factor));
  return *this;
}

Rewrite& Rewrite::shrink_bytes(LineId id, core::Interval factor) {
  const Line* line = budget_.find(id);
  if (line == nullptr) return *this;
  const double hidden = best_or(budget_.compute_floor, 0.0);
  double roof = 0.0;
  for (const LineId other : {LineId::weights, LineId::kv_cache, LineId::traffic}) {
    if (const Line* l = budget_.find(other)) roof += l->time.best;
  }
  const double room = std::max(0.0, roof - hidden);  // the line can lose this before the arithmetic shows
  const auto saved = [&](double time, double f) { return std::min(time * (1.0 - f), room); };
  save(*line, {saved(line->time.low(), factor.high), saved(line->time.high(), factor.low)});
  return *this;
}

Rewrite& Rewrite::shrink_arithmetic(core::Interval factor, core::Interval bytes_factor) {
  const Line* line = budget_.find(LineId::matrix_arithmetic);
  if (line == nullptr) return *this;
  const core::Interval bytes =
      budget_.bandwidth_floor ? budget_.bandwidth_floor->interval * bytes_factor : core::Interval(0.0);
  const core::Interval after = core::max(line->time.interval * factor, bytes);
  save(*line, {std::max(0.0, line->time.low() - std::min(after.high, line->time.low())),
               std::max(0.0, line->time.high() - after.low)});
  return *this;
}

Rewrite& Rewrite::replace(LineId id, core::Interval seconds) {
  if (const Line* line = budget_.find(id)) save(*line, line->time.interval - seconds);
  return *this;
}

Rewrite& Rewrite::add(core::Interval seconds) {
  saved_ = saved_ - seconds;
  return *this;
}

core::Interval Rewrite::gain() const {
  const double total = budget_.total.best;
  if (!(total > 0.0)) return {1.0};
  // A change that leaves less than a fiftieth of the time was not computed but dreamt.
  const auto gain_for = [&](double saved) { return total / std::max(total - saved, 0.02 * total); };
  return {gain_for(saved_.low), gain_for(saved_.high)};
}

bool has_wide_weights(const Situation& s) {
  const auto& dtype = s.evidence.model.weight_dtype;
  return !dtype || hw::bytes_of(*dtype).value() >= 2.0;
}

}  // namespace ridgeline::diagnosis
