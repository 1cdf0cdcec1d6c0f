#include "diagnosis/time_budget.hpp"

#include <algorithm>
#include <cmath>

#include "diagnosis/kernel_clock.hpp"
#include "diagnosis/ledger_fit.hpp"
#include "diagnosis/ledger_trail.hpp"
#include "diagnosis/usual.hpp"

namespace ridgeline::diagnosis {
namespace {

class Builder {
 public:
  Builder(const Evidence& e, const Work& w, const std::vector<Clue>& clues)
      : e_(e), w_(w), clues_(clues) {
    budget_.in_seconds = w.time.has_value();
    budget_.unit = unit_of(e, w);
    budget_.total = w.time.value_or(Value(core::Interval(1.0), 1.0, Origin::assumed));
  }

  TimeBudget build() {
    find_host_side();
    find_floors();
    if (e_.profile.kernel_time.empty()) {
      add_kernels_as_one();
    } else {
      add_kernels_by_group();
    }
    if (gaps_) add(LineId::launch_gaps, Cause::launch, "gaps between kernels", *gaps_);
    if (host_) add(LineId::host, Cause::host, "host around a step's kernels", *host_);
    if (collectives_ && !by_groups())
      add(LineId::communication, Cause::communication, "collectives", *collectives_);
    close();
    reshape(budget_, e_, w_, clues_);
    tighten();
    leave_trail(budget_);
    return std::move(budget_);
  }

 private:
  static std::string_view unit_of(const Evidence& e, const Work& w) {
    if (w.window == Window::training) return "a training step";
    if (w.window == Window::kernel) return "the kernels";
    if (w.window == Window::prefill)
      return e.measured.step_time ? "a prompt's prefill" : "the time to first token";
    return w.phase == Phase::mixed ? "a step that carries prompt tokens" : "a decode step";
  }

  void add(LineId id, Cause cause, std::string part, const Value& time) {
    budget_.lines.push_back({id, cause, std::move(part), time.clamped(0.0, budget_.total.high())});
  }

  [[nodiscard]] double assigned() const {
    double sum = 0.0;
    for (const Line& line : budget_.lines) sum += line.time.best;
    return sum;
  }

  void find_host_side() {
    const Profile& p = e_.profile;
    const bool device_times = budget_.in_seconds && w_.window != Window::prefill;
    if (budget_.in_seconds) {
      gaps_ = p.gap_time;
      host_ = p.host_time;
      kernels_ = p.busy_time;
    }
    if (!host_) host_ = p.host_fraction * Maybe(budget_.total);
    if (!kernels_) kernels_ = p.busy_fraction * Maybe(budget_.total);
    // Collectives are kernels too, and busy.
    collectives_ = either(p.communication_time, p.communication_fraction * Maybe(budget_.total));
    if (collectives_ && kernels_ && !by_groups())
      kernels_ = (*kernels_ - *collectives_).clamped(0.0, budget_.total.high());
    if (w_.window == Window::kernel) kernels_ = budget_.total;
    if (!gaps_ && device_times) gaps_ = p.kernels_per_step * p.gap_length;
    if (!kernels_ && device_times) kernels_ = p.kernels_per_step * p.kernel_length;
    if (!host_ && kernels_ && gaps_) {
      // Neither in kernels nor between them: what is left of the step.
      Value rest = (budget_.total - *kernels_ - *gaps_).clamped(0.0, budget_.total.high());
      const double bound = budget_.total.low() - kernels_->high() - gaps_->high();
      if (bound > 0.0 || rest.best > 0.05 * budget_.total.best) host_ = rest.as(Origin::derived);
    }
    // Every kernel is followed by a gap longer than a device needs between two: it waits to be
    // told.
    constexpr double kDispatch = 3e-6;
    Maybe gap = p.gap_length;
    if (!gap && gaps_ && p.kernels_per_step) gap = *gaps_ / *p.kernels_per_step;
    budget_.back_to_back =
        gap && gaps_ && gap->best <= kDispatch && gaps_->best < 0.05 * budget_.total.best;
    const bool beside = e_.engine.async_scheduling.value_or(false);
    budget_.host_behind = beside && host_ && host_->best > 0.05 * budget_.total.best;
    // A host that works beside the device costs nothing until it is the slower one: where no kernel
    // runs for longer than turning from one to the next takes, it is.
    if (beside && kernels_ && !gaps_ && w_.window == Window::decode && budget_.in_seconds) {
      const double busy = kernels_->best + (by_groups() ? 0.0 : best_or(collectives_, 0.0));
      budget_.host_behind =
          budget_.host_behind || busy + turning_time(e_) < 0.95 * budget_.total.best;
    }
    budget_.host_paced =
        gap && gaps_ && gap->best > kDispatch && gaps_->best > 0.1 * budget_.total.best;
  }

