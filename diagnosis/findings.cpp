#include "diagnosis/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/usual.hpp"
#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// KV bytes below this share of the stated ones are those of shorter contexts.
constexpr double kNearlyAll = 0.9;

class Findings {
 public:
  Findings(const Evidence& e, const Work& w, const std::optional<TimeBudget>& budget,
           const std::optional<Queueing>& queueing, Regime regime)
      : e_(e), w_(w), budget_(budget), queueing_(queueing), regime_(regime) {}

  std::vector<Finding> all() {
    if (regime_ == Regime::load_bound || (regime_ == Regime::capacity_bound && e_.serving.kv_usage))
      supply();
    if (regime_ == Regime::overhead_bound) overhead();
    if (w_.window == Window::decode) {
      if (regime_ == Regime::compute_bound) {
        tokens_of_a_step();
        ceiling();
      } else {
        ceiling();
        tokens_of_a_step();
      }
    }
    if (w_.window == Window::prefill) prompt();
    if (w_.window == Window::training) training();
    if (regime_ == Regime::communication_bound || regime_ == Regime::transfer_bound) links();
    if (regime_ != Regime::overhead_bound && outside_kernels() > 0.1) overhead();
    if (queueing_) queue();
    return std::move(out_);
  }

 private:
  void say(std::string statement, const Value& value, std::string unit, bool repeats = false) {
    if (!std::isfinite(value.best)) return;
    out_.push_back(
        {std::move(statement), value.best, std::move(unit), value.origin, repeats, value});
  }

  static std::string rate(double x) {
    return std::abs(x) < 999.5 ? fmt::format("{:.3g}", x) : number_text(x);
  }

  /// How many steps the bytes allow, how many there are, and what the bandwidth counter says.
  void ceiling() {
    if (!w_.bandwidth || !w_.weights_read || !w_.time || w_.weights_read->best < 1.0) return;
    // The calculator's ceiling counts contexts as stated; KV that is assumed, or a trifle, stays
    // out of it.
    const bool kv_known = w_.kv_expected && w_.kv_expected->origin != Origin::assumed;
    const bool kv_counts = kv_known && w_.kv_expected->best > 0.05 * w_.weights_read->best;
    const Value bytes = kv_counts ? *w_.weights_read + *w_.kv_expected : *w_.weights_read;
    const Value steps = *w_.bandwidth / bytes;
    const Value measured = Value(1.0) / *w_.time;
    const Value share = measured / steps;
    std::string what = fmt::format("{} of weights", bytes_text(w_.weights_read->best));
    if (kv_counts) what += fmt::format(" and {} of KV cache", bytes_text(w_.kv_expected->best));
    const bool shorter =
        kv_counts && w_.kv_read && w_.kv_read->best < kNearlyAll * w_.kv_expected->best;
    say(fmt::format("{} {}; {}/s allows {} steps/s, and {} are measured: {} of that ceiling",
                    shorter ? "With contexts at full length a step would read" : "A step reads",
                    what, bytes_text(w_.bandwidth->best), rate(steps.best), rate(measured.best),
                    percent_text(share.best)),
        share, "fraction");
    say(fmt::format("Ceiling of the step rate, from bytes alone: {} steps/s", rate(steps.best)),
        steps, "steps/s", true);
    if (e_.profile.hbm_fraction) {
      const Value& counted = *e_.profile.hbm_fraction;
      const double ratio = counted.best / std::max(share.best, 1e-300);
      say(fmt::format("The counter shows {} of HBM bandwidth{}", percent_text(counted.best),
                      ratio > 0.93 && ratio < 1.07 ? ": the same, seen from the other side" : ""),
          counted, "fraction", regime_ == Regime::compute_bound && e_.profile.flop_fraction);
    }
    if (regime_ == Regime::bandwidth_bound) {
      const Value most = Value(1.0) / share.clamped(1e-6, 1e6);
      if (most.best >= 1.0 && most.best < 2.0) {
        say(fmt::format("Better kernels can give at most {:.2f}x; more than that needs fewer bytes "
                        "a token or more "
                        "tokens a read",
                        most.best),
            most, "ratio");
      }
    }
    kv(kv_known, kv_counts);
  }

