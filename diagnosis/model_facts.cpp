#include "diagnosis/model_facts.hpp"

namespace ridgeline::diagnosis {

Model model_facts(const workloads::ModelSpec& model, hw::Dtype kv_cache) {
  const auto count = [](std::int64_t n) { return read_exactly(static_cast<double>(n), "model"); };
  Model m;
  m.name = model.name;
  m.parameters = count(model.parameters());
  if (model.has_experts()) m.active_parameters = count(model.active_parameters());
  m.weight_bytes = read_exactly(model.weight_bytes().value(), "model");
  m.layers = count(model.layers);
  m.hidden = count(model.hidden);
  m.heads = count(model.heads);
  m.kv_heads = count(model.kv_heads);
  m.head_dim = count(model.head_dim);
  // Latent attention caches one vector for all heads: as many KV heads as would weigh as much.
  if (model.is_latent()) {
    m.kv_heads = read_exactly(
        static_cast<double>(model.latent.kv_lora_rank + model.latent.qk_rope_head_dim) /
            (2.0 * static_cast<double>(model.head_dim)),
        "model");
  }
  m.weight_dtype = model.weights;
  m.activation_dtype = model.math;  // quantized activations are those that products take
  m.kv_cache_dtype = kv_cache;
  return m;
}

}  // namespace ridgeline::diagnosis