  void find_floors() {
    const Value& total = budget_.total;
    if (budget_.in_seconds) {
      budget_.compute_floor =
          (by_groups() && w_.window == Window::prefill ? w_.linear_flop : w_.flop) / w_.peak;
      budget_.bandwidth_floor = w_.bytes / w_.bandwidth;
    }
    if (!budget_.compute_floor && e_.profile.flop_fraction)
      budget_.compute_floor = *e_.profile.flop_fraction * total;
    if (!budget_.compute_floor && w_.flop_expected)
      budget_.compute_floor = *w_.flop_expected * total;
    if (!budget_.bandwidth_floor && e_.profile.hbm_fraction)
      budget_.bandwidth_floor = *e_.profile.hbm_fraction * total;
    if (w_.weights_read && w_.time && best_or(budget_.bandwidth_floor, 0.0) > 0.0)
      trust_no_even_choice();
    // A prompt's time may hold the prompts before it: the counter has seen them all.
    const Maybe attention = w_.materialised ? w_.attention_flop_square : w_.attention_flop;
    const Maybe linear_part = by_groups() && w_.linear_flop && attention
                                  ? Maybe(*w_.linear_flop / (*w_.linear_flop + *attention))
                                  : Maybe(1.0);
    const Maybe counted = e_.profile.flop_fraction * Maybe(total) * linear_part;
    if (w_.window == Window::prefill && counted && budget_.compute_floor &&
        counted->best > 1.1 * budget_.compute_floor->best)
      budget_.compute_floor = counted;
    for (Maybe* floor : {&budget_.compute_floor, &budget_.bandwidth_floor}) {
      if (!*floor) continue;
      if ((*floor)->low() > 1.02 * total.high()) budget_.overfull = true;
      *floor = (*floor)->clamped(0.0, total.high());
    }
  }

  /// How many experts the tokens chose is an estimate. Where it leaves the kernels no time, the
  /// choice was less even than that.
  void trust_no_even_choice() {
    const double room = best_or(kernels_, budget_.total.best);
    Value& floor = *budget_.bandwidth_floor;
    if (floor.best <= room || floor.low() > 0.9 * room) return;
    floor.best = std::max(floor.low(), std::sqrt(std::max(floor.low(), 1e-12) * room));
    reads_best_ = floor.best;
  }

  [[nodiscard]] bool by_groups() const { return !e_.profile.kernel_time.empty(); }
  [[nodiscard]] bool compute_is_longer() const {
    return budget_.compute_floor &&
           budget_.compute_floor->best >= best_or(budget_.bandwidth_floor, 0.0);
  }

  /// The longer of the two roofs. Returns what it takes.
  Value add_floor() {
    if (!budget_.compute_floor && !budget_.bandwidth_floor) return {0.0};
    if (compute_is_longer()) {
      add(LineId::matrix_arithmetic, Cause::compute, "arithmetic at peak rate",
          *budget_.compute_floor);
      return *budget_.compute_floor;
    }
    if (w_.bytes && budget_.in_seconds && w_.weights_read) {
      Value weights = (*w_.weights_read / *w_.bandwidth).clamped(0.0, budget_.total.high());
      if (reads_best_) weights.best = std::clamp(*reads_best_, weights.low(), weights.high());
      add(LineId::weights, Cause::bandwidth, "weights at peak bandwidth", weights);
      if (w_.kv_read) {
        Value kv = (*w_.kv_read / *w_.bandwidth)
                       .clamped(0.0, std::max(0.0, budget_.total.high() - weights.best));
        add(LineId::kv_cache, Cause::bandwidth, "KV cache at peak bandwidth", kv);
        return weights + kv;
      }
      return weights;
    }
    add(LineId::traffic, Cause::bandwidth, "HBM traffic at peak bandwidth",
        *budget_.bandwidth_floor);
    return *budget_.bandwidth_floor;
  }

