#include "diagnosis/regime.hpp"

#include "diagnosis/complete.hpp"
#include "diagnosis/symptoms.hpp"
#include "diagnosis/usual.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::diagnosis {
namespace {

/// Kernels that spend this much of their time at a roof are bound by it; below, by themselves. Real
/// kernels that read memory as fast as they can come to 0.5 to 0.8 of the datasheet.
constexpr double kNearRoof = 0.4;
/// Kernels that multiply stand a little further from their roof than those that move bytes: they
/// fill, drain and pad tiles. Where this part of the time at either roof is theirs, both take as
/// long: of 8 simulated servers between here and half, 6 followed the matrix rate.
constexpr double kEven = 0.45;
/// Two mechanisms closer than this cannot be ranked.
constexpr double kTooClose = 0.03;

struct Side {
  Regime regime;
  double share;
};

/// Shares of the time that the device works: at either peak, and beyond both.
struct DeviceTime {
  double bandwidth = 0.0;
  double compute = 0.0;
  double kernels = 0.0;
  double near = 0.0;  // at the roofs that the best kernels of this part reach, of all of it

  [[nodiscard]] double all() const { return bandwidth + compute + kernels; }
};

/// Attention that takes this much of a prompt's kernels most likely writes its scores out.
bool scores_written(const Evidence& e, const Work& w) {
  const auto attention = e.profile.kernel_time.find(KernelGroup::attention);
  return w.materialised ||
         (w.window == Window::prefill && attention != e.profile.kernel_time.end() &&
          attention->second.best > 0.4);
}

/// Share of the time at a roof, from both counters. In a decode step all kernels stand at the same
/// roof, and what they do besides they do meanwhile. Where prompts or gradients are computed some
/// kernels multiply and others move: about half of the smaller counter's time is beside the
/// larger's (median 0.55 of 320 simulated servers, half of them within 0.4 to 0.75); a third where
/// experts' weights are read by the kernels that multiply them (0.35 of 74), and none of it where
/// scores are written out, which would not have to be.
double near_by_counters(const Evidence& e, const Work& w, double matrix) {
  const double read = e.profile.hbm_fraction->best / e.machine.hbm_sustained;
  const double multiply = e.profile.flop_fraction->best / matrix;
  double beside = 0.0;
  if (!scores_written(e, w) && (w.window != Window::decode || w.phase == Phase::mixed))
    beside = e.model.active_parameters ? 1.0 / 3.0 : 0.5;
  return std::max(read, multiply) + beside * std::min(read, multiply);
}

DeviceTime device_time(const Evidence& e, const Work& w, const TimeBudget& budget) {
  DeviceTime t{budget.share(Cause::bandwidth).best, budget.share(Cause::compute).best,
               budget.share(Cause::kernels).best, 0.0};
  const double matrix = matrix_sustained(e, w.dtype);
  // Passes over activations count as bytes at a roof only as far as the counter saw bytes.
  double read = t.bandwidth;
  if (e.profile.hbm_fraction && w.window != Window::decode)
    read = std::min(read, e.profile.hbm_fraction->best);
  if (t.all() > 0.0)
    t.near = std::min(1.0, (read / e.machine.hbm_sustained + t.compute / matrix) / t.all());
  if (e.profile.hbm_fraction && e.profile.flop_fraction && w.window != Window::kernel &&
      t.all() > 0.0)
    t.near = std::min(1.0, near_by_counters(e, w, matrix) / t.all());
  if (e.profile.near_roof) t.near = e.profile.near_roof->best;
  return t;
}

/// Between the two roofs the counters decide where there are both: rows that pad a tile take the
/// matrix units' time as well as those that carry a token.
Regime on_device(const Evidence& e, const Work& w, const DeviceTime& t) {
  if (t.near < kNearRoof) return Regime::kernel_inefficiency;
  const Profile& p = e.profile;
  if (p.by_matrix)
    return p.by_matrix->best > kEven ? Regime::compute_bound : Regime::bandwidth_bound;
  if (p.flop_fraction && p.hbm_fraction && w.window != Window::kernel && !scores_written(e, w))
    return p.flop_fraction->best / matrix_sustained(e, w.dtype) >
                   p.hbm_fraction->best / e.machine.hbm_sustained
               ? Regime::compute_bound
               : Regime::bandwidth_bound;
  return t.compute > t.bandwidth ? Regime::compute_bound : Regime::bandwidth_bound;
}

/// Roofs that stand out even when the rest was not separated: matrix units and HBM are rarely seen
/// busier than twice this in a server, so the rest is mostly kernels of the same kind.
constexpr double kComputeStandsOut = 0.25;
constexpr double kBandwidthStandsOut = 0.35;

/// What nobody separated most likely is: what usually takes that long, and beyond all that is
/// usual, kernels that are slower than they usually are.
Regime guess(const Evidence& e, const Work& w, const TimeBudget& budget) {
  const double bandwidth = budget.share(Cause::bandwidth).best;
  const double compute = budget.share(Cause::compute).best;
  // Prompts make arithmetic; an engine reaches a good part of the peak, and rarely most of it.
  constexpr double kPromptsStandOut = 0.12;
  if (w.prompt_share > kMostlyPrompts && compute >= kPromptsStandOut) return Regime::compute_bound;
  if (w.window != Window::decode) return Regime::kernel_inefficiency;
  if (compute >= kComputeStandsOut && compute >= bandwidth) return Regime::compute_bound;
  if (bandwidth >= kBandwidthStandsOut) return Regime::bandwidth_bound;
  const auto usual = usual_seconds(e, w);
  const auto at = [&](Cause c) { return usual[static_cast<std::size_t>(c)]; };
  const double host = at(Cause::launch) + at(Cause::host);
  const double links = at(Cause::communication);
  const double open = budget.share(Cause::unexplained).best * best_or(w.time, 0.0);
  if (!budget.in_seconds) {
    if (links > std::max(host, at(Cause::bandwidth))) return Regime::communication_bound;
    return at(Cause::bandwidth) + bandwidth >= host ? Regime::bandwidth_bound
                                                    : Regime::overhead_bound;
  }
  const double slow = std::max(0.0, open - host - links);
  if (links >= host && links >= slow) return Regime::communication_bound;
  if (host >= slow) return Regime::overhead_bound;
  return Regime::kernel_inefficiency;
}

/// A heuristic, not a probability: each number that could contradict the verdict and is missing
/// takes its share of the confidence. The factors were chosen so that all of the numbers leave it
/// whole, one missing number never decides, and a machine, a model and one rate end between a third
/// and a half. Relative order matters, the digits do not.
Value evidence_weight(const Evidence& e, const Work& w) {
  const Profile& p = e.profile;
  const bool decoding = w.window == Window::decode;
  const bool training = w.window == Window::training;
  const bool kernel_times =
      p.busy_time || (p.kernels_per_step && p.kernel_length) || !p.kernel_time.empty();
  const auto assumed = [](const Maybe& v) { return v && v->origin == Origin::assumed; };
  Value weight{1.0};
  const auto missing = [&weight](bool is_missing, double factor, const char* what) {
    if (is_missing) weight = weight * Value(core::Interval(factor), Origin::assumed, what);
  };
  missing(!w.time && !training, 0.8, "weight of no time being known");
  missing(!p.hbm_fraction && decoding, 0.88, "weight of no counter of HBM bandwidth");
  missing(!p.flop_fraction, 0.92, "weight of no counter of FLOP");
  missing(!kernel_times, 0.9, "weight of no kernel times");
  // Neither counted nor computed: one of the two roofs is out of sight.
  missing(!p.hbm_fraction && !w.hbm_expected && decoding, 0.75,
          "weight of HBM traffic neither counted nor computed");
  missing(!p.flop_fraction && !w.flop_expected, 0.85,
          "weight of FLOP neither counted nor computed");
  // How many tokens and how much KV a step holds.
  missing(!w.tokens && !training, 0.9, "weight of the tokens of a step being unknown");
  missing(decoding && (!w.kv_expected || assumed(w.kv_expected)), 0.95,
          "weight of KV bytes being assumed");
  missing(assumed(w.weight_bytes), 0.95, "weight of the weight bytes being assumed");
  // Several devices without their collectives' time; experts whose choice is only estimated.
  missing(best_or(e.machine.devices, 1.0) > 1.5 && !p.kernel_time.contains(KernelGroup::collective),
          0.85, "weight of the collectives' time being unknown");
  missing(e.model.active_parameters.has_value() && !p.hbm_fraction, 0.9,
          "weight of the experts' choice being estimated");
  return weight;
}

/// A change that was tried, or a slope, is worth the counters that are missing, where it bears on
/// the verdict: the more of the time it settles, the more.
double weight_of_clues(const std::vector<Clue>& clues, Regime verdict) {
  double weight = 0.0;
  for (const Clue& clue : clues) {
    if (!clue.measured || clue.causes.empty()) continue;
    bool all_of_it = true;
    bool any = false;
    for (std::size_t i = 0; i < kCauses; ++i) {
      if (!clue.causes.has(static_cast<Cause>(i))) continue;
      const bool supports = regime_of_cause(static_cast<Cause>(i)) == verdict;
      all_of_it = all_of_it && supports;
      any = any || supports;
    }
    if (any) weight = std::max(weight, clue.share.low * (all_of_it ? 1.0 : 0.6));
  }
  return std::min(0.5 + 0.6 * weight, 0.85) * (weight > 0.1 ? 1.0 : 0.0);
}

/// How clearly the kernels stand on their side of `kNearRoof`, and one roof above the other: 0.7
/// to 1. A heuristic too.
double clearness(const DeviceTime& t) {
  if (!(t.all() > 0.0)) return 1.0;
  const double from_line = std::min(1.0, 0.7 + 1.5 * std::abs(t.near - kNearRoof));
  if (t.near < kNearRoof) return from_line;
  const double contrast = std::abs(t.bandwidth - t.compute) / (t.bandwidth + t.compute);
  return from_line * std::min(1.0, 0.75 + 0.5 * contrast);
}

/// Share of the time that another sequence would bring along instead of sharing: arithmetic, KV,
/// and what their kernels take beyond them. Of a prompt's time all but the weights' read and the
/// host.
double per_token_share(const Work& w, const TimeBudget& budget) {
  if (w.window == Window::prefill)
    return 1.0 - budget.share(Cause::bandwidth).best - budget.share(Cause::launch).best -
           budget.share(Cause::host).best - budget.share(Cause::unexplained).best;
  double share = budget.share(Cause::compute).best + budget.share(LineId::kv_cache).best +
                 budget.share(LineId::attention_distance).best;
  if (budget.find(LineId::matrix_arithmetic) != nullptr)
    share +=
        budget.share(LineId::matrix_distance).best + budget.share(LineId::kernel_distance).best;
  return share;
}

/// While the device waits for launches, what runs beside them is not what the step waits for: the
/// path through the host takes its part of the step, the other sides share the rest.
void follow_host_path(const Evidence& e, std::array<Side, 5>& sides) {
  if (!e.profile.host_path) return;
  Side& host = *std::find_if(sides.begin(), sides.end(), [](const Side& side) {
    return side.regime == Regime::overhead_bound;
  });
  const double path = std::min(e.profile.host_path->best, 1.0);
  if (path <= host.share) return;
  const double left = (1.0 - path) / std::max(1.0 - host.share, 1e-12);
  for (Side& side : sides) side.share = side.regime == host.regime ? path : side.share * left;
}

/// A certainty that was chosen for a situation, which `from` shows.
Value certain(double x, std::string why, const std::vector<Value>& from) {
  return computed(std::move(why), core::Interval(x), x, Origin::derived, from);
}

}  // namespace

