#include "diagnosis/work.hpp"

#include <algorithm>
#include <cmath>

#include "diagnosis/complete.hpp"

namespace ridgeline::diagnosis {
namespace {

/// Widths of dense decoder layers stand in a steady proportion to their number, about 128 to one,
/// and a layer holds 12 width^2 parameters. Good to some 10 % for models from 1 B to 100 B.
constexpr double kWidthPerLayer = 128.0;
constexpr double kParametersPerWidthSquared = 12.0;
/// Grouped heads shrink the KV cache of a multi-head model by up to this.
constexpr double kMostGrouping = 8.0;

/// Tokens of prompts among all tokens, and their common rate.
void find_token_rate(const Evidence& e, Work& w) {
  const Serving& s = e.serving;
  if (s.prompt_tokens && s.output_tokens)
    w.prompt_share = s.prompt_tokens->best / (s.prompt_tokens->best + s.output_tokens->best);
  w.token_rate = e.measured.total_throughput;
  if (!w.token_rate && s.prompt_tokens && s.output_tokens) {
    w.token_rate =
        e.measured.throughput * Maybe((*s.prompt_tokens + *s.output_tokens) / *s.output_tokens);
  }
}

Window window_of(const Evidence& e) {
  if (e.profile.window) return *e.profile.window;
  if (e.serving.microbatch || e.serving.sequence_tokens) return Window::training;
  const auto& m = e.measured;
  // Kernels by themselves, and nothing of a server around them.
  const bool server_times = m.throughput || m.throughput_per_sequence || m.itl || m.step_time ||
                            m.ttft || m.requests_per_second || m.total_throughput || m.latency;
  const bool timed = std::all_of(e.kernels.begin(), e.kernels.end(),
                                 [](const KernelRow& row) { return row.time.has_value(); });
  if (!e.kernels.empty() && timed && !server_times && e.trials.empty()) return Window::kernel;
  const bool decode_rates = m.throughput || m.throughput_per_sequence || m.itl || m.step_time;
  if (!m.ttft) {
    // One token of output is the end of a prefill.
    return best_or(e.serving.output_tokens, 2.0) < 1.5 ? Window::prefill : Window::decode;
  }
  if (!decode_rates) return Window::prefill;
  // Both were measured: the one that a request spends longer in.
  const Maybe decoding =
      m.itl ? m.itl * e.serving.output_tokens : e.serving.output_tokens / m.throughput_per_sequence;
  return decoding && m.ttft->best > decoding->best ? Window::prefill : Window::decode;
}

/// Of a decode step that a profile shows, by a rate that people measured: the server reads prompts
/// between such steps, and so much of an answer's time is theirs. The rate of a single sequence is
/// mostly stated as that of its decoding.
Maybe time_between_prompts(const Evidence& e, const Work& w) {
  const Maybe& rate = e.measured.throughput;
  const Serving& s = e.serving;
  if (!rate || rate->origin != Origin::given || !w.sequences || w.sequences->best < 1.5 ||
      e.engine.accepted_tokens || e.profile.window != Window::decode || !s.prompt_tokens ||
      !s.output_tokens)
    return std::nullopt;
  constexpr double kUsuallyOfPeak = 0.4;  // prompts of some hundred tokens and more
  constexpr double kLeast = 0.5;          // where prompts took more, decode steps are not profiled
  const Value whole = *w.sequences / *rate;
  const double prompts =
      2.0 / kUsuallyOfPeak *
      best_or(w.sequences * s.prompt_tokens / s.output_tokens * w.parameters / w.peak, 0.0);
  const double best = std::max(whole.best - prompts, kLeast * whole.best);
  return computed("an answer's time over its tokens, without the prompts read meanwhile",
                  {std::min(whole.low(), best), whole.high()}, best, Origin::derived,
                  {whole, *s.prompt_tokens, *s.output_tokens});
}

Maybe time_of_unit(const Evidence& e, const Work& w) {
  const auto& m = e.measured;
  switch (w.window) {
    case Window::prefill: {
      // A server that only reads prompts finishes one after the other, however they overlap.
      // Behind a queue its time to first token is that of all before it.
      const bool queue =
          best_or(e.serving.waiting, 0.0) >= 1.0 ||
          best_or(e.serving.request_rate, 0.0) > 1.05 * best_or(m.requests_per_second, 1e300);
      const Maybe each = Maybe(1.0) / m.requests_per_second;
      if (m.step_time) return m.step_time;
      return queue && each ? each : either(m.ttft, each);
    }
    case Window::training:
      return either(m.step_time, w.tokens / m.throughput);
    case Window::kernel: {
      Maybe sum;
      for (const KernelRow& row : e.kernels) {
        if (row.time) sum = sum ? sum + row.time : row.time;
      }
      return sum;
    }
    case Window::decode:
      break;
  }
  if (m.step_time) return m.step_time;
  // A pass that guesses and checks yields several tokens.
  const Maybe each_pass = e.engine.accepted_tokens.value_or(Value(1.0));
  if (m.throughput_per_sequence)
    return e.engine.accepted_tokens ? each_pass / m.throughput_per_sequence
                                    : Maybe(1.0) / m.throughput_per_sequence;
  if (const Maybe time = time_between_prompts(e, w)) return time;
  if (m.throughput && w.sequences)
    return e.engine.accepted_tokens ? each_pass * w.sequences / m.throughput
                                    : w.sequences / m.throughput;
  return e.engine.accepted_tokens ? each_pass * m.itl : m.itl;
}

void find_shape(const Evidence& e, Work& w) {
  const Model& m = e.model;
  w.dtype = arithmetic_dtype(m);
  const Value devices = e.machine.devices.value_or(Value(1.0));
  w.bandwidth = e.machine.hbm_bandwidth * Maybe(devices);
  w.peak = peak_of(e.machine, w.dtype) * Maybe(devices);
  w.link = e.machine.link_bandwidth;
  if (!w.link && e.machine.link_rate > 0.0) {
    const double links = e.machine.linked_in_pairs ? std::max(devices.best - 1.0, 1.0) : 1.0;
    w.link = read_exactly(e.machine.link_rate * links, "machine");
  }

  const double bytes_each = m.weight_dtype ? hw::bytes_of(*m.weight_dtype).value() : 2.0;
  w.weight_bytes = m.weight_bytes;
  if (!w.weight_bytes && m.parameters) {
    w.weight_bytes = *m.parameters * Value(bytes_each);
    if (!m.weight_dtype) w.weight_bytes = w.weight_bytes->as(Origin::assumed);
  }
  w.parameters = either(m.active_parameters, m.parameters);
  if (!w.parameters && w.weight_bytes) {
    w.parameters = *w.weight_bytes / Value(bytes_each);
    if (!m.weight_dtype) w.parameters = w.parameters->as(Origin::assumed);
  }

  w.host_bytes = e.memory.host_weight_bytes;
  if (!w.host_bytes && e.engine.gpu_layers && w.weight_bytes)
    w.host_bytes = (Value(1.0) - *e.engine.gpu_layers) * *w.weight_bytes;
  if (e.engine.gpu_layers && w.weight_bytes)
    w.weight_bytes = *w.weight_bytes * *e.engine.gpu_layers;
  else if (w.host_bytes && w.weight_bytes)
    w.weight_bytes = (*w.weight_bytes - *w.host_bytes).clamped(0.0, w.weight_bytes->high());
  w.weights_read = w.weight_bytes;

  const double kv_bytes = m.kv_cache_dtype ? hw::bytes_of(*m.kv_cache_dtype).value() : 2.0;
  const Maybe head_dim = either(m.head_dim, m.hidden / m.heads);
  w.kv_per_token = Maybe(2.0 * kv_bytes) * m.layers * either(m.kv_heads, m.heads) * head_dim;
  if (!w.kv_per_token && e.serving.kv_bytes_per_sequence && e.serving.context_tokens) {
    w.kv_per_token = e.serving.kv_bytes_per_sequence / e.serving.context_tokens;
  }
  if (!w.kv_per_token && m.parameters) {
    const double layers = std::cbrt(m.parameters->best /
                                    (kParametersPerWidthSquared * kWidthPerLayer * kWidthPerLayer));
    const double most = 2.0 * kv_bytes * layers * kWidthPerLayer * layers;
    w.kv_per_token = Value({most / kMostGrouping, most}, most / kMostGrouping, Origin::assumed,
                           "a dense model of this size without grouped heads");
  }
}

void find_tokens(const Evidence& e, Work& w) {
  const Serving& s = e.serving;
  switch (w.window) {
    case Window::prefill:
      w.tokens = s.prompt_tokens;
      return;
    case Window::training:
      w.tokens = s.microbatch * s.sequence_tokens *
                 Maybe(e.machine.devices.value_or(Value(1.0)));  // a microbatch is one device's
      return;
    case Window::kernel:
      return;
    case Window::decode:
      break;
  }
  w.sequences = s.concurrency;
  // More clients than the engine admits wait; they are not in its steps.
  if (w.sequences && e.engine.max_num_seqs && e.engine.max_num_seqs->best < w.sequences->best)
    w.sequences = e.engine.max_num_seqs;
  if (!w.sequences && s.arrivals == Arrivals::one_at_a_time)
    w.sequences = Value(1.0).as(Origin::derived);
  if (!w.sequences) w.sequences = e.measured.throughput / e.measured.throughput_per_sequence;
  if (!w.sequences && e.measured.itl) w.sequences = e.measured.throughput * e.measured.itl;
  w.riding = s.prefill_tokens_per_step;
  if (!w.riding && e.measured.throughput && s.arrivals != Arrivals::one_at_a_time &&
      best_or(w.sequences, 2.0) > 1.5 && e.profile.window != Window::decode) {
    // Every answer came from a prompt that the same server read: on average they share the steps in
    // proportion.
    w.riding = w.sequences * s.prompt_tokens / s.output_tokens;
  }
  w.tokens = w.riding ? w.sequences + w.riding : w.sequences;
  w.context = s.context_tokens;
  if (!w.context && s.prompt_tokens && s.output_tokens) {
    w.context = *s.prompt_tokens + *s.output_tokens / Value(2.0);  // halfway through the answer
  }
}

/// Experts that at least one of the tokens chose, were choices even: 1 - (1 - k/E)^tokens of them.
/// Skew makes them fewer.
void find_weights_read(const Evidence& e, Work& w) {
  const Maybe chosen = e.model.active_parameters / e.model.parameters;
  if (!chosen || !w.weight_bytes || chosen->best >= 1.0) return;
  const double tokens = best_or(w.tokens, 1.0);
  const auto read = [&](double share) {
    return 1.0 - std::pow(1.0 - std::clamp(share, 0.0, 1.0), tokens);
  };
  const Value share =
      computed("the experts that some token chose, were choices even: 1 - (1 - k/E)^tokens",
               {std::min(chosen->low(), read(chosen->low())), std::min(1.0, read(chosen->high()))},
               read(chosen->best), Origin::derived, {*chosen, w.tokens.value_or(Value(1.0))});
  w.weights_read = *w.weight_bytes * share;
}

void find_arithmetic(const Evidence& e, Work& w) {
  const Model& m = e.model;
  if (w.window == Window::kernel) {
    Maybe flop;
    for (const KernelRow& row : e.kernels) {
      if (row.flop) flop = flop ? flop + row.flop : row.flop;
    }
    w.flop = flop;
    return;
  }
  const double passes = w.window == Window::training ? 3.0 : 1.0;  // backward is two more
  w.linear_flop = Maybe(2.0 * passes) * w.parameters * w.tokens;
  const Maybe width = either(m.heads * m.head_dim, m.hidden);
  const Maybe per_pair =
      Maybe(4.0 * passes) * m.layers * width;  // scores and their product with V, two FLOP each
  if (w.window == Window::decode) {
    w.attention_flop = per_pair * w.sequences * w.context;
    w.attention_flop_square = w.attention_flop;
  } else {
    const Maybe length = w.window == Window::training ? e.serving.sequence_tokens : w.tokens;
    w.attention_flop_square = per_pair * w.tokens * length;
    w.attention_flop = w.attention_flop_square * Maybe(0.5);  // the causal mask leaves half
    if (w.window == Window::prefill) {
      w.score_bytes = Maybe(2.0) * m.heads * w.tokens * length;
      // Half of the matrix or twice of it would be another story; a workspace beside it is not.
      const Maybe ratio = e.profile.transient / w.score_bytes;
      w.materialised = ratio && ratio->low() < 1.25 && ratio->high() > 0.8;
    }
  }
  w.flop = w.attention_flop ? w.linear_flop + w.attention_flop : w.linear_flop;
}

/// KV memory there is, and what the sequences that are to run together would need.
void find_room(const Evidence& e, Work& w) {
  w.kv_room = either(e.memory.kv_bytes, e.memory.kv_tokens * w.kv_per_token);
  if (!w.kv_room && e.machine.hbm_capacity && w.weight_bytes) {
    // Engines leave a tenth of the memory alone and need some for activations.
    constexpr core::Interval kUsed{0.8, 0.92};
    const Value all = *e.machine.hbm_capacity * e.machine.devices.value_or(Value(1.0)) *
                      Value(kUsed, Origin::assumed);
    w.kv_room = (all - *w.weight_bytes).clamped(0.0, all.high());
  }
  const Maybe per_sequence = either(e.serving.kv_bytes_per_sequence, w.kv_per_token * w.context);
  const bool shape_known = per_sequence && per_sequence->origin != Origin::assumed;
  if (w.kv_room && w.kv_room->best > 0.0 && shape_known && e.serving.concurrency)
    w.kv_demand = *e.serving.concurrency * *per_sequence / *w.kv_room;
}

void find_traffic(const Evidence& e, Work& w) {
  if (w.window == Window::kernel) {
    Maybe bytes;
    for (const KernelRow& row : e.kernels) {
      if (row.bytes && row.group != KernelGroup::collective)
        bytes = bytes ? bytes + row.bytes : row.bytes;
    }
    w.bytes = bytes;
    return;
  }
  if (w.window == Window::decode) {
    const Maybe per_sequence = either(e.serving.kv_bytes_per_sequence, w.kv_per_token * w.context);
    w.kv_expected = w.sequences * per_sequence;
  }
  w.kv_read = w.kv_expected;
  const Maybe counted = e.profile.hbm_fraction * w.bandwidth * w.time;
  // How many experts were chosen is an estimate; the counter saw what was read of them.
  if (counted && w.weights_read && e.model.active_parameters && w.window == Window::decode &&
      counted->best < w.weights_read->best) {
    const double low = std::min(w.weights_read->low(), counted->best);
    w.weights_read = computed("no more of the experts than the counter of HBM saw",
                              {low, std::max(low, counted->high())}, counted->best, Origin::derived,
                              {*w.weights_read, *counted});
  }
  // Embedding tables are hardly read and caches help a little: a counter this near the expected
  // bytes agrees with them.
  constexpr double kAgrees = 0.95;
  // Contexts read off a timeline are those of the very steps, and a counter cannot make them
  // shorter.
  const bool contexts_read = e.serving.context_tokens &&
                             e.serving.context_tokens->origin == Origin::read &&
                             e.serving.concurrency && e.serving.concurrency->origin == Origin::read;
  const bool agrees = counted && w.weights_read && w.kv_expected &&
                      w.kv_expected->origin != Origin::assumed &&
                      counted->high() >= kAgrees * (w.weights_read->low() + w.kv_expected->low());
  if (counted && w.weights_read && w.window == Window::decode && !agrees && !contexts_read) {
    // What the counter saw beyond the weights bounds the KV bytes, however long the contexts are
    // said to be.
    const Value rest = (*counted - *w.weights_read).clamped(0.0, counted->high());
    // A KV cache is no larger than the memory it lies in: what exceeds that is read twice.
    const Maybe memory = e.machine.hbm_capacity * Maybe(e.machine.devices.value_or(Value(1.0)));
    const bool can_be_kv = !memory || rest.low() <= memory->high();
    const Maybe both = w.kv_expected ? overlap(*w.kv_expected, rest) : std::nullopt;
    if (!can_be_kv) {
      w.kv_read = w.kv_expected;
    } else if (both) {
      w.kv_read = both;
    } else if (!w.kv_expected || rest.high() < w.kv_expected->low()) {
      w.kv_read = rest.as(Origin::derived);
    }
  }
  w.bytes = w.kv_read ? w.weights_read + w.kv_read : w.weights_read;
  const Maybe stated = w.kv_expected ? w.weights_read + w.kv_expected : w.weights_read;
  w.hbm_expected = stated / (w.bandwidth * w.time);
}

/// Rows up to a tile of the next power of two, 16 at least and 256 at most, are multiplied as if
/// they were full.
double padding_of(double rows) {
  double tile = 16.0;
  while (tile < 2.0 * rows && tile < 256.0) tile *= 2.0;
  return std::ceil(rows / tile) * tile / rows;
}

/// Compares the FLOP counter with the tokens known. Padding can explain an excess up to its bound;
/// beyond it, in a server that batches continuously, the step must have carried tokens that nobody
/// counted.
void explain_flop(const Evidence& e, Work& w) {
  w.flop_expected = w.flop / (w.peak * w.time);
  if (!w.flop_expected && w.window == Window::decode && w.parameters) {
    // No step is known, but the rate of tokens is: output, and the prompts that it took.
    const Maybe prompts = e.serving.prompt_tokens / e.serving.output_tokens;
    const Value per_output = prompts ? Value(1.0) + *prompts : Value(1.0);
    const Maybe rate = either(e.measured.throughput * Maybe(per_output), w.token_rate);
    w.flop_expected = rate * Maybe(Value(2.0) * *w.parameters) / w.peak;
  }
  const Maybe counted = e.profile.flop_fraction;
  if (!counted || !w.flop_expected || !w.tokens || !w.linear_flop || !w.time) return;
  const double rows = best_or(e.profile.gemm_rows, w.tokens->best);
  w.padding = padding_of(std::max(rows, 1.0));
  const Value ratio = *counted / *w.flop_expected;
  constexpr double kClose = 1.1;  // a tenth is within what 2 FLOP per parameter leaves out
  if (ratio.low() <= kClose) return;
  if (ratio.low() <= w.padding * kClose) {
    w.excess = FlopExcess::padding;
    return;
  }
  if (w.window == Window::decode && !e.profile.gemm_rows && !w.riding &&
      e.serving.arrivals != Arrivals::one_at_a_time && w.tokens->best > 1.0) {
    w.excess = FlopExcess::prompt_tokens;
    w.tokens_implied = *counted * *w.peak * *w.time / (Value(2.0) * *w.parameters);
    w.riding = (*w.tokens_implied - *w.sequences).clamped(0.0, w.tokens_implied->high());
    w.tokens = w.tokens_implied;
    w.linear_flop = Value(2.0) * *w.parameters * *w.tokens_implied;
    w.flop = *counted * *w.peak * *w.time;
    return;
  }
  w.excess = FlopExcess::unexplained;
}

Phase phase_of(const Work& w) {
  if (w.window == Window::training) return Phase::training;
  if (w.window == Window::kernel) return Phase::kernel;
  if (w.window == Window::prefill) return Phase::prefill;
  constexpr double kAFew = 0.15;  // prompt tokens below this share leave a step what it was
  if (w.prompt_share > kMostlyPrompts && w.token_rate && !w.time) return Phase::prefill;
  if (w.riding && w.tokens && w.riding->best > kAFew * w.tokens->best) return Phase::mixed;
  return Phase::decode;
}

}  // namespace

Work work_of(const Evidence& evidence) {
  Work w;
  w.window = window_of(evidence);
  find_token_rate(evidence, w);
  find_shape(evidence, w);
  find_tokens(evidence, w);
  find_weights_read(evidence, w);
  w.time = time_of_unit(evidence, w);
  find_arithmetic(evidence, w);
  find_traffic(evidence, w);
  find_room(evidence, w);
  explain_flop(evidence, w);
  w.phase = phase_of(w);
  return w;
}

}  // namespace ridgeline::diagnosis