  void add_kernels_as_one() {
    const Value floor = add_floor();
    const bool any_floor = budget_.compute_floor || budget_.bandwidth_floor;
    if (kernels_) {
      // Kernels cannot be shorter than their floor, whatever the range says.
      kernels_ = larger(*kernels_, floor).as(kernels_->origin);
      budget_.kernels = kernels_;
      if (any_floor) {
        add(LineId::kernel_distance, Cause::kernels, "kernels beyond their floor",
            *kernels_ - floor);
      } else {
        add(LineId::kernel_distance, Cause::kernels, "kernels", *kernels_);
      }
    }
  }

  void add_block(const Value& time, Value floor, LineId floor_id, Cause cause,
                 std::string floor_part, LineId distance_id, std::string distance_part) {
    floor = floor.clamped(0.0, time.high());
    if (floor.best > time.best) floor.best = time.best;
    floor.interval.low = std::min(floor.interval.low, floor.best);
    if (floor.high() > 0.0) add(floor_id, cause, std::move(floor_part), floor);
    add(distance_id, Cause::kernels, std::move(distance_part), time - floor);
  }

  /// 0 where it cannot be said: what kernels take in a decode step of which no part was timed.
  [[nodiscard]] double most_of_kernels() const {
    const double floor =
        std::max(best_or(budget_.compute_floor, 0.0), best_or(budget_.bandwidth_floor, 0.0));
    const bool open = budget_.in_seconds && w_.window == Window::decode && !gaps_ && !host_;
    return open && floor > 0.0 ? longest_kernels(e_, w_, floor) : 0.0;
  }

  void add_kernels_by_group() {
    Value kernels = budget_.total;
    if (gaps_) kernels = kernels - *gaps_;
    if (host_) kernels = kernels - *host_;
    if (kernels_) {
      kernels = *kernels_;
    } else {
      // Shares of kernel time say nothing of what lies between kernels.
      kernels = kernels.as(Origin::assumed);
      const double longest = most_of_kernels();
      if (longest > 0.0 && longest < 0.8 * kernels.best) {
        host_ = Value({0.0, kernels.best - longest}, kernels.best - longest, Origin::assumed,
                      "kernels are rarely slower than a fifth of a roof, norms than 15 us");
        kernels = Value({longest, kernels.high()}, longest, Origin::assumed, host_->from);
      }
    }
    kernels = kernels.clamped(0.0, budget_.total.high());
    budget_.kernels = kernels;

    auto shares = e_.profile.kernel_time;
    double named = 0.0;
    for (const auto& [group, share] : shares) named += share.best;
    if (!shares.contains(KernelGroup::gemm) && named < 1.0) {
      Value rest{1.0};
      for (const auto& [group, share] : shares) rest = rest - share;
      rest = rest.clamped(0.0, 1.0);
      // What nobody named is matrix products, unless their floor is a trifle beside it.
      constexpr double kTrifle = 0.1;
      const double floor =
          std::max(best_or(budget_.compute_floor, 0.0), best_or(budget_.bandwidth_floor, 0.0));
      const bool products =
          !budget_.in_seconds || !(floor > 0.0) || floor > kTrifle * rest.best * kernels.best;
      if (products || shares.contains(KernelGroup::other))
        shares.emplace(KernelGroup::gemm, rest);
      else
        shares.emplace(KernelGroup::other, rest);
    }
    const auto time_of = [&](KernelGroup g) {
      return shares.contains(g) ? shares.at(g) * kernels : Value(0.0);
    };

    const Value attention = time_of(KernelGroup::attention);
    const bool floor_known = budget_.in_seconds && attention_floor().has_value();
    const bool decoding = w_.window == Window::decode;
    const bool split_attention = attention.best > 0.0 && (floor_known || decoding);
    Value matrix = time_of(KernelGroup::gemm);
    if (!split_attention) matrix = matrix + attention;  // one FLOP counter for both
    add_matrix_kernels(matrix, split_attention);
    if (split_attention && !floor_known) {
      add(LineId::attention_distance, Cause::kernels, "attention kernels", attention);
    } else if (split_attention) {
      add_block(attention, *attention_floor(),
                decoding ? LineId::kv_cache : LineId::attention_arithmetic,
                decoding ? Cause::bandwidth : Cause::compute,
                decoding ? "KV cache at peak bandwidth" : "attention arithmetic at peak rate",
                LineId::attention_distance, "attention kernels beyond their floor");
    }
    // Passes over activations: they move bytes and next to no arithmetic. In a decode step their
    // tensors are tiny.
    const Cause passes = w_.window == Window::decode ? Cause::kernels : Cause::bandwidth;
    const auto pass = [&](KernelGroup g, LineId id, Cause cause, const char* part) {
      if (shares.contains(g)) add(id, cause, part, time_of(g));
    };
    pass(KernelGroup::norm, LineId::norms, passes, "norms");
    pass(KernelGroup::elementwise, LineId::elementwise, passes, "elementwise kernels");
    pass(KernelGroup::cast, LineId::casts, passes, "casts");
    pass(KernelGroup::other, LineId::other_kernels, Cause::kernels, "other kernels");
    pass(KernelGroup::collective, LineId::communication, Cause::communication, "collectives");
    pass(KernelGroup::copy, LineId::transfer, Cause::transfer, "copies");
  }

