#include "diagnosis/ledger_fit.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "diagnosis/cause_fit.hpp"
#include "diagnosis/usual.hpp"

namespace ridgeline::diagnosis {
namespace {

void add(TimeBudget& budget, LineId id, Cause cause, std::string part, const Value& time) {
  budget.lines.push_back({id, cause, std::move(part), time.clamped(0.0, budget.total.high())});
}

double assigned(const TimeBudget& budget) {
  double sum = 0.0;
  for (const Line& line : budget.lines) sum += line.time.best;
  return sum;
}

void scale_kernel_distances(TimeBudget& budget, double factor) {
  for (Line& line : budget.lines) {
    if (line.cause != Cause::kernels) continue;
    line.time.best *= factor;
    line.time.interval.low *= factor;
  }
}

double kernel_distances(const TimeBudget& budget) {
  double sum = 0.0;
  for (const Line& line : budget.lines) {
    if (line.cause == Cause::kernels) sum += line.time.best;
  }
  return sum;
}

/// The shortest kernels of a timeline show what any kernel takes. Launched one by one, that is
/// mostly the launch: fewer of them help, not better ones.
void part_kernel_floors(TimeBudget& budget, const Evidence& e) {
  const Profile& p = e.profile;
  // A device that never waited for a launch would not be helped by fewer of them.
  constexpr double kWaits = 0.05;
  if (p.host_path && p.host_path->best < kWaits) return;
  if (!e.engine.enforce_eager.value_or(false) || !p.kernel_length ||
      p.kernel_length->origin != Origin::read || !p.kernels_per_step)
    return;
  const double floors = p.kernels_per_step->best * p.kernel_length->low();
  const double distances = kernel_distances(budget);
  const double part = std::min(floors, distances);
  if (!(part > 0.01 * budget.total.best)) return;
  scale_kernel_distances(budget, 1.0 - part / distances);
  add(budget, LineId::kernel_floors, Cause::launch, "what any kernel takes, however little it does",
      computed("kernels a step times the shortest of them", {0.0, part}, part, Origin::derived,
               {*p.kernels_per_step, *p.kernel_length}));
}

/// Busy time of several devices holds their collectives. Where no table of kernels tells them
/// apart, what kernels usually leave of it is theirs.
void part_collectives(TimeBudget& budget, const Evidence& e, const Work& w) {
  const Line* distance = budget.find(LineId::kernel_distance);
  const double usual = usual_seconds(e, w)[static_cast<std::size_t>(Cause::communication)];
  const double floor =
      std::max(best_or(budget.compute_floor, 0.0), best_or(budget.bandwidth_floor, 0.0));
  if (distance == nullptr || !e.profile.kernel_time.empty() || !budget.in_seconds || usual <= 0.0 ||
      floor <= 0.0 || e.profile.communication_time || e.profile.communication_fraction)
    return;
  const double all = distance->time.best;
  // Kernels stand at 0.65 of a roof as a rule, at a fifth of it when they are bad; what is left
  // beyond that is nobody's but the collectives'.
  // Norms, activations and the like take their few microseconds each, however little they move.
  constexpr double kSmallKernel = 5e-6;  // configs/hw: from start to start
  constexpr double kSmallKernelsPerLayer = 8.0;
  const double small = w.window == Window::decode
                           ? kSmallKernelsPerLayer * kSmallKernel * best_or(e.model.layers, 40.0)
                           : 0.0;
  const double kernels = (1.0 / kUsuallyOfRoof - 1.0) * floor + small;
  constexpr double kBadKernels = 4.0;
  const double part = std::clamp(
      std::max(std::min(usual, all * usual / (usual + kernels)), all - kBadKernels * floor - small),
      0.0, all);
  const double small_part = std::min(small, all - part);
  scale_kernel_distances(budget, all > 0.0 ? 1.0 - (part + small_part) / all : 1.0);
  if (small_part > 0.0)
    add(budget, LineId::kernel_floors, Cause::kernels, "small kernels, as far as they usually go",
        Value({0.0, all}, small_part, Origin::assumed, "what small kernels usually take"));
  add(budget, LineId::communication, Cause::communication, "collectives, as far as they usually go",
      Value({0.0, all}, part, Origin::assumed, "what kernels and collectives usually take"));
}

std::pair<LineId, std::string_view> line_for(Cause cause) {
  switch (cause) {
    case Cause::bandwidth:
      return {LineId::traffic, "HBM traffic at peak bandwidth"};
    case Cause::compute:
      return {LineId::matrix_arithmetic, "arithmetic at peak rate"};
    case Cause::kernels:
      return {LineId::kernel_distance, "kernels beyond their floor"};
    case Cause::launch:
      return {LineId::launch_gaps, "launches"};
    case Cause::host:
      return {LineId::host, "the host"};
    case Cause::communication:
      return {LineId::communication, "collectives"};
    case Cause::transfer:
      return {LineId::transfer, "transfers from and to the host"};
    case Cause::capacity:
      return {LineId::lost_to_capacity, "lost for want of KV memory"};
    case Cause::unexplained:
      break;
  }
  return {LineId::unexplained, "not in any of these"};
}

void apply(TimeBudget& budget, Cause cause, const CauseBounds& before, const FittedShare& after) {
  const double total = budget.total.best;
  constexpr double kTrifle = 0.002;
  if (cause != Cause::unexplained && after.best > before.best + kTrifle) {
    const Value more({std::max(0.0, after.low - before.best) * total, after.high * total},
                     (after.best - before.best) * total, Origin::derived, "clues");
    const auto [id, part] = line_for(cause);
    const auto it = std::find_if(budget.lines.begin(), budget.lines.end(),
                                 [id = id](const Line& l) { return l.id == id; });
    if (it == budget.lines.end()) {
      budget.lines.push_back({id, cause, std::string(part), more});
    } else {
      it->time = Value({it->time.low(), std::max(it->time.high(), it->time.best + more.high())},
                       it->time.best + more.best, Origin::derived, it->time.from);
    }
    return;
  }
  if (after.best < before.best - kTrifle && before.best > 0.0) {
    const double factor = after.best / before.best;
    for (Line& line : budget.lines) {
      if (line.cause != cause) continue;
      line.time.best *= factor;
      line.time.interval.low = std::min(line.time.interval.low, line.time.best);
    }
  }
  // What a clue leaves a cause at the most, none of its lines exceeds.
  for (Line& line : budget.lines) {
    if (line.cause == cause && cause != Cause::unexplained)
      line.time.interval.high =
          std::max(line.time.best, std::min(line.time.interval.high, after.high * total));
  }
}

/// What trials, sweeps and the like say of the time's causes, laid over the lines: a cause that
/// must hold more takes it from the others in proportion, from none below what is certain of it.
void fit_to_clues(TimeBudget& budget, const Evidence& e, const Work& w,
                  const std::vector<Clue>& clues) {
  if (clues.empty() || budget.overfull) return;
  std::array<CauseBounds, kCauses> known{};
  for (const Line& line : budget.lines) {
    CauseBounds& b = known[static_cast<std::size_t>(line.cause)];
    b.best += line.time.best / budget.total.best;
    b.low += line.time.low() / budget.total.best;
    b.high += line.time.high() / budget.total.best;
  }
  const Profile& p = e.profile;
  const auto measured = [&known](Cause cause, bool is) {
    known[static_cast<std::size_t>(cause)].measured = is;
  };
  measured(Cause::host, p.host_time.has_value());
  measured(Cause::launch, p.gap_time || (p.kernels_per_step && p.gap_length));
  measured(Cause::communication, p.kernel_time.contains(KernelGroup::collective));
  measured(Cause::transfer, p.kernel_time.contains(KernelGroup::copy));
  const CauseShares fitted = fit_causes(known, clues, usual_shares(e, w));
  for (std::size_t i = 0; i < kCauses; ++i)
    apply(budget, static_cast<Cause>(i), known[i], fitted[i]);
  if (p.host_issue_time && p.device_span && p.host_issue_time->best > 0.9 * p.device_span->best)
    budget.host_paced = true;
  // Shares too small for a line go to the longest one.
  const auto longest =
      std::max_element(budget.lines.begin(), budget.lines.end(),
                       [](const Line& a, const Line& b) { return a.time.best < b.time.best; });
  longest->time.best = std::max(0.0, longest->time.best + budget.total.best - assigned(budget));
  longest->time.interval = core::hull(longest->time.interval, longest->time.best);
}

}  // namespace

void reshape(TimeBudget& budget, const Evidence& evidence, const Work& work,
             const std::vector<Clue>& clues) {
  part_kernel_floors(budget, evidence);
  part_collectives(budget, evidence, work);
  fit_to_clues(budget, evidence, work, clues);
}

}  // namespace ridgeline::diagnosis
