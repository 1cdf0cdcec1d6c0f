#pragma once
// A decoder transformer by its dimensions: dense or with a mixture of experts, grouped-query or
// latent attention, full or sliding windows, and the number formats its weights are stored and
// multiplied in. Multi-head attention is grouped-query attention with as many KV heads as heads.
// Left out: norms beyond two a layer, biases and learned positions (their bytes are nothing),
// vision towers, heads that predict several tokens, layers that are not attention (state spaces).

#include <cstdint>
#include <initializer_list>
#include <string>

#include "core/reader.hpp"
#include "core/units.hpp"
#include "hw/dtype.hpp"

namespace ridgeline::workloads {

/// swiglu: a gate, an up and a down matrix, whatever the gate's function (geglu is the same work).
/// gelu: an up and a down matrix.
enum class Feedforward { swiglu, gelu };
enum class Norm { rms, layer };

/// Experts behind a router; each is a gated feedforward of its own width.
struct MixtureOfExperts {
  std::int64_t experts = 0;  // routed; 0: the model is dense
  std::int64_t experts_per_token = 0;
  std::int64_t shared_experts = 0;  // every token passes these, beside the routed ones
  std::int64_t ffn = 0;             // width of one expert, routed or shared
  std::int64_t first_dense_layers = 0;
  std::int64_t every = 1;  // of the layers after those, every n-th has experts, the last of each n

  bool operator==(const MixtureOfExperts&) const = default;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): what is cached of a token is one
/// compressed vector and one rotated key for all heads.
struct LatentAttention {
  std::int64_t q_lora_rank = 0;   // 0: queries are not compressed
  std::int64_t kv_lora_rank = 0;  // 0: the model has ordinary attention
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t v_head_dim = 0;

  bool operator==(const LatentAttention&) const = default;
};

/// Layers that see only the newest tokens.
struct SlidingWindow {
  std::int64_t tokens = 0;        // 0: every layer sees everything
  std::int64_t global_every = 0;  // every n-th layer sees everything all the same; 0: none does

  bool operator==(const SlidingWindow&) const = default;
};

/// The kinds of matrices a model has, as far as their number formats can differ.
enum class WeightPart { attention, ffn, shared_experts, experts, router, embeddings, lm_head };

class WeightParts {
 public:
  constexpr WeightParts() = default;
  constexpr WeightParts(std::initializer_list<WeightPart> parts) {
    for (const WeightPart part : parts) add(part);
  }
  constexpr void add(WeightPart part) { bits_ |= bit(part); }
  [[nodiscard]] constexpr bool contains(WeightPart part) const { return (bits_ & bit(part)) != 0; }
  bool operator==(const WeightParts&) const = default;

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(WeightPart part) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(part);
  }
  std::uint32_t bits_ = 0;
};

/// fp8, int8: weights and activations, a scale a row or a matrix. fp8_blockscale: a scale for
/// 128x128 weights and for 128 activations. awq, gptq: weights only, a scale and a zero for a
/// group. mxfp4: 4-bit floats, 32 to a scale of 8 bits (OCP Microscaling Formats 1.0), weights only
/// unless `math` says otherwise.
enum class QuantizationMethod { none, fp8, fp8_blockscale, int8, awq, gptq, mxfp4 };

/// How the weights were quantized; their dtype and the rate they multiply at are the model's
/// `weights` and `math`.
struct Quantization {
  QuantizationMethod method = QuantizationMethod::none;
  std::int64_t group_size = 0;  // elements along the depth that share a scale; 0: all of them
  std::int64_t group_rows = 1;  // rows that share it
  double bits_per_group = 0.0;  // its scale and zero point; a scale for a whole row is nothing
  /// What stays in the activations' dtype.
  WeightParts kept{WeightPart::router, WeightPart::embeddings, WeightPart::lm_head};

  bool operator==(const Quantization&) const = default;
};

struct ModelSpec {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;  // with latent attention that of queries and keys, both parts
  std::int64_t ffn = 0;       // of a layer without experts; the experts' where every layer has them
  std::int64_t vocab = 0;
  bool tied_embeddings = false;
  Feedforward feedforward = Feedforward::swiglu;
  Norm norm = Norm::rms;
  std::int64_t max_position = 0;
  hw::Dtype weights = hw::Dtype::bf16;      // as stored
  hw::Dtype math = hw::Dtype::bf16;         // whose matrix rate the linear layers run at
  hw::Dtype activations = hw::Dtype::bf16;  // between kernels
  MixtureOfExperts moe{};
  LatentAttention latent{};
  SlidingWindow window{};
  bool qk_norm = false;   // queries and keys are normed before they are rotated
  bool qkv_bias = false;  // a fact: its bytes are not counted
  Quantization quantization{};