  /// What KV bytes stand for beside the weights. `counted`: the sentence on the ceiling has named
  /// them.
  void kv(bool kv_known, bool counted) {
    if (!w_.kv_read || !w_.kv_expected) {
      if (w_.kv_read && w_.window == Window::decode && e_.profile.hbm_fraction) {
        if (w_.kv_read->high() < kTooLittleToSee * w_.weights_read->best) {
          say("What HBM moves beyond the weights is too little to see: KV cache is next to nothing",
              *w_.kv_read, "bytes");
          return;
        }
        say(fmt::format("What HBM moves beyond the weights is at most {} a step{}",
                        bytes_text(w_.kv_read->high()),
                        w_.kv_read->high() < 0.1 * w_.weights_read->best
                            ? ": KV cache is a small part"
                            : ""),
            *w_.kv_read, "bytes");
      }
      return;
    }
    const bool assumed = w_.kv_read->origin ==
                         Origin::assumed;  // of an assumed shape only the bound is worth saying
    const Value kv = assumed ? computed("at most", w_.kv_read->interval, w_.kv_read->high(),
                                        w_.kv_read->origin, {*w_.kv_read})
                             : *w_.kv_read;
    const Value all = *w_.weights_read + kv;
    const Value share = kv / all;
    if (kv_known && w_.kv_read->best < kNearlyAll * w_.kv_expected->best) {
      const Value filled = *w_.kv_read / *w_.kv_expected;
      say(w_.kv_read->best < kTooLittleToSee * w_.weights_read->best
              ? "Beside the weights the counter leaves KV cache too little to see: contexts are "
                "far shorter than stated"
              : fmt::format("The counter leaves {} of KV cache a step, {} of what full contexts "
                            "hold: contexts average "
                            "that much of their length",
                            bytes_text(w_.kv_read->best), percent_text(filled.best)),
          filled, "fraction");
      return;
    }
    // The kernels may be slow all the same: then the ledger says so.
    const bool slow = budget_ && budget_->share(LineId::attention_distance).best > 0.05;
    const std::string so = share.best < 0.1 && !slow ? ": attention cannot matter" : "";
    if (kv.best < kTooLittleToSee * all.best) {
      say("KV cache is too little of what a step reads to see" + so, share, "fraction");
    } else if (!counted) {
      say(fmt::format("KV cache is {}{} of the {} a step reads{}", kv_known ? "" : "at most about ",
                      bytes_text(kv.best), bytes_text(all.best), so),
          share, "fraction");
    } else {
      say(fmt::format("KV cache is {} of what a step reads{}", percent_text(share.best), so), share,
          "fraction", so.empty());
    }
  }

