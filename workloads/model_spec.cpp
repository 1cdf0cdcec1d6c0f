#include "workloads/model_spec.hpp"

#include <cmath>

namespace ridgeline::workloads {
namespace {

constexpr std::int64_t kLargest =
    1 << 22;  // of any dimension: far beyond every model, far below overflow

std::int64_t norm_elements(const ModelSpec& m) { return (2 * m.layers + 1) * m.hidden; }
std::int64_t embedding_copies(const ModelSpec& m) { return m.tied_embeddings ? 1 : 2; }

std::int64_t vocabulary_for(const ModelSpec& m, double parameters, const core::Reader& in) {
  const double rest =
      parameters - static_cast<double>(m.layers * m.linear_elements_per_layer() + norm_elements(m));
  const double vocab = std::round(rest / static_cast<double>(embedding_copies(m) * m.hidden));
  constexpr double kFewest = 256.0;  // a byte-level vocabulary
  if (!(vocab >= kFewest && vocab <= static_cast<double>(kLargest))) {
    in.reject("parameters",
              "the layers alone hold " +
                  std::to_string(m.layers * m.linear_elements_per_layer() + norm_elements(m)) +
                  " parameters; what is left cannot be a vocabulary; give 'vocab' instead");
  }
  return static_cast<std::int64_t>(vocab);
}

}  // namespace

std::int64_t ModelSpec::linear_elements_per_layer() const {
  const std::int64_t attention = hidden * (q_dim() + 2 * kv_dim()) + q_dim() * hidden;
  const std::int64_t matrices = feedforward == Feedforward::swiglu ? 3 : 2;
  return attention + matrices * hidden * ffn;
}

std::int64_t ModelSpec::parameters() const {
  return layers * linear_elements_per_layer() + norm_elements(*this) +
         embedding_copies(*this) * vocab * hidden;
}

core::Bytes ModelSpec::weight_bytes() const {
  // Only the linear layers are quantized; embeddings, head and norms stay in the activations'
  // dtype.
  const auto linear = static_cast<double>(layers * linear_elements_per_layer());
  const auto rest = static_cast<double>(parameters()) - linear;
  return hw::bytes_of(weights) * linear + hw::bytes_of(activations) * rest;
}

core::Bytes ModelSpec::kv_bytes_per_token(hw::Dtype kv_cache) const {
  return hw::bytes_of(kv_cache) * static_cast<double>(2 * layers * kv_dim());
}

ModelSpec read_model_spec(const core::Reader& in) {
  ModelSpec m;
  m.name = in.get<std::string>("name");
  m.layers = in.integer("layers", 1, 4096);
  m.hidden = in.integer("hidden", 1, kLargest);
  m.heads = in.integer("heads", 1, 4096);
  m.kv_heads = in.has("kv_heads") ? in.integer("kv_heads", 1, m.heads) : m.heads;
  in.require(m.heads % m.kv_heads == 0, "kv_heads",
             "a divisor of heads (" + std::to_string(m.heads) + ")");
  if (in.has("head_dim")) {
    m.head_dim = in.integer("head_dim", 1, 4096);
  } else {
    in.require(m.hidden % m.heads == 0, "heads",
               "a divisor of hidden (" + std::to_string(m.hidden) + "), or a head_dim");
    m.head_dim = m.hidden / m.heads;
  }
  m.ffn = in.integer("ffn", 1, kLargest);
  m.tied_embeddings = in.get("tied_embeddings", false);
  m.feedforward = in.has("feedforward")
                      ? in.choice<Feedforward>("feedforward", {{"swiglu", Feedforward::swiglu},
                                                               {"gelu", Feedforward::gelu}})
                      : Feedforward::swiglu;
  m.norm = in.has("norm") ? in.choice<Norm>("norm", {{"rms", Norm::rms}, {"layer", Norm::layer}})
                          : Norm::rms;
  m.max_position = in.has("max_position") ? in.integer("max_position", 1, 1 << 30) : 131072;

  m.activations =
      in.has("activations") ? in.choice("activations", hw::dtype_names()) : hw::Dtype::bf16;
  m.weights = in.has("weights") ? in.choice("weights", hw::dtype_names()) : m.activations;
  m.math = in.has("math") ? in.choice("math", hw::dtype_names()) : m.activations;

  if (in.has("vocab")) {
    m.vocab = in.integer("vocab", 1, kLargest);
    if (in.has("parameters"))
      in.reject("parameters", "given beside 'vocab'; one follows from the other, so give one");
  } else {
    const double stated = in.get<double>("parameters");
    m.vocab = vocabulary_for(m, stated, in);
  }
  if (in.has("sources")) static_cast<void>(in.raw("sources"));
  return m;
}

}  // namespace ridgeline::workloads
