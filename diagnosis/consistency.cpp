#include "diagnosis/consistency.hpp"

#include <fmt/format.h>

#include "diagnosis/words.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Formulas leave out a few per cent (embeddings, norms, activations); less than that is no
/// contradiction.
constexpr double kTolerance = 0.05;

bool meet(const Value& a, const Value& b, double tolerance = kTolerance) {
  const auto widened = [tolerance](const Value& v) {
    return core::Interval(v.low() * (1.0 - tolerance), v.high() * (1.0 + tolerance));
  };
  return widened(a).meets(widened(b));
}

bool near_ratio(const Value& a, const Value& b, double ratio) {
  return meet(a, b * Value(ratio), 0.03);
}

void check_flop(const Evidence& e, const Work& w, std::vector<Inconsistency>& out) {
  if (!e.profile.flop_fraction || !w.flop_expected) return;
  const Value& counted = *e.profile.flop_fraction;
  const Value& expected = *w.flop_expected;
  switch (w.excess) {
    case FlopExcess::padding:
      out.push_back({"FLOP rate", expected, counted, "fraction",
                     fmt::format("padding counted as FLOP: matrix products of {} row{} are "
                                 "multiplied in tiles that pad them up "
                                 "to {:.3g}x; {} of peak is useful",
                                 number_text(best_or(e.profile.gemm_rows, w.tokens->best)),
                                 best_or(e.profile.gemm_rows, w.tokens->best) == 1.0 ? "" : "s",
                                 w.padding, percent_text(expected.best))});
      return;
    case FlopExcess::prompt_tokens:
      out.push_back(
          {"FLOP rate", expected, counted, "fraction",
           fmt::format(
               "the steps carry prompt tokens besides the output: {} is the arithmetic of about "
               "{} tokens a step, {} of them from prompts",
               percent_text(counted.best), whole_text(w.tokens_implied->best),
               whole_text(w.riding->best))});
      return;
    case FlopExcess::unexplained:
      if (w.window == Window::training && counted.best < 1.5 * expected.best) {
        out.push_back({"FLOP rate", expected, counted, "fraction",
                       "activations recomputed in the backward pass are counted too"});
      } else if (w.window == Window::prefill && w.attention_flop_square &&
                 meet(counted, (*w.linear_flop + *w.attention_flop_square) / (*w.peak * *w.time))) {
        out.push_back({"FLOP rate", expected, counted, "fraction",
                       "attention computes the masked half of the score matrix too"});
      } else {
        out.push_back({"FLOP rate", expected, counted, "fraction",
                       "more arithmetic was counted than these tokens need: a total over devices, "
                       "another time window, "
                       "or more tokens a step than stated",
                       false});
      }
      return;
    case FlopExcess::none:
      break;
  }
  if (counted.high() < 0.7 * expected.low() && w.window != Window::training) {
    out.push_back({"FLOP rate", expected, counted, "fraction",
                   "fewer FLOP were counted than the tokens need: prompt tokens counted as output, "
                   "or a counter that "
                   "misses matrix units",
                   false});
  }
}