Regime regime_of_cause(Cause cause) {
  switch (cause) {
    case Cause::bandwidth:
      return Regime::bandwidth_bound;
    case Cause::compute:
      return Regime::compute_bound;
    case Cause::kernels:
      return Regime::kernel_inefficiency;
    case Cause::launch:
    case Cause::host:
      return Regime::overhead_bound;
    case Cause::communication:
      return Regime::communication_bound;
    case Cause::transfer:
      return Regime::transfer_bound;
    case Cause::capacity:
      return Regime::capacity_bound;
    case Cause::unexplained:
      break;
  }
  return Regime::mixed;
}

Verdict regime_of(const Evidence& e, const Work& w, const std::optional<TimeBudget>& budget,
                  const std::vector<Clue>& clues) {
  // A full cache behind work that grows with every sequence would only let more of them queue
  // there.
  constexpr double kSharedEnough = 0.6;
  // Rows that pad a graph's size would take the next sequences for nothing.
  double of_tokens = best_or(e.profile.flop_fraction, 0.0);
  if (w.flop && w.peak && w.time && w.window == Window::decode)
    of_tokens = std::min(of_tokens, w.flop->best / (w.peak->best * w.time->best));
  const double compute_roof = of_tokens / matrix_sustained(e, w.dtype);
  const double links = budget ? budget->share(Cause::communication).best : 0.0;
  const bool more_would_help = compute_roof < kSharedEnough && links < 0.5 &&
                               (!budget || per_token_share(w, *budget) < kSharedEnough);
  const bool seen_full = has_symptom(e, "kv_cache_full") || has_symptom(e, "prefix_evicted");
  // Full is when the next sequence finds no room.
  const Maybe& used = e.serving.kv_usage;
  const bool no_room = used && w.sequences && used->best > 0.5 &&
                       used->best * (1.0 + 1.0 / std::max(w.sequences->best, 1.0)) > 0.98;
  const bool kv_full = best_or(e.serving.kv_usage, 0.0) >= 0.95 || no_room || seen_full;
  const bool turned_away = best_or(e.serving.waiting, 0.0) >= 1.0 ||
                           best_or(e.serving.preemptions, 0.0) >= 1.0 ||
                           (seen_full && best_or(w.kv_demand, 0.0) > 1.05);
  if (kv_full && turned_away && more_would_help)
    return {Regime::capacity_bound,
            certain(0.85, "a full cache and requests that wait",
                    {e.serving.kv_usage.value_or(Value(1.0).as(Origin::given))})};
  if (best_or(e.profile.idle_fraction, 0.0) >= 0.5 && best_or(e.serving.waiting, 0.0) < 1.0)
    return {Regime::load_bound,
            certain(0.85, "no step runs and nothing waits", {*e.profile.idle_fraction})};
  // At a usual pace the work offered fills less than half of the time.
  const double busy = usual_busy(e, w);
  if (busy > 0.0 && busy < 0.5 && best_or(e.serving.waiting, 0.0) < 1.0 && !e.profile.idle_fraction)
    return {
        Regime::load_bound,
        certain(0.45, "at a usual pace the requests would fill less than half of the time", {})};
  if (!budget) return {Regime::mixed, certain(0.05, "no time and no share of one", {})};

  if (budget->host_behind)
    return {Regime::overhead_bound,
            certain(0.8, "the host works beside the device, and the device waits for it still",
                    {budget->find(LineId::host) != nullptr ? budget->find(LineId::host)->time
                                                           : budget->total})};
  if (budget->launches_behind && !e.profile.host_path)
    return {Regime::overhead_bound,
            certain(0.7, "kernels are launched one by one, and the device waits for them",
                    {*budget->kernels})};
  const DeviceTime on_it = device_time(e, w, *budget);
  const double bandwidth = on_it.bandwidth;
  const double compute = on_it.compute;
  const double unknown = budget->share(Cause::unexplained).best;
  std::array<Side, 5> sides{
      {{on_device(e, w, on_it), on_it.all()},
       {Regime::overhead_bound,
        budget->share(Cause::launch).best + budget->share(Cause::host).best},
       {Regime::communication_bound, budget->share(Cause::communication).best},
       {Regime::transfer_bound, budget->share(Cause::transfer).best},
       {Regime::capacity_bound, budget->share(Cause::capacity).best}}};
  follow_host_path(e, sides);
  const double device = sides[0].share;
  std::stable_sort(sides.begin(), sides.end(),
                   [](const Side& a, const Side& b) { return a.share > b.share; });

  const double clues_weight = weight_of_clues(clues, sides[0].regime);
  Value weight = evidence_weight(e, w);
  if (clues_weight > weight.best)
    weight =
        certain(clues_weight, "a change that was tried, or a slope, bears the verdict out", {});
  const auto from_ledger = [&](double x, std::string why) {
    std::vector<Value> shares;
    for (const Line& line : budget->lines) shares.push_back(line.time);
    return certain(x, std::move(why), shares);
  };
  if (budget->overfull)
    return {sides[0].regime, from_ledger(0.15, "the floors exceed the time") * weight};
  // A quarter of the time, shown by a change or a slope, outweighs what nobody separated.
  constexpr double kShown = 0.25;
  const bool shown = sides[0].share >= kShown && clues_weight > 0.0;
  if (unknown > sides[0].share && !shown) {
    // A roof that takes this much of a step binds it, whatever the rest is made of.
    if (std::max(bandwidth, compute) >= 0.5 * (1.0 - kTooClose))
      return {sides[0].regime,
              from_ledger(0.5, "one roof takes half of it, the rest is not told apart") * weight};
    if (device + unknown <= 0.0 || (device <= 0.0 && !budget->find(LineId::not_separated)))
      return {Regime::mixed, from_ledger(0.1, "nothing of it is told apart")};
    return {guess(e, w, *budget),
            from_ledger(0.45, "most of it is not told apart: a guess") * weight};
  }
  // Time lost for want of memory is spent computing what was computed before: shown by a change, it
  // binds, however busy the device is with the rest.
  const double lost = budget->share(Cause::capacity).best;
  if (lost >= kShown && weight_of_clues(clues, Regime::capacity_bound) > 0.0)
    return {Regime::capacity_bound,
            from_ledger(std::min(0.5 + lost, 0.85) * std::max(weight.best, 0.6),
                        "a change showed how much is lost for want of memory")};
  const double margin = sides[0].share - sides[1].share;
  // The device's time is that of several mechanisms, the other sides' of one each: as much as the
  // device altogether is more than any of them.
  const double largest = std::max({bandwidth, compute, on_it.kernels});
  const std::size_t other = sides[0].share == device ? 1 : 0;
  if (margin < kTooClose && sides[1 - other].share == device &&
      sides[other].share > largest + kTooClose)
    return {sides[other].regime,
            from_ledger(0.5, "as much as all of the device's mechanisms together") * weight};
  if (margin < kTooClose)
    return {Regime::mixed, from_ledger(0.4, "two sides stand too close") * weight};
  double certainty = std::min(1.0, 0.6 + margin) * (1.0 - 0.5 * unknown);
  if (device >= sides[0].share) certainty *= clearness(on_it);
  const Value speaks = from_ledger(
      0.95 * certainty,
      "how far the first side leads, how little is not told apart, how clear its roof is");
  return {sides[0].regime, (speaks * weight).clamped(0.05, 0.95)};
}

}  // namespace ridgeline::diagnosis
