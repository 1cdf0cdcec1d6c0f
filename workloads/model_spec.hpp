#pragma once
// A dense decoder transformer by its dimensions. Multi-head attention is grouped-query attention
// with as many KV heads as heads. Left out so far: mixture of experts, latent attention, sliding
// windows, biases (their bytes are nothing).

#include <cstdint>
#include <string>

#include "core/reader.hpp"
#include "core/units.hpp"
#include "hw/dtype.hpp"

namespace ridgeline::workloads {

enum class Feedforward { swiglu, gelu };
enum class Norm { rms, layer };

struct ModelSpec {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;
  bool tied_embeddings = false;
  Feedforward feedforward = Feedforward::swiglu;
  Norm norm = Norm::rms;
  std::int64_t max_position = 0;
  hw::Dtype weights = hw::Dtype::bf16;      // as stored
  hw::Dtype math = hw::Dtype::bf16;         // whose matrix rate the linear layers run at
  hw::Dtype activations = hw::Dtype::bf16;  // between kernels

  bool operator==(const ModelSpec&) const = default;

  [[nodiscard]] std::int64_t q_dim() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t kv_dim() const { return kv_heads * head_dim; }
  /// Elements of the linear layers of one layer.
  [[nodiscard]] std::int64_t linear_elements_per_layer() const;
  /// All parameters, embeddings and norms included.
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] core::Bytes weight_bytes() const;
  /// Keys and values of one token in all layers.
  [[nodiscard]] core::Bytes kv_bytes_per_token(hw::Dtype kv_cache) const;
};

/// Reads a model. A description that states its size but not its vocabulary (`parameters: 13e9`, no
/// `vocab`) gets the vocabulary that makes its dimensions add up to that size.
[[nodiscard]] ModelSpec read_model_spec(const core::Reader& in);

}  // namespace ridgeline::workloads
