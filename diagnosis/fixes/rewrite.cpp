#include <algorithm>

#include "diagnosis/fixes/fix.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Share of the time saved in kernels that shortens a step whose launches come one by one from a
/// slower host: what follows the last launch.
constexpr core::Interval kRealised{0.0, 0.2};

bool on_device(Cause c) {
  return c == Cause::bandwidth || c == Cause::compute || c == Cause::kernels;
}

}  // namespace

void Rewrite::save(const Line& line, core::Interval seconds) {
  const auto share = [](double part, double whole) {
    return whole > 0.0 ? std::min(part / whole, 1.0) : 0.0;
  };
  core::Interval shares{
      share(seconds.low, line.time.low() > 0.0 ? line.time.low() : line.time.best),
      share(seconds.high, line.time.high())};
  if (shares.low > shares.high) std::swap(shares.low, shares.high);
  if (budget_.host_paced && on_device(line.cause)) shares = shares * kRealised;
  savings_.push_back({&line, shares});
}

/// The most or the least that can be saved by lines that lie within their bounds and add up to the
/// total: each line gets its least, and what remains goes where it is saved best (or worst).
double Rewrite::saved(bool most) const {
  struct Part {
    double low;
    double room;
    double share;
  };
  std::vector<Part> parts;
  double left = budget_.total.best;
  for (const Line& line : budget_.lines) {
    double share = 0.0;
    for (const Saving& s : savings_) {
      if (s.line == &line) share += most ? s.share.high : s.share.low;
    }
    parts.push_back({line.time.low(), line.time.high() - line.time.low(), share});
    left -= line.time.low();
  }
  std::stable_sort(parts.begin(), parts.end(), [most](const Part& a, const Part& b) {
    return most ? a.share > b.share : a.share < b.share;
  });
  double sum = 0.0;
  for (const Part& part : parts) {
    const double more = std::clamp(left, 0.0, std::max(part.room, 0.0));
    left -= more;
    sum += (part.low + more) * part.share;
  }
  return sum;
}

Rewrite& Rewrite::scale(LineId id, core::Interval factor) {
  if (const Line* line = budget_.find(id))
    save(*line, line->time.interval * (core::Interval(1.0) - factor));
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
  const double room =
      std::max(0.0, roof - hidden);  // the line can lose this before the arithmetic shows
  const auto saved = [&](double time, double f) { return std::min(time * (1.0 - f), room); };
  save(*line, {saved(line->time.low(), factor.high), saved(line->time.high(), factor.low)});
  return *this;
}

Rewrite& Rewrite::shrink_arithmetic(core::Interval factor, core::Interval bytes_factor) {
  const Line* line = budget_.find(LineId::matrix_arithmetic);
  if (line == nullptr) return *this;
  const core::Interval bytes = budget_.bandwidth_floor
                                   ? budget_.bandwidth_floor->interval * bytes_factor
                                   : core::Interval(0.0);
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
  added_ = added_ + seconds;
  return *this;
}

Gain Rewrite::gain() const {
  const double total = budget_.total.best;
  if (!(total > 0.0)) return derived({1.0});
  // A change that leaves less than a twentieth of the time was not computed but dreamt.
  const auto gain_for = [&](double saved) { return total / std::max(total - saved, 0.05 * total); };
  const double least = saved(false) - added_.high;
  const double most = saved(true) - added_.low;
  return derived({gain_for(std::min(least, most)), gain_for(std::max(least, most))});
}

Gain Rewrite::derived(core::Interval gain) const {
  std::vector<Value> from{budget_.total};
  for (const Saving& s : savings_) {
    from.push_back(s.line->time *
                   Value(s.share, Origin::assumed, "share of " + s.line->part + " that it saves"));
  }
  if (added_ != core::Interval(0.0))
    from.emplace_back(added_, Origin::assumed, "time that it adds");
  const Value out =
      computed("the time over what is left of it, once the lines lose these parts and still add up",
               gain, gain.middle(), Origin::derived, from);
  return {gain, out.why};
}

bool has_wide_weights(const Situation& s) {
  const auto& dtype = s.evidence.model.weight_dtype;
  return !dtype || hw::bytes_of(*dtype).value() >= 2.0;
}

bool arithmetic_binds(const Situation& s) {
  if (s.budget.find(LineId::matrix_arithmetic) == nullptr) return false;
  // Where nothing is left unseparated, a trifle of arithmetic is still a trifle: assumed, a fifth.
  constexpr double kATrifle = 0.2;
  return s.regime == Regime::compute_bound ||
         s.budget.share(LineId::matrix_arithmetic).best >=
             std::max(kATrifle, s.budget.share(Cause::unexplained).best);
}

}  // namespace ridgeline::diagnosis
