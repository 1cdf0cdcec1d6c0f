#include "diagnosis/cause_fit.hpp"

#include <algorithm>

namespace ridgeline::diagnosis {
namespace {

constexpr auto kOpen = static_cast<std::size_t>(Cause::unexplained);
/// Clues converge in a few rounds; contradictory ones never do, and stop here.
constexpr int kRounds = 200;

bool in(const Clue& clue, std::size_t i) { return clue.causes.has(static_cast<Cause>(i)); }

/// Where several causes are named and one device does it all, collectives are not among them.
std::vector<Clue> possible_ones(std::vector<Clue> clues, const std::array<double, kCauses>& usual) {
  const bool alone = usual[static_cast<std::size_t>(Cause::communication)] == 0.0;
  for (Clue& clue : clues) {
    if (!alone || clue.causes == Causes(Cause::communication)) continue;
    clue.causes = clue.causes.without(Cause::communication);
  }
  return clues;
}

class Fit {
 public:
  Fit(const std::array<CauseBounds, kCauses>& known, const std::vector<Clue>& clues,
      const std::array<double, kCauses>& usual)
      : known_(known), clues_(possible_ones(clues, usual)) {
    for (std::size_t i = 0; i < kCauses; ++i) x_[i] = known[i].best;
    suspect(usual);
    seed(usual);
  }

  CauseShares run() {
    // First to what each clue holds most likely, then to what it holds for certain.
    for (const Clue& clue : clues_) project(clue, {clue.likely(), clue.share.high});
    hold_bounds();
    for (int round = 0; round < kRounds; ++round) {
      for (const Clue& clue : clues_) project(clue, clue.share);
      hold_bounds();
    }
    CauseShares out;
    for (std::size_t i = 0; i < kCauses; ++i) {
      out[i].best = x_[i];
      out[i].low = std::min(known_[i].low, x_[i]);
      out[i].high = std::min(1.0, std::max(known_[i].high + known_[kOpen].high, x_[i]));
      for (const Clue& clue : clues_) {
        if (!clue.measured || !in(clue, i)) continue;
        out[i].high = std::max(x_[i], std::min(out[i].high, clue.share.high));
        if (clue.causes == Causes(static_cast<Cause>(i)))
          out[i].low = std::min(x_[i], std::max(out[i].low, clue.share.low));
      }
    }
    return out;
  }

 private:
  /// Time that no measurement separates goes where somebody saw a symptom: the more suspects there
  /// are, the less to each, and never all of it.
  void suspect(const std::array<double, kCauses>& usual) {
    std::array<double, kCauses> weight{};
    double suspected = 0.0;
    double all = 0.0;
    for (std::size_t i = 0; i < kOpen; ++i) {
      double factor = 1.0;
      for (const Clue& clue : clues_) {
        if (in(clue, i)) factor = std::max(factor, clue.suspicion);
      }
      constexpr double kLeast = 0.02;  // even what is unusual may be it, once it was seen
      const double base = factor > 1.0 ? std::max(usual[i], kLeast) : usual[i];
      weight[i] = factor > 1.0 ? base * factor : 0.0;
      suspected += weight[i];
      all += base * factor;
    }
    if (!(suspected > 0.0)) return;
    const double moved = x_[kOpen] * suspected / std::max(all, 1e-300);
    for (std::size_t i = 0; i < kOpen; ++i) x_[i] += moved * weight[i] / suspected;
    x_[kOpen] -= moved;
  }

  /// A cause that a clue names cannot stay at nothing, or no scaling would ever reach it.
  void seed(const std::array<double, kCauses>& usual) {
    constexpr double kSeed = 1e-3;
    for (std::size_t i = 0; i < kOpen; ++i) {
      for (const Clue& clue : clues_) {
        if (in(clue, i) && clue.measured) x_[i] = std::max(x_[i], kSeed * std::max(usual[i], 0.01));
      }
    }
    normalise();
  }

  void project(const Clue& clue, core::Interval bounds) {
    if (!clue.measured || clue.causes.empty()) return;
    double inside = 0.0;
    double outside = 0.0;
    for (std::size_t i = 0; i < kCauses; ++i) (in(clue, i) ? inside : outside) += x_[i];
    const double target = std::clamp(inside, bounds.low, std::max(bounds.low, bounds.high));
    if (target == inside || !(inside > 0.0) || !(outside > 0.0)) return;
    for (std::size_t i = 0; i < kCauses; ++i)
      x_[i] *= in(clue, i) ? target / inside : (1.0 - target) / outside;
  }

  /// What was measured, or must be read and multiplied, takes its time whatever else was tried, and
  /// what was measured takes no more. The other shares give way in proportion.
  void hold_bounds() {
    // Bytes and FLOP that are known take no more than they take at their roof, unless a change
    // showed that more of the time goes with them.
    for (const Cause roof : {Cause::bandwidth, Cause::compute}) {
      const auto i = static_cast<std::size_t>(roof);
      const bool shown = std::any_of(clues_.begin(), clues_.end(), [i](const Clue& clue) {
        return clue.measured && in(clue, i) && clue.share.low > 0.0;
      });
      if (shown || !(known_[i].best > 0.0) || x_[i] <= known_[i].high) continue;
      x_[kOpen] += x_[i] - known_[i].high;
      x_[i] = known_[i].high;
    }
    double held = 0.0;
    double above = 0.0;
    for (std::size_t i = 0; i < kCauses; ++i) {
      const double least = i < kOpen ? known_[i].low : 0.0;
      x_[i] = std::max(x_[i], least);
      if (known_[i].measured) x_[i] = std::min(x_[i], known_[i].high);
      held += known_[i].measured ? x_[i] : least;
      above += known_[i].measured ? 0.0 : x_[i] - least;
    }
    const double room = std::max(1.0 - held, 0.0) / std::max(above, 1e-300);
    for (std::size_t i = 0; i < kCauses; ++i) {
      const double least = i < kOpen ? known_[i].low : 0.0;
      if (!known_[i].measured) x_[i] = least + room * (x_[i] - least);
    }
    normalise();
  }

  void normalise() {
    double sum = 0.0;
    for (const double x : x_) sum += x;
    for (double& x : x_) x /= std::max(sum, 1e-300);
  }

  const std::array<CauseBounds, kCauses>& known_;
  const std::vector<Clue> clues_;
  std::array<double, kCauses> x_{};
};

}  // namespace

CauseShares fit_causes(const std::array<CauseBounds, kCauses>& known,
                       const std::vector<Clue>& clues, const std::array<double, kCauses>& usual) {
  return Fit(known, clues, usual).run();
}

}  // namespace ridgeline::diagnosis