void check_hbm(const Evidence& e, const Work& w, std::vector<Inconsistency>& out) {
  if (!e.profile.hbm_fraction || !w.hbm_expected || w.window != Window::decode) return;
  const Value& counted = *e.profile.hbm_fraction;
  const Value& expected = *w.hbm_expected;
  if (meet(counted, expected)) return;
  if (counted.high() < expected.low()) {
    const Value weights_alone = *w.weights_read / (*w.bandwidth * *w.time);
    if (w.kv_expected && w.kv_read && !w.kv_expected->interval.meets({0.0, w.kv_read->best}) &&
        counted.high() >= weights_alone.low()) {
      const double share = w.kv_read->best / w.kv_expected->best;
      out.push_back(
          {"HBM bandwidth", expected, counted, "fraction",
           share < 0.01
               ? std::string("contexts are far shorter than stated")
               : fmt::format(
                     "contexts average {:.0f} % of the stated length, as those that are still "
                     "growing do",
                     100.0 * share)});
    } else if (near_ratio(expected, counted, 2.0) || near_ratio(expected, counted, 4.0)) {
      out.push_back(
          {"HBM bandwidth", expected, counted, "fraction",
           "the weights are in fewer bits than stated, or the rate is a total of several devices",
           false});
    } else {
      out.push_back({"HBM bandwidth", expected, counted, "fraction",
                     "less was read than the steps need: prompt tokens counted as output, a total "
                     "for a per-device "
                     "rate, or a counter over a longer window",
                     false});
    }
    return;
  }
  if (w.phase == Phase::mixed && counted.best < 2.0 * expected.best) {
    out.push_back(
        {"HBM bandwidth", expected, counted, "fraction",
         "the prompt tokens of a step read and write their activations and KV cache as well"});
    return;
  }
  if (!w.kv_expected) return;  // what exceeds the weights is KV of contexts that nobody stated
  out.push_back({"HBM bandwidth", expected, counted, "fraction",
                 "more is read than weights and KV: activations spilling to HBM, longer contexts, "
                 "or kernels that read twice",
                 false});
}

void check_roofs(const Evidence& e, const Work& w, const std::optional<TimeBudget>& budget,
                 std::vector<Inconsistency>& out) {
  if (budget && budget->overfull && w.time && (w.bytes || w.flop)) {
    const Value bytes_floor = (w.bytes / w.bandwidth).value_or(Value(0.0));
    const Value flop_floor = (w.flop / w.peak).value_or(Value(0.0));
    const Value& floor = bytes_floor.best >= flop_floor.best ? bytes_floor : flop_floor;
    std::string reading =
        "faster than the machine's roof allows: a total over devices or requests, prompt tokens "
        "counted as output, or "
        "other weights than stated";
    if (w.sequences && w.sequences->best > 1.5 &&
        near_ratio(floor / *w.time, Value(1.0), w.sequences->best)) {
      reading = "a total over sequences read as the rate of one";
    }
    out.push_back({"time", floor, *w.time, "seconds", reading, false});
  }
  for (const Maybe& fraction :
       {e.profile.hbm_fraction, e.profile.flop_fraction, e.profile.useful_flop_fraction}) {
    if (fraction && fraction->low() > 1.0) {
      out.push_back(
          {"fraction of a roof", *fraction, Value(1.0), "fraction",
           "above 100 % of a roof: the peak, the dtype or the window is not the one measured",
           false});
    }
  }
  if (e.profile.useful_flop_fraction && e.profile.flop_fraction &&
      e.profile.useful_flop_fraction->low() > 1.01 * e.profile.flop_fraction->high()) {
    out.push_back(
        {"FLOP rate", *e.profile.useful_flop_fraction, *e.profile.flop_fraction, "fraction",
         "useful FLOP exceed issued ones: the two were taken over different windows", false});
  }
}

