#include "workloads/model_spec.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace ridgeline::workloads {
namespace {

constexpr std::int64_t kLargest =
    1 << 22;  // of any dimension: far beyond every model, far below overflow
constexpr double kMostExpertElements = 1e18;  // of all experts together, far below overflow

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t embedding_copies(const ModelSpec& m) { return m.tied_embeddings ? 1 : 2; }

std::int64_t norm_elements(const ModelSpec& m, std::int64_t layers) {
  return 2 * layers * m.hidden;
}

/// Everything but embeddings and head.
std::int64_t elements_of_layers(const ModelSpec& m) {
  std::int64_t elements = m.layers * m.attention_elements() + norm_elements(m, m.layers) + m.hidden;
  elements += m.dense_layers() * m.dense_ffn_elements();
  elements += m.moe_layers() *
              ((m.moe.experts + m.moe.shared_experts) * m.expert_elements() + m.router_elements());
  return elements;
}

std::int64_t vocabulary_for(const ModelSpec& m, double parameters, const core::Reader& in) {
  const double rest = parameters - static_cast<double>(elements_of_layers(m));
  const double vocab = std::round(rest / static_cast<double>(embedding_copies(m) * m.hidden));
  constexpr double kFewest = 256.0;  // a byte-level vocabulary
  if (!(vocab >= kFewest && vocab <= static_cast<double>(kLargest))) {
    in.reject("parameters",
              "the layers alone hold " + std::to_string(elements_of_layers(m)) +
                  " parameters; what is left cannot be a vocabulary; give 'vocab' instead");
  }
  return static_cast<std::int64_t>(vocab);
}

/// Attention matrices of one layer on one of `tp` GPUs.
std::int64_t attention_elements_of(const ModelSpec& m, std::int64_t tp) {
  const std::int64_t heads = up(m.heads, tp);
  if (!m.is_latent()) {
    const std::int64_t q = heads * m.head_dim;
    return m.hidden * (q + 2 * m.kv_heads_per_gpu(tp) * m.head_dim) + q * m.hidden;
  }
  const LatentAttention& l = m.latent;
  const std::int64_t q = heads * (l.qk_nope_head_dim + l.qk_rope_head_dim);
  const std::int64_t queries =
      l.q_lora_rank > 0 ? m.hidden * l.q_lora_rank + l.q_lora_rank * q : m.hidden * q;
  return queries + m.hidden * (l.kv_lora_rank + l.qk_rope_head_dim) +
         l.kv_lora_rank * heads * (l.qk_nope_head_dim + l.v_head_dim) +
         heads * l.v_head_dim * m.hidden;
}

/// How many layers each pipeline stage has. What does not divide goes to the stages before the
/// last, which has the head besides (vLLM 0.10, distributed/utils.py, get_pp_indices).
std::vector<std::int64_t> stages_of(std::int64_t layers, std::int64_t pp) {
  std::vector<std::int64_t> stages(static_cast<std::size_t>(pp), layers / pp);
  const auto size = static_cast<std::int64_t>(stages.size());
  for (std::int64_t i = 0; i < layers % pp; ++i)
    ++stages[static_cast<std::size_t>(std::max<std::int64_t>(0, size - 2 - i))];
  return stages;
}

const std::vector<core::Choice<QuantizationMethod>>& method_names() {
  using M = QuantizationMethod;
  static const std::vector<core::Choice<M>> names{
      {"none", M::none},  {"fp8", M::fp8}, {"fp8_blockscale", M::fp8_blockscale},
      {"int8", M::int8},  {"awq", M::awq}, {"gptq", M::gptq},
      {"mxfp4", M::mxfp4}};
  return names;
}

const std::vector<core::Choice<WeightPart>>& part_names() {
  static const std::vector<core::Choice<WeightPart>> names{
      {"attention", WeightPart::attention},
      {"ffn", WeightPart::ffn},
      {"shared_experts", WeightPart::shared_experts},
      {"experts", WeightPart::experts},
      {"router", WeightPart::router},
      {"embeddings", WeightPart::embeddings},
      {"lm_head", WeightPart::lm_head}};
  return names;
}

/// Sets weights, math and quantization to what a method's name means.
void apply_method(QuantizationMethod method, ModelSpec& m) {
  Quantization q;
  q.method = method;
  m.weights = m.math = m.activations;
  switch (method) {
    case QuantizationMethod::none:
      break;
    case QuantizationMethod::fp8_blockscale:
      q.group_size = q.group_rows = 128;  // DeepSeek-V3, arXiv:2412.19437, section 3.3.2
      q.bits_per_group = 32.0;            // an fp32 scale
      [[fallthrough]];
    case QuantizationMethod::fp8:
      m.weights = m.math = hw::Dtype::fp8;
      break;
    case QuantizationMethod::int8:
      m.weights = m.math = hw::Dtype::int8;
      break;
    case QuantizationMethod::awq:
    case QuantizationMethod::gptq:
      m.weights = hw::Dtype::int4;
      q.group_size = 128;       // what nearly every checkpoint has
      q.bits_per_group = 20.0;  // an fp16 scale, a 4-bit zero point
      break;
    case QuantizationMethod::mxfp4:
      m.weights = hw::Dtype::fp4;
      q.group_size = 32;  // OCP Microscaling Formats 1.0: 32 elements and an E8M0 scale
      q.bits_per_group = 8.0;
      break;
  }
  m.quantization = q;
}

bool is_grouped_integer(QuantizationMethod method) {
  return method == QuantizationMethod::awq || method == QuantizationMethod::gptq;
}

void read_quantization(const core::Reader& in, ModelSpec& m) {
  for (const char* key : {"weights", "math"}) {
    if (in.has(key)) {
      in.reject(key,
                "given beside 'quantization', which says it; give one (the map "
                "{method: ..., math: ...} has a math of its own)");
    }
  }
  const core::Node* found = in.node().find("quantization");
  if (found->kind != core::Node::Kind::map) {
    apply_method(in.choice("quantization", method_names()), m);
    return;
  }
  const core::Reader map = in.child("quantization");
  apply_method(map.choice("method", method_names()), m);
  Quantization& q = m.quantization;
  if (q.method == QuantizationMethod::none) return;
  if (map.has("bits")) {
    map.require(is_grouped_integer(q.method), "bits", "no bits but with awq and gptq");
    const std::int64_t bits = map.integer("bits", 4, 8);
    map.require(bits == 4 || bits == 8, "bits", "4 or 8");
    m.weights = bits == 4 ? hw::Dtype::int4 : hw::Dtype::int8;
    q.bits_per_group = 16.0 + static_cast<double>(bits);
  }
  if (map.has("group_size")) {
    map.require(q.group_size > 0, "group_size", "no group_size but with a method that has groups");
    q.group_size = map.integer("group_size", 1, kLargest);
    if (q.group_rows > 1) q.group_rows = q.group_size;  // blocks are square
  }
  if (map.has("math")) m.math = map.choice("math", hw::dtype_names());
  if (map.has("keep")) {
    q.kept = WeightParts{};
    std::vector<std::string> known;
    for (const auto& part : part_names()) known.emplace_back(part.name);
    for (const std::string& word : map.words("keep")) {
      const auto part = std::find_if(part_names().begin(), part_names().end(),
                                     [&](const auto& p) { return p.name == word; });
      if (part == part_names().end())
        map.reject("keep", "unknown part '" + word + "'" + core::suggestion(word, known));
      q.kept.add(part->value);
    }
  }
}

void read_number_formats(const core::Reader& in, ModelSpec& m) {
  m.activations =
      in.has("activations") ? in.choice("activations", hw::dtype_names()) : hw::Dtype::bf16;
  if (in.has("quantization")) {
    read_quantization(in, m);
    return;
  }
  m.weights = in.has("weights") ? in.choice("weights", hw::dtype_names()) : m.activations;
  m.math = in.has("math") ? in.choice("math", hw::dtype_names()) : m.activations;
}

MixtureOfExperts read_moe(const core::Reader& in, const ModelSpec& m) {
  constexpr std::int64_t kMostExperts = 1 << 16;
  MixtureOfExperts moe;
  moe.experts = in.integer("experts", 1, kMostExperts);
  moe.experts_per_token = in.integer("experts_per_token", 1, moe.experts);
  if (in.has("shared_experts")) moe.shared_experts = in.integer("shared_experts", 0, kMostExperts);
  moe.ffn = in.integer("ffn", 1, kLargest);
  if (in.has("first_dense_layers"))
    moe.first_dense_layers = in.integer("first_dense_layers", 0, m.layers - 1);
  if (in.has("every")) moe.every = in.integer("every", 1, m.layers);
  const double elements = 3.0 * static_cast<double>(m.layers) * static_cast<double>(m.hidden) *
                          static_cast<double>(moe.ffn) *
                          static_cast<double>(moe.experts + moe.shared_experts);
  in.require(elements <= kMostExpertElements, "experts", "at most 1e18 parameters in all experts");
  return moe;
}

LatentAttention read_latent(const core::Reader& in) {
  constexpr std::int64_t kWidest = 1 << 16;
  LatentAttention latent;
  if (in.has("q_lora_rank")) latent.q_lora_rank = in.integer("q_lora_rank", 0, kWidest);
  latent.kv_lora_rank = in.integer("kv_lora_rank", 1, kWidest);
  latent.qk_nope_head_dim = in.integer("qk_nope_head_dim", 1, 4096);
  latent.qk_rope_head_dim = in.integer("qk_rope_head_dim", 1, 4096);
  latent.v_head_dim = in.integer("v_head_dim", 1, 4096);
  return latent;
}

SlidingWindow read_window(const core::Reader& in, const ModelSpec& m) {
  SlidingWindow window;
  window.tokens = in.integer("tokens", 1, 1 << 30);
  if (in.has("global_every")) window.global_every = in.integer("global_every", 2, m.layers);
  return window;
}

void read_attention(const core::Reader& in, ModelSpec& m) {
  m.heads = in.integer("heads", 1, 4096);
  if (in.has("latent_attention")) {
    m.latent = read_latent(in.child("latent_attention"));
    for (const char* key : {"kv_heads", "head_dim"}) {
      if (in.has(key)) in.reject(key, "given beside 'latent_attention', which says it");
    }
    m.kv_heads = m.heads;
    m.head_dim = m.latent.qk_nope_head_dim + m.latent.qk_rope_head_dim;
    return;
  }
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
}

}  // namespace