  void tokens_of_a_step() {
    if (regime_ == Regime::compute_bound && e_.profile.flop_fraction && e_.profile.hbm_fraction &&
        e_.profile.flop_fraction->best > e_.profile.hbm_fraction->best) {
      say(fmt::format("The counters show {} of the peak FLOP rate against {} of HBM bandwidth: "
                      "arithmetic is the roof",
                      percent_text(e_.profile.flop_fraction->best),
                      percent_text(e_.profile.hbm_fraction->best)),
          *e_.profile.flop_fraction, "fraction");
    }
    if (w_.weights_read && w_.parameters && w_.sequences && w_.bandwidth && w_.peak &&
        regime_ == Regime::compute_bound) {
      const Value intensity = Value(2.0) * *w_.parameters * *w_.sequences / *w_.weights_read;
      const Value ridge = *w_.peak / *w_.bandwidth;
      say(fmt::format("The {} output tokens of a step alone do {} FLOP for each byte of weights; "
                      "from {} on "
                      "arithmetic takes longer than the read",
                      whole_text(w_.sequences->best), whole_text(intensity.best),
                      whole_text(ridge.best)),
          intensity, "FLOP/byte");
    }
    const Maybe& counted = e_.profile.flop_fraction;
    if (!counted) {
      if (w_.flop_expected && (!e_.profile.hbm_fraction || regime_ == Regime::compute_bound)) {
        say(fmt::format("The tokens' own arithmetic comes to {} of peak",
                        percent_text(w_.flop_expected->best)),
            *w_.flop_expected, "fraction");
      }
      return;
    }
    if (w_.excess == FlopExcess::prompt_tokens) {
      const Value steps = Value(1.0) / *w_.time;
      say(fmt::format("{} tokens/s x {} are {} of peak, and the counter shows {}: each of the {} "
                      "steps/s carries about "
                      "{} tokens, {} of them from prompts",
                      rate(w_.sequences->best / w_.time->best),
                      flop_text(2.0 * w_.parameters->best), percent_text(w_.flop_expected->best),
                      percent_text(counted->best), rate(steps.best),
                      whole_text(w_.tokens_implied->best), whole_text(w_.riding->best)),
          *w_.tokens_implied, "tokens");
      say(fmt::format("Prompt tokens that ride in a step: about {}", whole_text(w_.riding->best)),
          *w_.riding, "tokens", true);
    } else if (w_.flop_expected && w_.excess == FlopExcess::padding) {
      say(fmt::format(
              "{} tokens/s x {} are {} of peak; the counter's {} is mostly rows padded to tiles",
              rate(w_.tokens->best / w_.time->best), flop_text(w_.flop->best / w_.tokens->best),
              percent_text(w_.flop_expected->best), percent_text(counted->best)),
          *w_.flop_expected, "fraction");
    } else {
      const bool said = regime_ == Regime::compute_bound && e_.profile.hbm_fraction;
      say(fmt::format("The counter shows {} of peak FLOP", percent_text(counted->best)), *counted,
          "fraction", said);
      if (e_.profile.useful_flop_fraction &&
          e_.profile.useful_flop_fraction->best < 0.7 * counted->best) {
        say(fmt::format("Only {} of peak is useful; the rest is rows padded to tiles",
                        percent_text(e_.profile.useful_flop_fraction->best)),
            *e_.profile.useful_flop_fraction, "fraction");
      }
      if (w_.phase == Phase::mixed && w_.riding) {
        say(fmt::format("{} of the {} tokens a step carries come from prompts",
                        whole_text(w_.riding->best), whole_text(w_.tokens->best)),
            *w_.riding, "tokens");
      }
    }
  }

  void prompt() {
    if (!w_.time) return;
    const Line* attention = budget_ ? budget_->find(LineId::attention_distance) : nullptr;
    const Line* attention_floor = budget_ ? budget_->find(LineId::attention_arithmetic) : nullptr;
    const Maybe attention_time = attention != nullptr && attention_floor != nullptr
                                     ? Maybe(attention->time + attention_floor->time)
                                     : std::nullopt;
    if (w_.materialised) {
      say(fmt::format(
              "The {} transient is the score matrix of one layer: {} heads x {}^2 x 2 bytes = {}",
              bytes_text(e_.profile.transient->best), whole_text(e_.model.heads->best),
              number_text(w_.tokens->best), bytes_text(w_.score_bytes->best)),
          *w_.score_bytes, "bytes");
      if (attention_time && e_.model.layers && w_.bandwidth) {
        const Value traffic = Value(kScorePasses) * *w_.score_bytes * *e_.model.layers;
        const Value share = traffic / (*attention_time * *w_.bandwidth);
        say(fmt::format("Attention's {} move {} of scores ({:.0f} passes, {} layers): {} of HBM "
                        "bandwidth, so that "
                        "scores read and written set its pace, not its arithmetic",
                        time_text(attention_time->best), bytes_text(traffic.best), kScorePasses,
                        whole_text(e_.model.layers->best), percent_text(share.best)),
            share, "fraction");
      }
    }
    if (w_.linear_flop && w_.peak) {
      std::string text = fmt::format("Linear layers need {}", flop_text(w_.linear_flop->best));
      Value total = *w_.linear_flop;
      if (w_.attention_flop_square) {
        text += fmt::format(", attention {} ({} under the causal mask)",
                            flop_text(w_.attention_flop_square->best),
                            flop_text(w_.attention_flop->best));
        if (w_.materialised)
          total = total + *w_.attention_flop_square;
        else
          total = total + *w_.attention_flop;
      }
      const Value rate = total / (*w_.peak * *w_.time);
      say(fmt::format("{}: {} in {} is {} of peak", text, flop_text(total.best),
                      time_text(w_.time->best), percent_text(rate.best)),
          rate, "fraction");
    }
    if (attention_time && w_.attention_flop) {
      const Value share = *attention_time / *w_.time;
      say(fmt::format("Attention kernels take {} of prefill, {}", percent_text(share.best),
                      time_text(attention_time->best)),
          share, "fraction");
    }
    const Line* matrix = budget_ ? budget_->find(LineId::matrix_distance) : nullptr;
    const Line* arithmetic = budget_ ? budget_->find(LineId::matrix_arithmetic) : nullptr;
    if (matrix != nullptr && arithmetic != nullptr && w_.linear_flop) {
      const Value time = matrix->time + arithmetic->time;
      const Value rate = *w_.linear_flop / (time * *w_.peak);
      say(fmt::format("What is left, {} for {}, is {} of peak", time_text(time.best),
                      flop_text(w_.linear_flop->best), percent_text(rate.best)),
          rate, "fraction");
    }
    if (e_.profile.flop_fraction) {
      say(fmt::format("The counter shows {} of peak FLOP",
                      percent_text(e_.profile.flop_fraction->best)),
          *e_.profile.flop_fraction, "fraction");
    }
  }