void check_rest(const Evidence& e, const Work& w, const std::optional<TimeBudget>& budget,
                std::vector<Inconsistency>& out) {
  const Measured& m = e.measured;
  // A step that yields more tokens takes longer, and a mean over tokens counts it more often than a
  // mean over steps.
  const bool means_differ = m.step_time && m.step_time->origin == Origin::read && m.itl &&
                            m.itl->best > m.step_time->best && w.sequences && m.throughput &&
                            meet(*w.sequences / *m.step_time, *m.throughput, 0.1);
  // Formats of a few bits carry scales and leave some layers wide: up to half more than their name.
  const bool few_bits = e.model.weight_dtype && hw::bytes_of(*e.model.weight_dtype).value() < 1.0;
  if (w.parameters && e.model.weight_bytes && e.model.parameters && e.model.weight_dtype &&
      !few_bits) {
    const Value expected = *e.model.parameters * Value(hw::bytes_of(*e.model.weight_dtype).value());
    if (!meet(expected, *e.model.weight_bytes)) {
      out.push_back({"weight bytes", expected, *e.model.weight_bytes, "bytes",
                     near_ratio(expected, *e.model.weight_bytes, 1.073741824) ||
                             near_ratio(*e.model.weight_bytes, expected, 1.073741824)
                         ? "GB for GiB"
                         : "another dtype than stated, or part of the weights",
                     false});
    }
  }
  if (!means_differ && m.throughput && m.throughput_per_sequence && e.serving.concurrency &&
      w.window == Window::decode) {
    const Value total = *m.throughput_per_sequence * *e.serving.concurrency;
    if (!meet(total, *m.throughput)) {
      out.push_back(
          {"throughput", total, *m.throughput, "tokens/s",
           "not all sequences decode all the time, or a rate of one was read as the total", false});
    }
  }
  // Clients that wait for a first token do not decode yet.
  const Maybe request = e.serving.output_tokens && m.itl && m.ttft
                            ? Maybe(*m.ttft + *e.serving.output_tokens * *m.itl)
                            : std::nullopt;
  const bool first_tokens =
      request && m.throughput && e.serving.concurrency &&
      meet(*e.serving.concurrency * *e.serving.output_tokens / *request, *m.throughput, 0.15);
  if (m.itl && w.time && w.window == Window::decode && !first_tokens &&
      !meet(*m.itl, *w.time, 0.15)) {
    std::string reading =
        "tokens do not come one a step: speculation, several steps a message, or waiting between "
        "steps";
    if (w.sequences && near_ratio(*m.itl / Value(w.sequences->best), *w.time, 1.0))
      reading = "time per token read as time per step";
    if (means_differ)
      reading =
          "means over steps and over tokens: a step that yields more tokens takes longer and "
          "counts more";
    // Tokens wait for every step; a profile of pure decode steps leaves out those that read
    // prompts.
    const bool prompts_left_out = m.step_time && m.step_time->origin == Origin::read &&
                                  m.itl->best > m.step_time->best && w.phase == Phase::decode &&
                                  e.serving.arrivals != Arrivals::one_at_a_time &&
                                  m.itl->best < 3.0 * m.step_time->best;
    if (!means_differ && prompts_left_out)
      reading = "tokens also wait for the steps that read prompts, which these steps leave out";
    out.push_back({"step time", *w.time, *m.itl, "seconds", std::move(reading),
                   means_differ || prompts_left_out});
  }
  if (w.window == Window::prefill && m.ttft && m.step_time &&
      m.ttft->low() > 1.1 * m.step_time->high()) {
    out.push_back({"time to first token", *m.step_time, *m.ttft, "seconds",
                   "the prompt waits before its own steps begin: queueing"});
  }
  if (const Line* host = budget ? budget->find(LineId::host) : nullptr;
      host != nullptr && !e.profile.host_time && host->time.low() > 0.1 * budget->total.best) {
    out.push_back(
        {"step time", budget->total - host->time, budget->total, "seconds",
         "kernels and the gaps between them do not fill the step: the host works between steps"});
  }
  // Training shards its weights over devices that nobody may have counted.
  if (w.weight_bytes && e.machine.hbm_capacity && w.window != Window::training) {
    const Value room = *e.machine.hbm_capacity * e.machine.devices.value_or(Value(1.0));
    if (w.weight_bytes->low() > room.high()) {
      out.push_back({"memory", *w.weight_bytes, room, "bytes",
                     "the weights do not fit: more devices than stated, fewer bits, or weights "
                     "kept elsewhere",
                     false});
    }
  }
  if (w.score_bytes && e.profile.transient && !w.materialised &&
      e.profile.transient->low() > w.score_bytes->high()) {
    out.push_back(
        {"transient", *w.score_bytes, *e.profile.transient, "bytes",
         "larger than the score matrix of a layer: several are alive at once, or it is in 32 bit",
         false});
  }
}