bool ModelSpec::is_moe_layer(std::int64_t layer) const {
  if (!has_experts() || layer < moe.first_dense_layers) return false;
  return (layer - moe.first_dense_layers) % moe.every == moe.every - 1;
}

std::int64_t ModelSpec::moe_layers() const {
  return has_experts() ? (layers - moe.first_dense_layers) / moe.every : 0;
}

std::int64_t ModelSpec::windowed_layers() const {
  if (window.tokens == 0) return 0;
  return window.global_every == 0 ? layers : layers - layers / window.global_every;
}

std::int64_t ModelSpec::attention_elements() const { return attention_elements_of(*this, 1); }

std::int64_t ModelSpec::dense_ffn_elements() const { return ffn_matrices() * hidden * ffn; }

std::int64_t ModelSpec::parameters() const {
  return elements_of_layers(*this) + embedding_copies(*this) * vocab * hidden;
}

std::int64_t ModelSpec::active_parameters() const {
  return parameters() - moe_layers() * (moe.experts - moe.experts_per_token) * expert_elements();
}

core::Bytes ModelSpec::element_bytes(WeightPart part) const {
  if (quantization.kept.contains(part)) return hw::bytes_of(activations);
  core::Bytes bytes = hw::bytes_of(weights);
  if (quantization.group_size > 0) {
    constexpr double kBitsPerByte = 8.0;
    bytes += core::Bytes{quantization.bits_per_group / kBitsPerByte /
                         static_cast<double>(quantization.group_size * quantization.group_rows)};
  }
  return bytes;
}