  [[nodiscard]] Maybe attention_floor() const {
    return w_.window == Window::decode    ? w_.kv_read / w_.bandwidth
           : w_.window == Window::prefill ? w_.attention_flop / w_.peak
                                          : std::nullopt;
  }

  void add_matrix_kernels(const Value& time, bool attention_apart) {
    const Maybe bytes =
        budget_.in_seconds && w_.weights_read ? w_.weights_read / w_.bandwidth : std::nullopt;
    const Maybe bandwidth = attention_apart || bytes ? bytes : budget_.bandwidth_floor;
    if (budget_.compute_floor && budget_.compute_floor->best >= best_or(bandwidth, 0.0)) {
      add_block(time, *budget_.compute_floor, LineId::matrix_arithmetic, Cause::compute,
                "matrix arithmetic at peak rate", LineId::matrix_distance,
                "matrix kernels beyond their floor");
    } else if (bandwidth) {
      add_block(time, *bandwidth, bytes ? LineId::weights : LineId::traffic, Cause::bandwidth,
                bytes ? "weights at peak bandwidth" : "HBM traffic at peak bandwidth",
                LineId::matrix_distance, "matrix kernels beyond their floor");
    } else {
      add(LineId::matrix_distance, Cause::kernels, "matrix kernels", time);
    }
  }

  /// One line takes what the others leave, so that the numbers add up exactly.
  void close() {
    const double left = budget_.total.best - assigned();
    const double dust = 1e-9 * budget_.total.best;
    if (left < -dust) {
      // Shares or ranges that overshoot: what is not a floor gives way first, then everything.
      shrink(-left);
      return;
    }
    for (Line& line : budget_.lines) {
      if (line.id == LineId::host && !e_.profile.host_time) {
        line.time.best += left;
        line.time.interval.high = std::max(line.time.interval.high, line.time.best);
        return;
      }
    }
    if (left <= dust && by_groups()) return;
    if (kernels_ && !host_ && budget_.in_seconds) {
      const Value outside({0.0, budget_.total.high()}, std::max(left, 0.0), Origin::derived);
      if (gaps_) {
        add(LineId::host, Cause::host, "host around a step's kernels", outside);
        return;
      }
      // Gaps and host were not told apart: each has the part that it usually has.
      const auto usual = usual_seconds(e_, w_);
      const double launch = usual[static_cast<std::size_t>(Cause::launch)];
      const double host = usual[static_cast<std::size_t>(Cause::host)];
      const double share = launch + host > 0.0 ? launch / (launch + host) : 0.0;
      const auto part = [&](double of_it) {
        return Value(outside.interval, of_it * outside.best, Origin::assumed,
                     "what launches and the host usually take");
      };
      add(LineId::launch_gaps, Cause::launch, "outside kernels: launches", part(share));
      add(LineId::host, Cause::host, "outside kernels: the host", part(1.0 - share));
      if (e_.engine.enforce_eager.value_or(false) && outside.best > 0.1 * budget_.total.best)
        budget_.host_paced = true;
      // Layers are alike: launched one by one, the device waits in each of them or in none.
      const double waits = outside.best - host;
      budget_.launches_behind = e_.engine.enforce_eager.value_or(false) &&
                                w_.window == Window::decode &&
                                waits > turning_time(e_) + 0.05 * budget_.total.best;
      return;
    }
    const bool nothing_else = !kernels_ && !gaps_ && !host_ && !by_groups();
    const Value rest(core::Interval(0.0, budget_.total.high()), std::max(left, 0.0),
                     Origin::derived);
    if (nothing_else) {
      add(LineId::not_separated, Cause::unexplained, "not told apart: kernels, gaps, host", rest);
    } else {
      add(LineId::unexplained, Cause::unexplained, "not in any of these", rest);
    }
  }