/// A collective cannot send faster than its links carry.
void check_collectives(const Evidence& e, const Work& w, std::vector<Inconsistency>& out) {
  const double devices = best_or(e.machine.devices, 1.0);
  if (!w.link || devices < 1.5) return;
  for (const KernelRow& row : e.kernels) {
    if (row.group != KernelGroup::collective || !row.bytes || !row.time) continue;
    // A reduce-scatter and an all-gather: each device sends its message twice, less its own part.
    const Value sent = *row.bytes * Value(2.0 * (devices - 1.0) / devices);
    const Value rate = sent / (*row.time / row.calls.value_or(Value(1.0)));
    if (rate.low() <= 1.02 * w.link->high()) continue;
    out.push_back({"rate of " + (row.name.empty() ? std::string("the collectives") : row.name),
                   rate, *w.link, "bytes/s",
                   "faster than the links carry: some calls carry fewer bytes than stated, or the "
                   "time is of another size",
                   false});
  }
}

/// What a step must take for a cause, against what a change showed that it takes at most.
void check_trials(const Evidence& e, const Work& w, const std::vector<Clue>& clues,
                  std::vector<Inconsistency>& out) {
  if (!w.time || !w.bytes || !w.bandwidth || w.window != Window::decode) return;
  const Value time = e.profile.busy_time.value_or(*w.time);
  const Value floor = *w.bytes / *w.bandwidth / time;
  for (const Clue& clue : clues) {
    if (!clue.measured || !clue.causes.has(Cause::bandwidth) || clue.share.high > 0.6 * floor.best)
      continue;
    const bool experts = e.model.active_parameters.has_value();
    out.push_back({"share of the time that reads take", floor, Value(clue.share, Origin::derived),
                   "fraction",
                   experts ? "the tokens choose fewer experts than an even choice would, or the "
                             "change did not reach the kernels"
                           : "the change did not reach the kernels that read, or the weights are "
                             "not those stated",
                   false});
    return;
  }
}

/// Times that must contain one another do not, rates that must multiply do not.
void check_products(const Evidence& e, std::vector<Inconsistency>& out) {
  const Measured& m = e.measured;
  if (m.bytes_per_step && m.hbm_rate && (m.step_time || m.itl)) {
    const Value moved =
        *m.hbm_rate * *either(m.step_time, m.itl) * e.machine.devices.value_or(Value(1.0));
    if (!meet(moved, *m.bytes_per_step, 0.1)) {
      out.push_back({"bytes of a step", moved, *m.bytes_per_step, "bytes",
                     "a rate of one device for a total, or GB for GiB", false});
    }
  }
  if (m.requests_per_second && m.throughput && e.serving.output_tokens &&
      m.throughput->origin == Origin::given) {
    const Value tokens = *m.requests_per_second * *e.serving.output_tokens;
    if (!meet(tokens, *m.throughput, 0.15)) {
      const bool prompts =
          e.serving.prompt_tokens &&
          meet(*m.requests_per_second * (*e.serving.output_tokens + *e.serving.prompt_tokens),
               *m.throughput, 0.15);
      out.push_back(
          {"output tokens a second", tokens, *m.throughput, "tokens/s",
           prompts ? "prompt tokens counted as output" : "answers are of other lengths than stated",
           prompts});
    }
  }
  if (m.total_throughput && m.throughput && m.throughput->low() > 1.01 * m.total_throughput->high())
    out.push_back({"output tokens a second", *m.total_throughput, *m.throughput, "tokens/s",
                   "more output than tokens altogether: the two were exchanged", false});
}

}  // namespace

std::vector<Inconsistency> inconsistencies_of(const Evidence& evidence, const Work& work,
                                              const std::optional<TimeBudget>& budget,
                                              const std::vector<Clue>& clues) {
  std::vector<Inconsistency> out;
  check_roofs(evidence, work, budget, out);
  check_flop(evidence, work, out);
  check_hbm(evidence, work, out);
  check_rest(evidence, work, budget, out);
  check_collectives(evidence, work, out);
  check_trials(evidence, work, clues, out);
  check_products(evidence, out);
  return out;
}

}  // namespace ridgeline::diagnosis