hw::Dtype ModelSpec::math_of(WeightPart part) const {
  return quantization.kept.contains(part) ? activations : math;
}

/// One of tp GPUs of a pipeline stage that has the layers [first, last).
core::Bytes ModelSpec::stage_bytes(std::int64_t first, std::int64_t last, std::int64_t tp,
                                   std::int64_t ep) const {
  std::int64_t dense = 0;
  for (std::int64_t layer = first; layer < last; ++layer) dense += is_moe_layer(layer) ? 0 : 1;
  const std::int64_t count = last - first;
  const std::int64_t sparse = count - dense;
  const std::int64_t matrices = ffn_matrices();
  const std::int64_t split = std::max<std::int64_t>(1, tp / ep);  // of one expert

  const auto part = [this](WeightPart p, std::int64_t elements) {
    return element_bytes(p) * static_cast<double>(elements);
  };
  core::Bytes bytes = part(WeightPart::attention, count * attention_elements_of(*this, tp));
  bytes += part(WeightPart::ffn, dense * matrices * hidden * up(ffn, tp));
  bytes += part(WeightPart::experts,
                sparse * up(moe.experts, ep) * matrices * hidden * up(moe.ffn, split));
  bytes += part(WeightPart::shared_experts,
                sparse * moe.shared_experts * matrices * hidden * up(moe.ffn, tp));
  bytes += part(WeightPart::router, sparse * router_elements());
  bytes += hw::bytes_of(activations) * static_cast<double>(norm_elements(*this, count));

  const std::int64_t table = up(vocab, tp) * hidden;
  const bool begins = first == 0;
  const bool ends = last == layers;
  if (begins) bytes += part(WeightPart::embeddings, table);
  if (ends) bytes += hw::bytes_of(activations) * static_cast<double>(hidden);  // the last norm
  // A head that is the embeddings again needs no copy of them, unless they are on another stage.
  if (ends && !(tied_embeddings && begins)) {
    bytes += part(tied_embeddings ? WeightPart::embeddings : WeightPart::lm_head, table);
  }
  return bytes;
}