  void training() {
    if (!budget_) return;
    const auto& shares = e_.profile.kernel_time;
    const auto share_of = [&](KernelGroup g) {
      return shares.contains(g) ? shares.at(g) : Value(0.0);
    };
    const Maybe flop = either(e_.profile.flop_fraction, w_.flop_expected);
    const Value matrix = share_of(KernelGroup::gemm) + share_of(KernelGroup::attention);
    if (flop && matrix.best > 0.0) {
      const Value rate = *flop / matrix;
      say(fmt::format("Matrix kernels hold {} of the kernel time and all of the FLOP: at {} of "
                      "peak overall they run "
                      "at {} themselves",
                      percent_text(matrix.best), percent_text(flop->best), percent_text(rate.best)),
          rate, "fraction");
    } else if (flop) {
      say(fmt::format("The step runs at {} of peak FLOP", percent_text(flop->best)), *flop,
          "fraction");
    }
    const Value tail = share_of(KernelGroup::norm) + share_of(KernelGroup::elementwise) +
                       share_of(KernelGroup::cast);
    if (tail.best > 0.0) {
      say(fmt::format("The other {} (norms, elementwise, casts) is bound by bandwidth and moves no "
                      "FLOP: compute-bound "
                      "describes the average, not each kernel",
                      percent_text(tail.best)),
          tail, "fraction");
      const Value most = Value(1.0) / (Value(1.0) - tail).clamped(1e-3, 1.0);
      say(fmt::format("Removing all of it is worth at most {:.2f}x; fusing keeps the last read and "
                      "write, so who calls "
                      "it nothing and "
                      "who calls it the bottleneck are both half right",
                      most.best),
          most, "ratio");
    }
  }

  void overhead() {
    if (!budget_ || !budget_->in_seconds) return;
    const Line* gaps = budget_->find(LineId::launch_gaps);
    const Line* host = budget_->find(LineId::host);
    const Maybe& kernels = budget_->kernels;
    if (gaps == nullptr && host == nullptr) return;
    const auto& count = e_.profile.kernels_per_step;
    if (kernels && gaps != nullptr) {
      const Value between = *kernels + gaps->time;
      const std::string each =
          count ? fmt::format("{} kernels a step: ", number_text(count->best)) : "";
      const Maybe told_kernels =
          e_.profile.busy_time ? e_.profile.busy_time : count * e_.profile.kernel_length;
      const Maybe told_gaps =
          e_.profile.gap_time ? e_.profile.gap_time : count * e_.profile.gap_length;
      if (told_kernels && told_gaps) {
        const double most = std::min(told_kernels->high() + told_gaps->high(), budget_->total.best);
        say(fmt::format("{}{} in kernels and {} in gaps, together at most {} of {}", each,
                        time_range_text(told_kernels->interval),
                        time_range_text(told_gaps->interval), time_text(most),
                        time_text(budget_->total.best)),
            between, "seconds");
      }
    }
    if (host != nullptr && host->time.best > 0.02 * budget_->total.best) {
      const bool measured = e_.profile.host_time.has_value();
      const Value least =
          measured ? host->time
                   : computed("what kernels and gaps leave at their longest", host->time.interval,
                              least_host(*host), host->time.origin, {host->time});
      if (least.best > 0.02 * budget_->total.best && w_.window == Window::decode)
        say(fmt::format("{}{} a step is in neither kernels nor gaps: the host between steps "
                        "(scheduling, sampling, detokenizing)",
                        measured ? "" : "At least ", time_text(least.best)),
            least, "seconds");
    }
    if (regime_ != Regime::overhead_bound || !kernels) return;
    const Value outside = (Value(1.0) - *kernels / budget_->total).clamped(0.0, 1.0);
    const std::string low = percent_text(outside.low());
    const std::string high = percent_text(outside.high());
    say(fmt::format("No kernel runs for {} of the step: neither roof binds, the host does",
                    low == high ? low : low + " to " + high),
        outside, "fraction");
  }