  bool operator==(const ModelSpec&) const = default;

  [[nodiscard]] std::int64_t q_dim() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t kv_dim() const { return kv_heads * head_dim; }

  [[nodiscard]] bool has_experts() const { return moe.experts > 0; }
  [[nodiscard]] bool is_latent() const { return latent.kv_lora_rank > 0; }
  /// Layers count from 0.
  [[nodiscard]] bool is_moe_layer(std::int64_t layer) const;
  [[nodiscard]] std::int64_t moe_layers() const;
  [[nodiscard]] std::int64_t dense_layers() const { return layers - moe_layers(); }
  /// Layers whose attention reaches back no further than the window, and all others.
  [[nodiscard]] std::int64_t windowed_layers() const;
  [[nodiscard]] std::int64_t global_layers() const { return layers - windowed_layers(); }

  /// Elements of the matrices of one layer; of `expert_elements`, one expert.
  [[nodiscard]] std::int64_t attention_elements() const;
  [[nodiscard]] std::int64_t dense_ffn_elements() const;
  [[nodiscard]] std::int64_t expert_elements() const { return ffn_matrices() * hidden * moe.ffn; }
  /// Up, down, and with a gated activation the gate.
  [[nodiscard]] std::int64_t ffn_matrices() const {
    return feedforward == Feedforward::swiglu ? 3 : 2;
  }
  [[nodiscard]] std::int64_t router_elements() const { return hidden * moe.experts; }
  /// Elements of the linear layers of one layer without experts.
  [[nodiscard]] std::int64_t linear_elements_per_layer() const {
    return attention_elements() + dense_ffn_elements();
  }
  /// All parameters, embeddings and norms included.
  [[nodiscard]] std::int64_t parameters() const;
  /// Those that one token is multiplied with: all but the experts it does not visit.
  [[nodiscard]] std::int64_t active_parameters() const;

  /// What an element of a part takes in memory, its share of the scales included.
  [[nodiscard]] core::Bytes element_bytes(WeightPart part) const;
  /// Whose matrix rate a part multiplies at.
  [[nodiscard]] hw::Dtype math_of(WeightPart part) const;
  [[nodiscard]] bool is_quantized(WeightPart part) const {
    return weights != activations && !quantization.kept.contains(part);
  }

  [[nodiscard]] core::Bytes weight_bytes() const { return weight_bytes_per_gpu(1, 1, 1); }
  /// Weights on the GPU that holds most of them. `tp` GPUs split every matrix (heads of queries;
  /// heads of keys and values as long as there are some to split, then copies; columns of the
  /// feedforward; rows of the vocabulary), `pp` stages share out the layers as vLLM does, and `ep`
  /// GPUs share out whole experts, which tp splits further only where it is larger. The compressing
  /// matrices of latent attention, routers and norms are on every GPU. Parts that do not divide are
  /// padded up.
  [[nodiscard]] core::Bytes weight_bytes_per_gpu(std::int64_t tp, std::int64_t pp,
                                                 std::int64_t ep) const;

  [[nodiscard]] std::int64_t kv_heads_per_gpu(std::int64_t tp) const {
    return (kv_heads + tp - 1) / tp;
  }
  /// Keys and values of one token in all layers on one of `tp` GPUs, as if no layer had a window.
  /// What latent attention caches serves all heads and is not split.
  [[nodiscard]] core::Bytes kv_bytes_per_token(hw::Dtype kv_cache, std::int64_t tp = 1) const;
  /// Keys and values that a sequence of so many tokens needs: a layer with a window no more than
  /// that.
  [[nodiscard]] core::Bytes kv_bytes_of_sequence(std::int64_t tokens, hw::Dtype kv_cache,
                                                 std::int64_t tp = 1) const;

 private:
  [[nodiscard]] core::Bytes stage_bytes(std::int64_t first, std::int64_t last, std::int64_t tp,
                                        std::int64_t ep) const;
};

/// Reads a model. A description that states its size but not its vocabulary (`parameters: 13e9`, no
/// `vocab`) gets the vocabulary that makes its dimensions add up to that size. `quantization` is a
/// method's name or a map {method, bits, group_size, math, keep}; it says what `weights` and `math`
/// are, which then cannot stand beside it.
[[nodiscard]] ModelSpec read_model_spec(const core::Reader& in);

}  // namespace ridgeline::workloads