  void shrink(double excess) {
    for (const bool floors_too : {false, true}) {
      double soft = 0.0;
      const auto gives_way = [&](const Line& l) {
        return floors_too || (l.cause != Cause::bandwidth && l.cause != Cause::compute);
      };
      for (const Line& line : budget_.lines) soft += gives_way(line) ? line.time.best : 0.0;
      if (soft <= 0.0) continue;
      const double taken = std::min(excess, soft);
      for (Line& line : budget_.lines) {
        if (!gives_way(line)) continue;
        line.time.best *= 1.0 - taken / soft;
        line.time.interval.low = std::min(line.time.interval.low, line.time.best);
      }
      excess -= taken;
      if (excess <= 1e-12 * budget_.total.best) return;
    }
  }

  /// No line can hold more than the total leaves beside the least of the others, nor less than it
  /// needs beside their most.
  void tighten() {
    for (int round = 0; round < 2; ++round) {
      double lows = 0.0;
      double highs = 0.0;
      for (const Line& line : budget_.lines) {
        lows += line.time.low();
        highs += line.time.high();
      }
      for (Line& line : budget_.lines) {
        core::Interval& t = line.time.interval;
        const core::Interval old = t;
        t.low = std::clamp(budget_.total.low() - (highs - old.high), old.low,
                           std::max(old.low, line.time.best));
        t.high = std::clamp(budget_.total.high() - (lows - old.low),
                            std::min(old.high, line.time.best), old.high);
        t.low = std::min(t.low, line.time.best);
        t.high = std::max(t.high, line.time.best);
        lows += t.low - old.low;
        highs += t.high - old.high;
      }
    }
  }

  const Evidence& e_;
  const Work& w_;
  const std::vector<Clue>& clues_;
  TimeBudget budget_;
  Maybe kernels_;
  Maybe gaps_;
  Maybe host_;
  Maybe collectives_;                 // where they were measured beside the kernels
  std::optional<double> reads_best_;  // where an even choice of experts cannot be
};

}  // namespace

const Line* TimeBudget::find(LineId id) const {
  const auto it =
      std::find_if(lines.begin(), lines.end(), [id](const Line& l) { return l.id == id; });
  return it != lines.end() ? &*it : nullptr;
}

Value TimeBudget::share(Cause cause) const {
  Value sum{0.0};
  for (const Line& line : lines) {
    if (line.cause == cause) sum = sum + line.time;
  }
  return (sum / total.at_best()).clamped(0.0, 1.0);
}

Value TimeBudget::share(LineId id) const {
  const Line* line = find(id);
  return line != nullptr ? (line->time / total.at_best()).clamped(0.0, 1.0) : Value(0.0);
}

std::optional<TimeBudget> time_budget(const Evidence& evidence, const Work& work,
                                      const std::vector<Clue>& clues) {
  const Profile& p = evidence.profile;
  const bool shares_known = p.flop_fraction || p.hbm_fraction || p.busy_fraction ||
                            p.host_fraction || !p.kernel_time.empty();
  if (!work.time && !work.flop_expected && !shares_known && clues.empty()) return std::nullopt;
  return Builder(evidence, work, clues).build();
}

}  // namespace ridgeline::diagnosis
