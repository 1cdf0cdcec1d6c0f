// Attention kernels over a batch of equal sequences.

#include <algorithm>

#include "fidelity/operation.hpp"
#include "hw/attention_cost.hpp"

namespace ridgeline::fidelity {
namespace {

using core::Bytes;
using core::Flop;

struct Shape {
  hw::AttentionPhase phase = hw::AttentionPhase::prefill;
  double batch = 1.0;
  double queries = 1.0;  // new tokens of a sequence
  double keys = 1.0;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 128;
  bool causal = false;
};

Shape shape_of(const Row& row) {
  Shape s;
  const std::string_view phase = row.text("phase");
  if (phase == "bwd" || phase == "backward") {
    s.phase = hw::AttentionPhase::backward;
  } else if (phase == "decode") {
    s.phase = hw::AttentionPhase::decode;
  } else if (phase != "fwd" && phase != "forward" && phase != "prefill") {
    row.fail("phase", "fwd, bwd or decode");
  }
  s.batch = static_cast<double>(row.count("batch"));
  s.heads = row.count("q_heads");
  s.kv_heads = row.has("kv_heads") ? row.count("kv_heads") : s.heads;
  s.queries = static_cast<double>(row.count("seqlen_q"));
  s.keys = row.has("seqlen_kv") ? static_cast<double>(row.count("seqlen_kv")) : s.queries;
  s.head_dim = row.has("head_dim") ? row.count("head_dim") : 128;
  const std::string_view causal = row.text("causal");
  s.causal = causal == "1" || causal == "true" || causal == "True" || causal == "1.0";
  if (s.heads % s.kv_heads != 0) row.fail("kv_heads", "a divisor of q_heads");
  // One new token sees all keys, causal or not.
  if (s.phase == hw::AttentionPhase::decode || s.queries == 1.0) s.causal = false;
  if (s.causal && s.keys < s.queries)
    row.fail("seqlen_kv", "at least seqlen_q where a query sees what stands before it");
  return s;
}

/// Pairs of a query and a key that it sees, all heads and sequences.
double pairs_of(const Shape& s) {
  const double all = s.batch * static_cast<double>(s.heads) * s.queries * s.keys;
  if (!s.causal) return all;
  return all * (1.0 - 0.5 * (s.queries - 1.0) / s.keys);
}

Flop flop_of(const Shape& s) {
  const double products = s.phase == hw::AttentionPhase::backward ? 10.0 : 4.0;
  return Flop{products * static_cast<double>(s.head_dim) * pairs_of(s)};
}

Prediction predict_attention(const Row& row, Machines& machines) {
  const hw::GpuSpec& gpu = machine_of(row, machines);
  const NumberFormat format = number_format(row.text("dtype"));
  if (!gpu.supports(format.dtype))
    row.fail("dtype", "a number format that " + gpu.name + " multiplies");
  const Shape s = shape_of(row);
  const Bytes element = hw::bytes_of(format.dtype);
  const double dim = static_cast<double>(s.head_dim);

  hw::AttentionQuery query;
  query.phase = s.phase;
  query.heads = s.heads;
  query.kv_heads = s.kv_heads;
  query.head_dim = query.v_head_dim = s.head_dim;
  query.sequences = s.batch;
  query.new_tokens = s.batch * s.queries;
  query.qk = s.batch * s.queries * s.keys;
  query.qq = s.batch * s.queries * s.queries;
  query.context = s.batch * s.keys;
  query.causal = s.causal;
  query.math = format.dtype;
  const Bytes kv = element * (2.0 * s.batch * s.keys * static_cast<double>(s.kv_heads) * dim);
  const Bytes q = element * (s.batch * s.queries * static_cast<double>(s.heads) * dim);
  const bool backward = s.phase == hw::AttentionPhase::backward;
  // Backward: q, output and its gradient in with k and v; three gradients out.
  query.kv_read = backward ? Bytes{} : kv;
  query.kv_activations = backward ? kv : Bytes{};
  query.q_bytes = backward ? q * 3.0 : q;
  query.o_bytes = backward ? q + kv : q;
  query.useful = query.issued = flop_of(s);
  hw::AttentionSpec spec = gpu.attention;
  // Kernels that add up the query gradient in 16 bits say so in their name; 32 is the machine's.
  if (backward && spec.backward && row.text("kernel").find("a16") != std::string_view::npos)
    spec.backward->accumulator = core::Bytes{2.0};
  hw::AttentionEfficiency efficiency;
  if (const hw::AttentionKernel* kernel = spec.kernel_named(row.text("kernel")))
    efficiency.compute = kernel->rate;
  const hw::AttentionCost cost = hw::attention_cost(query, gpu, spec, efficiency);

  Prediction p;
  p.seconds = cost.time().value();
  p.spread = cost.spread;
  p.floor = std::max((query.useful / gpu.peak[format.dtype]).value(),
                     (query.kv_read / gpu.hbm.bandwidth).value());
  p.binds = cost.compute > cost.memory ? "compute" : "memory";
  if (!format.sure) p.flags.emplace_back("dtype unknown, taken as bf16");
  if (cost.extrapolated || gpu.borrowed) p.flags.emplace_back("extrapolated");
  return p;
}

std::string constants_of_attention(const Row& row, const hw::GpuSpec& gpu) {
  if (gpu.attention.kernel_named(row.text("kernel")) != nullptr) return "attention.kernels";
  switch (shape_of(row).phase) {
    case hw::AttentionPhase::prefill:
      return "attention.prefill";
    case hw::AttentionPhase::decode:
      return "attention.decode";
    case hw::AttentionPhase::backward:
      return "attention.backward";
  }
  return "attention";
}

std::optional<double> measured_attention(const Row& row) {
  for (const auto& [column, seconds] :
       {std::pair{"time_ms", 1e-3}, std::pair{"time_us", 1e-6}, std::pair{"median_us", 1e-6}}) {
    if (const auto time = row.maybe(column)) return *time * seconds;
  }
  if (const auto tflops = row.maybe("tflops"); tflops && *tflops > 0.0)
    return flop_of(shape_of(row)).value() / (*tflops * 1e12);
  return std::nullopt;
}

std::string group_of_attention(const Row& row) {
  return std::string(row.text("hw")) + " " + std::string(row.text("kernel")) + " " +
         std::string(row.text("phase"));
}

}  // namespace

const Operation kAttention{
    "attention",
    "hw, phase, dtype, batch, q_heads, seqlen_q [, kv_heads, seqlen_kv, head_dim, causal]",
    {"phase", "batch", "q_heads", "seqlen_q"},
    predict_attention,
    measured_attention,
    group_of_attention,
    constants_of_attention};

}  // namespace ridgeline::fidelity