  [[nodiscard]] double outside_kernels() const {
    return budget_ ? budget_->share(Cause::launch).best + budget_->share(Cause::host).best : 0.0;
  }

  /// Kernels and gaps at their longest leave this much of the step.
  [[nodiscard]] double least_host(const Line& host) const {
    const Line* gaps = budget_->find(LineId::launch_gaps);
    if (!budget_->kernels || gaps == nullptr) return host.time.low();
    const auto& count = e_.profile.kernels_per_step;
    const double longest =
        best_or(count, 0.0) * (e_.profile.kernel_length ? e_.profile.kernel_length->high() : 0.0) +
        best_or(count, 0.0) * (e_.profile.gap_length ? e_.profile.gap_length->high() : 0.0);
    return longest > 0.0 ? std::max(host.time.low(), budget_->total.best - longest)
                         : host.time.low();
  }

  void links() {
    if (!budget_) return;
    const Value share =
        budget_->share(regime_ == Regime::transfer_bound ? Cause::transfer : Cause::communication);
    const Profile& p = e_.profile;
    const bool measured =
        regime_ == Regime::transfer_bound
            ? p.transfer_time.has_value() || p.kernel_time.contains(KernelGroup::copy)
            : p.communication_time || p.communication_fraction ||
                  p.kernel_time.contains(KernelGroup::collective) ||
                  std::any_of(e_.kernels.begin(), e_.kernels.end(), [](const KernelRow& row) {
                    return row.group == KernelGroup::collective;
                  });
    const std::string_view what = regime_ == Regime::transfer_bound ? "Copies" : "Collectives";
    say(measured ? fmt::format("{} take {} of a step with nothing else running", what,
                               percent_text(share.best))
                 : fmt::format("{} were not measured; by all that is known they take about {} of "
                               "the time",
                               what, percent_text(share.best)),
        share, "fraction");
  }

  void queue() {
    const Queueing& q = *queueing_;
    const Value share = q.wait / q.first_token;
    const double waiting = best_or(q.waiting, 0.0);
    say(fmt::format(
            "At least {} of the {} to a first token is queueing, before the prompt's own steps{}",
            time_text(q.wait.best), time_text(q.first_token.best),
            waiting >= 1.0 ? fmt::format("; {} requests wait", whole_text(waiting)) : ""),
        share, "fraction", q.overloaded);  // then it stands in the head
  }

  void supply() {
    if (regime_ == Regime::load_bound && !e_.profile.idle_fraction) {
      const double busy = usual_busy(e_, w_);
      say(fmt::format(
              "At a usual pace what was served fills {} of the time, one sequence after the "
              "other",
              percent_text(busy)),
          Value(core::Interval(busy), Origin::assumed), "fraction");
      return;
    }
    if (regime_ == Regime::load_bound) {
      say(fmt::format("No step runs for {} of the time and nothing waits",
                      percent_text(e_.profile.idle_fraction->best)),
          *e_.profile.idle_fraction, "fraction");
      return;
    }
    say(fmt::format("{} of the KV blocks are taken while requests wait or are preempted",
                    percent_text(e_.serving.kv_usage->best)),
        *e_.serving.kv_usage, "fraction");
  }