core::Bytes ModelSpec::weight_bytes_per_gpu(std::int64_t tp, std::int64_t pp,
                                            std::int64_t ep) const {
  core::Bytes most{};
  std::int64_t first = 0;
  for (const std::int64_t count : stages_of(layers, pp)) {
    most = std::max(most, stage_bytes(first, first + count, tp, ep));
    first += count;
  }
  return most;
}

core::Bytes ModelSpec::kv_bytes_per_token(hw::Dtype kv_cache, std::int64_t tp) const {
  const std::int64_t elements = is_latent() ? latent.kv_lora_rank + latent.qk_rope_head_dim
                                            : 2 * kv_heads_per_gpu(tp) * head_dim;
  return hw::bytes_of(kv_cache) * static_cast<double>(layers * elements);
}

core::Bytes ModelSpec::kv_bytes_of_sequence(std::int64_t tokens, hw::Dtype kv_cache,
                                            std::int64_t tp) const {
  const core::Bytes layer = kv_bytes_per_token(kv_cache, tp) / static_cast<double>(layers);
  const std::int64_t seen = window.tokens == 0 ? tokens : std::min(tokens, window.tokens);
  return layer * static_cast<double>(global_layers() * tokens + windowed_layers() * seen);
}

ModelSpec read_model_spec(const core::Reader& in) {
  ModelSpec m;
  m.name = in.get<std::string>("name");
  m.layers = in.integer("layers", 1, 4096);
  m.hidden = in.integer("hidden", 1, kLargest);
  read_attention(in, m);
  if (in.has("moe")) m.moe = read_moe(in.child("moe"), m);
  // Where every layer has experts there is no other feedforward to describe.
  m.ffn = in.has("ffn") || !in.has("moe") || m.dense_layers() > 0 ? in.integer("ffn", 1, kLargest)
                                                                  : m.moe.ffn;
  if (in.has("sliding_window")) m.window = read_window(in.child("sliding_window"), m);
  m.qk_norm = in.get("qk_norm", false);
  m.qkv_bias = in.get("qkv_bias", false);
  m.tied_embeddings = in.get("tied_embeddings", false);
  m.feedforward = in.has("feedforward")
                      ? in.choice<Feedforward>("feedforward", {{"swiglu", Feedforward::swiglu},
                                                               {"geglu", Feedforward::swiglu},
                                                               {"gelu", Feedforward::gelu},
                                                               {"relu", Feedforward::gelu}})
                      : Feedforward::swiglu;
  m.norm = in.has("norm") ? in.choice<Norm>("norm", {{"rms", Norm::rms}, {"layer", Norm::layer}})
                          : Norm::rms;
  m.max_position = in.has("max_position") ? in.integer("max_position", 1, 1 << 30) : 131072;
  read_number_formats(in, m);

  if (in.has("vocab")) {
    m.vocab = in.integer("vocab", 1, kLargest);
    if (in.has("parameters"))
      in.reject("parameters", "given beside 'vocab'; one follows from the other, so give one");
  } else {
    const double stated = in.get<double>("parameters");
    m.vocab = vocabulary_for(m, stated, in);
  }
  // What people call it, and where the numbers come from: not the simulator's concern.
  for (const char* key : {"aliases", "sources"}) {
    if (in.has(key)) static_cast<void>(in.raw(key));
  }
  return m;
}

}  // namespace ridgeline::workloads
