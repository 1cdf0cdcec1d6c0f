#pragma once
// What one kernel asks of the machine: arithmetic, bytes, and how much of it can run side by side.
// No times: those are the machine's answer (hw/kernel_cost.hpp).

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "core/reader.hpp"
#include "core/units.hpp"
#include "hw/attention_cost.hpp"
#include "hw/collective_cost.hpp"
#include "hw/dtype.hpp"
#include "hw/moe_cost.hpp"

namespace ridgeline::hw {

enum class KernelKind : std::uint8_t {
  gemm,                // a linear layer
  attention_prefill,   // fused attention over new tokens (flash attention)
  attention_backward,  // its backward pass
  attention_decode,    // one new token a sequence against its paged KV cache
  attention_scores,    // materialised attention: Q K^T written out as a score matrix
  softmax,             // materialised attention: scores in, probabilities out
  attention_values,    // materialised attention: probabilities times V
  norm,
  elementwise,  // residual add, gate multiply, activation function
  rope,         // rotary embedding, with or without the KV cache write
  cache_write,
  cast,
  embedding,
  sampling,
  loss,
  quantize,  // activations into the number format of a product, with their scales
  routing,   // which experts a token visits, and in which order their rows stand
  experts,   // the grouped products of a mixture of experts
  collective,
  copy,  // a tensor into another layout
};
inline constexpr std::size_t kKernelKinds = 20;

/// In the order of the enum.
[[nodiscard]] const std::vector<core::Choice<KernelKind>>& kernel_kind_names();
[[nodiscard]] std::string_view name_of(KernelKind kind);

/// `batch` independent products of an m x k by a k x n matrix. For a linear layer m is tokens, n is
/// output features.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;

  bool operator==(const GemmShape&) const = default;
  [[nodiscard]] core::Flop flop() const {
    return core::Flop{2.0 * static_cast<double>(m) * static_cast<double>(n) *
                      static_cast<double>(k) * static_cast<double>(batch)};
  }
};

/// The kernel that runs a step's prefills and decodes at once, where attention kernels do that.
struct AttentionPair {
  AttentionQuery prefill;
  AttentionQuery decode;
};

/// One of the two grouped products of a layer's experts.
struct ExpertStage {
  MoeQuery query;
  bool down = false;  // else gate and up
};

struct CollectiveCall {
  CollectiveQuery query;
  std::string_view collectives;  // a library of the machine's interconnect; static storage
};

/// What kernels with a mechanism of their own are asked; every other kernel is a matrix product or
/// passes its bytes.
using Operation =
    std::variant<std::monostate, AttentionQuery, AttentionPair, ExpertStage, CollectiveCall>;

struct KernelWork {
  KernelKind kind = KernelKind::elementwise;
  std::string_view role;        // "q_proj"; static storage
  Dtype math = Dtype::fp16;     // whose matrix rate the arithmetic runs at
  GemmShape gemm;               // of gemm, attention_scores, attention_values; all zero otherwise
  Dtype weights = Dtype::fp16;  // of gemm: what its matrix is stored in, where narrower than `math`
  std::string_view flavour = {};  // of gemm: of its kernel library ("blockscale"); static storage
  Operation operation = {};
  core::Flop useful{};  // what the mathematics needs
  core::Flop issued{};  // what the instructions count, for kernels whose padding does not come from
                        // GEMM tiles
  core::Bytes stream_read{};     // weights, KV cache, score matrices: always from HBM
  core::Bytes stream_written{};  // likewise to HBM
  // Tensors handed from kernel to kernel. Those small enough stay in the last-level cache and never
  // reach HBM.
  std::array<core::Bytes, 2> activation_read{};
  core::Bytes activation_written{};
  core::Bytes transient{};  // memory it needs beyond weights, KV cache and its layer's activations,
                            // freed again when it ends
  double rows = 0.0;  // of the tensors that a small kernel passes, a workgroup each; 0 unknown
  double workgroups = 0.0;  // independent pieces of a kernel without GEMM shape; 0 means more than
                            // enough to fill the machine
};

}  // namespace ridgeline::hw