  const Evidence& e_;
  const Work& w_;
  const std::optional<TimeBudget>& budget_;
  const std::optional<Queueing>& queueing_;
  Regime regime_;
  std::vector<Finding> out_;
};

bool supports(const Clue& clue, Regime regime) {
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    if (clue.causes.has(cause) && regime_of_cause(cause) == regime) return true;
  }
  return false;
}

}  // namespace

std::vector<Finding> findings_of(const Evidence& e, const Work& w,
                                 const std::optional<TimeBudget>& budget,
                                 const std::optional<Queueing>& queueing, Regime regime,
                                 const std::vector<Clue>& clues) {
  std::vector<Finding> out = Findings(e, w, budget, queueing, regime).all();
  // What bears out the verdict settles it: it goes first. What was only seen goes last.
  std::vector<Finding> settling;
  for (const Clue& clue : clues) {
    const Finding finding{clue.statement, clue.value.best, clue.unit, clue.value.origin};
    const bool settles = clue.measured && supports(clue, regime) && clue.share.low >= 0.1;
    (settles ? settling : out).push_back(finding);
  }
  std::stable_sort(settling.begin(), settling.end(), [](const Finding& a, const Finding& b) {
    return a.unit == "fraction" && b.unit == "fraction" && a.value > b.value;
  });
  out.insert(out.begin(), settling.begin(), settling.end());
  return out;
}

std::string question_of(const Evidence& e, const Work& w, const std::optional<TimeBudget>& budget,
                        const std::optional<Queueing>& queueing, Regime regime) {
  const Profile& p = e.profile;
  if (!e.machine.hbm_bandwidth || e.machine.peak.empty())
    return "Which GPU is it, and how many of them share the model?";
  if (!w.weight_bytes && w.window != Window::training)
    return "How many parameters has the model, and in which dtype are its weights?";
  if (!w.time && p.kernel_time.empty()) {
    return w.window == Window::training
               ? "How long does a training step take, and how many tokens does it hold?"
           : e.measured.throughput
               ? "Over how many sequences at once do these tokens come out, and how long are they?"
               : "How many tokens a second come out, over how many sequences at once?";
  }
  if (budget && budget->in_seconds && w.window == Window::decode && !p.hbm_fraction &&
      !p.busy_time &&
      std::max(best_or(budget->bandwidth_floor, 0.0), best_or(budget->compute_floor, 0.0)) <
          0.1 * budget->total.best) {
    return "Are all weights and the whole KV cache on the device, and does its HBM move anything "
           "while a step runs?";
  }
  if (!p.hbm_fraction && !p.flop_fraction) {
    return "What HBM bandwidth and what FLOP rate does a profiler show over the same steps? One "
           "high names the roof; "
           "both low mean neither.";
  }
  if (budget && budget->share(Cause::unexplained).best > 0.35)
    return "In a timeline of one step: how long are the kernels, how long the gaps between them, "
           "how long the host "
           "around them?";
  if (queueing && queueing->overloaded)
    return "How many requests a second arrive, and may some of them be turned away or sent to "
           "another server?";
  switch (regime) {
    case Regime::bandwidth_bound:
      return "How much loss of quality is acceptable, and how often would a small draft model "
             "guess the next token?";
    case Regime::compute_bound:
      if (w.window == Window::training)
        return "Which of these passes does the compiler already fuse?";
      return "What share of the prompts begins alike, and how long are they?";
    case Regime::overhead_bound:
      return "What does the host do between the last kernel of a step and the first of the next?";
    case Regime::kernel_inefficiency:
      return "Which kernels does the backend choose here, and which did it fall back from?";
    case Regime::capacity_bound:
      return "How long are the contexts of the waiting requests, and may the KV cache be in 8 bit?";
    case Regime::load_bound:
      return "What limits the number of requests that reach the server?";
    case Regime::communication_bound:
      return "How large is each collective, and do all devices enter it at the same time?";
    case Regime::transfer_bound:
      return "What is copied, how large is each copy, and does a step have to wait for it?";
    case Regime::mixed:
      break;
  }
  return "In a timeline of one step: how long are the kernels, the gaps between them, and the host "
         "around them?";
}

}  // namespace ridgeline::diagnosis
