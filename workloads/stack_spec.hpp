#pragma once
// The software between model and machine, one file in configs/stacks each: which kernels a model
// becomes (lowering), how good they are (efficiency), what launching them costs (launch), and what
// the server's host does between steps (host).

#include <cstdint>
#include <string>

#include "core/instant.hpp"
#include "core/reader.hpp"
#include "hw/kernel_cost.hpp"
#include "hw/launch_queue.hpp"

namespace ridgeline::workloads {

enum class PrefillAttention { fused, materialised };

struct Lowering {
  bool fused_qkv = true;         // one GEMM for queries, keys and values
  bool fused_gate_up = true;     // one GEMM for gate and up projections
  bool fused_activation = true;  // activation function and gate multiply in one kernel
  bool fused_add_norm = true;    // the residual add inside the following norm
  bool fused_rope_cache = true;  // rotary embedding and KV cache write in one kernel
  PrefillAttention prefill_attention = PrefillAttention::fused;
  bool kv_split = true;              // decode attention splits long contexts over more workgroups
  bool attention_together = false;   // a step's prefills and decodes in one attention kernel
  bool fused_qk_norm = false;        // norms of queries and keys inside the rotary embedding
  bool qk_copies = false;            // queries and keys copied out of the product before those
  bool fused_quant = true;           // activations quantized by the norm or activation before
  std::int64_t routing_kernels = 2;  // from an expert router's scores to sorted rows
  std::int64_t skinny_rows = 0;  // products of no more rows go to the machine's "skinny" kernels
  std::string gemm_library;      // flavour of the machine's matrix kernels, where it has that
  std::string collectives = "rccl";   // the library, one of the machine's interconnect
  bool norm_casts = false;            // norms run in fp32 between two casts, as under autocast
  std::int64_t sampling_kernels = 4;  // small kernels from logits to token
  bool operator==(const Lowering&) const = default;
};

/// Host work of a step outside the launches: scheduling and input preparation before, sampling and
/// detokenizing after.
struct HostSpec {
  core::Nanoseconds step;                // a step of any size
  core::Nanoseconds per_sequence;        // and every sequence in it
  core::Nanoseconds per_sequence_ahead;  // instead, of every step but the first of several that
                                         // are started at once
  core::Nanoseconds exposed;  // between two steps however far ahead they are planned: the last
                              // tokens' way to the next step's inputs
  bool operator==(const HostSpec&) const = default;

  /// Of one step, on average, when the host starts `at_once` of them together.
  [[nodiscard]] core::Nanoseconds time_for(std::int64_t sequences, std::int64_t at_once = 1) const {
    const core::Nanoseconds first = step + per_sequence * sequences;
    return {(first + per_sequence_ahead * (sequences * (at_once - 1))).count / at_once};
  }
};

struct StackSpec {
  std::string name;
  core::Bytes memory_overhead{};  // of the device: context, libraries, graph pools
  Lowering lowering;
  hw::EfficiencySpec efficiency;
  hw::LaunchSpec launch;
  HostSpec host;
  std::string scheduler = "vllm_v1";  // the engine's, unless it is told otherwise
  bool async_scheduling = true;       // likewise: it plans steps ahead
  bool graphs = true;  // decode steps are captured in graphs unless the engine enforces eager
  bool piecewise_graphs = false;  // all but attention of steps with prefills too: their rows are
                                  // padded to a captured size, up to the largest
  bool operator==(const StackSpec&) const = default;
};

[[nodiscard]] StackSpec read_stack_spec(const core::Reader& in);

}  // namespace ridgeline::workloads
