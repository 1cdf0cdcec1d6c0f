#include "workloads/lower_attention.hpp"

#include <algorithm>

#include "workloads/linear.hpp"

namespace ridgeline::workloads {
namespace {

using core::Bytes;
using core::Flop;
using hw::KernelKind;
using hw::KernelWork;

constexpr std::int64_t kMatrixRows =
    16;  // rows of the smallest MFMA tile: decode attention pads a query group to them

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Keys that a window hides are not read.
double seen(double context, double sequences, double window) {
  return window > 0.0 ? std::min(context, window * sequences) : context;
}

hw::AttentionQuery query_of(std::int64_t window, const HeadShape& heads, const KernelWork& work) {
  hw::AttentionQuery query;
  query.heads = heads.heads;
  query.kv_heads = heads.kv_heads;
  query.head_dim = heads.head_dim;
  query.v_head_dim = heads.v_head_dim;
  query.window = window;
  query.math = work.math;
  query.kv_read = work.stream_read;
  query.q_bytes = work.activation_read[0];
  query.o_bytes = work.activation_written;
  query.useful = work.useful;
  query.issued = work.issued;
  query.workgroups = work.workgroups;
  return query;
}

}  // namespace

void AttentionLowering::add(std::int64_t window, const HeadShape& heads,
                            hw::KernelProgram& program) const {
  const bool prefills = shape_.prefill_sequences > 0;
  const bool decodes = shape_.decode_sequences > 0;
  const bool fused = lowering_.prefill_attention == PrefillAttention::fused;
  if (prefills && decodes && fused && lowering_.attention_together) {
    program.add(together(window, heads));
    return;
  }
  if (prefills && fused) program.add(prefill(window, heads, prefill_cache(window, heads)));
  if (prefills && !fused) add_materialised(heads, program);
  if (decodes) program.add(decode(window, heads));
}

KernelWork AttentionLowering::prefill(std::int64_t window, const HeadShape& heads, Bytes kv) const {
  const double q = static_cast<double>(shape_.prefill_tokens);
  const double pairs = visible_pairs(window);
  KernelWork work;
  work.role = "prefill_attention";
  work.kind = KernelKind::attention_prefill;
  work.math = model_.activations;
  work.useful = Flop{heads.pair_flop() * pairs};
  // The diagonal blocks are computed whole.
  work.issued = Flop{heads.pair_flop() * std::min(static_cast<double>(shape_.prefill_qk),
                                                  pairs + 0.5 * kQueryBlock * q)};
  work.stream_read = kv;
  work.activation_read = {element_ * (q * heads.q_width())};
  work.activation_written = element_ * (q * heads.o_width());

  hw::AttentionQuery query = query_of(window, heads, work);
  query.phase = hw::AttentionPhase::prefill;
  query.sequences = static_cast<double>(shape_.prefill_sequences);
  query.new_tokens = q;
  query.qk = static_cast<double>(shape_.prefill_qk);
  query.qq = static_cast<double>(shape_.prefill_qq);
  query.context = static_cast<double>(shape_.prefill_context);
  work.operation = query;
  return work;
}

KernelWork AttentionLowering::decode(std::int64_t window, const HeadShape& heads) const {
  const double sequences = static_cast<double>(shape_.decode_sequences);
  const double context =
      seen(static_cast<double>(shape_.decode_context), sequences, static_cast<double>(window));
  const std::int64_t group = heads.heads / heads.kv_heads;
  // Queries of one sequence read the same keys, so they share a tile as the heads of a group do.
  const std::int64_t rows = up(group * shape_.tokens_per_decode, kMatrixRows) * kMatrixRows;
  const double each = static_cast<double>(shape_.tokens_per_decode);
  const double tokens = sequences * each;

  KernelWork work;
  work.role = "decode_attention";
  work.kind = KernelKind::attention_decode;
  work.math = model_.activations;
  // The last of a sequence's tokens sees all its keys, each before it one less.
  work.useful = Flop{heads.pair_flop() * (context * each - 0.5 * tokens * (each - 1.0))};
  work.issued =
      Flop{heads.pair_flop() * context} * (static_cast<double>(rows) / static_cast<double>(group));
  work.stream_read = heads.kv_token * context;
  work.activation_read = {element_ * (tokens * heads.q_width())};
  work.activation_written = element_ * (tokens * heads.o_width());
  work.workgroups = lowering_.kv_split ? 0.0 : sequences * static_cast<double>(heads.kv_heads);

  hw::AttentionQuery query = query_of(window, heads, work);
  query.phase = hw::AttentionPhase::decode;
  query.sequences = sequences;
  query.new_tokens = tokens;
  query.qq = tokens * each;
  query.context = context;
  query.qk = context * each;
  query.kv_split = lowering_.kv_split;
  if (shape_.decode_longest > 0)
    query.longest =
        seen(static_cast<double>(shape_.decode_longest), 1.0, static_cast<double>(window));
  work.operation = query;
  return work;
}

KernelWork AttentionLowering::together(std::int64_t window, const HeadShape& heads) const {
  KernelWork both = prefill(window, heads, prefill_cache(window, heads));
  const KernelWork decodes = decode(window, heads);
  both.role = "attention";
  both.operation = hw::AttentionPair{std::get<hw::AttentionQuery>(both.operation),
                                     std::get<hw::AttentionQuery>(decodes.operation)};
  both.useful += decodes.useful;
  both.issued += decodes.issued;
  both.stream_read += decodes.stream_read;
  both.activation_read[1] = decodes.activation_read[0];
  both.activation_written += decodes.activation_written;
  return both;
}

/// The whole rectangle is computed, written, normalised in place and read again; half of it is
/// masked away.
void AttentionLowering::add_materialised(const HeadShape& heads, hw::KernelProgram& program) const {
  const double q = static_cast<double>(shape_.prefill_tokens);
  const double qk = static_cast<double>(shape_.prefill_qk);
  const double pairs = visible_pairs(0);
  const Bytes queries = element_ * (q * heads.q_width());
  const Bytes cached = heads.kv_token * static_cast<double>(shape_.prefill_context);
  const Bytes scores = element_ * (static_cast<double>(heads.heads) * qk);
  const std::int64_t mean_k =
      std::max<std::int64_t>(1, shape_.prefill_context / shape_.prefill_sequences);
  const std::int64_t columns = mean_k * shape_.prefill_sequences;
  const std::int64_t mean_q = up(shape_.prefill_qk, columns);  // rounded up: no pair is lost
  const std::int64_t batch = heads.heads * shape_.prefill_sequences;

  KernelWork work;
  work.math = work.weights = model_.activations;
  work.transient = scores;
  work.role = "attention_scores";
  work.kind = KernelKind::attention_scores;
  work.gemm = {mean_q, mean_k, heads.head_dim, batch};
  work.useful = Flop{2.0 * heads.q_width() * pairs};
  work.stream_read = cached * 0.5;  // keys
  work.activation_read = {queries};
  work.stream_written = scores;
  program.add(work);

  KernelWork softmax;
  softmax.role = "softmax";
  softmax.kind = KernelKind::softmax;
  softmax.stream_read = scores;
  softmax.stream_written = scores;
  softmax.transient = scores;
  program.add(softmax);

  work.role = "attention_values";
  work.kind = KernelKind::attention_values;
  work.gemm = {mean_q, heads.v_head_dim, mean_k, batch};
  work.stream_read = scores + cached * 0.5;  // probabilities and values
  work.activation_read = {};
  work.stream_written = Bytes{};
  work.activation_written = queries;
  program.add(work);
}

Bytes AttentionLowering::prefill_cache(std::int64_t window, const HeadShape& heads) const {
  const double sequences = static_cast<double>(shape_.prefill_sequences);
  // The chunk's own keys and the window before its first token.
  const double reach = window > 0 ? static_cast<double>(window) +
                                        static_cast<double>(shape_.prefill_tokens) / sequences
                                  : 0.0;
  return heads.kv_token * seen(static_cast<double>(shape_.prefill_context), sequences, reach);
}

/// Pairs of a query and a key that it sees. Token i of a chunk of q that ends at context k sees
/// k - q + i keys: summed, q k - q (q - 1) / 2.
double AttentionLowering::visible_pairs(std::int64_t window_tokens) const {
  const double q = static_cast<double>(shape_.prefill_tokens);
  const double all =
      static_cast<double>(shape_.prefill_qk) - 0.5 * (static_cast<double>(shape_.prefill_qq) - q);
  if (window_tokens == 0) return all;
  const double window = static_cast<double>(window_tokens);
  const double n = static_cast<double>(shape_.prefill_sequences);
  const double end = static_cast<double>(shape_.prefill_context) / n;
  const double begin = end - q / n;
  const auto pairs_to = [window](double position) {
    return position <= window ? 0.5 * position * (position + 1.0)
                              : 0.5 * window * (window + 1.0) + (position - window) * window;
  };
  return std::min(all, n * (pairs_to(end) - pairs_to(begin)));
}

}  // namespace ridgeline::workloads
