#include "workloads/lower_inference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "workloads/linear.hpp"
#include "workloads/lower_attention.hpp"

namespace ridgeline::workloads {
namespace {

using core::Bytes;
using core::Flop;
using hw::KernelKind;
using hw::KernelWork;

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Of a layer, all that its kernels depend on.
struct LayerKind {
  bool experts = false;
  bool windowed = false;
  bool operator==(const LayerKind&) const = default;
};

class InferenceLowering {
 public:
  InferenceLowering(const ModelSpec& model, const Lowering& lowering,
                    const Parallelism& parallelism, hw::Dtype kv_cache, const StepShape& shape,
                    std::int64_t padded_tokens, hw::KernelProgram& program)
      : model_(model),
        lowering_(lowering),
        parallelism_(parallelism),
        shape_(shape),
        program_(program),
        attention_(model, lowering, shape),
        tp_(parallelism.tensor),
        rows_(padded_tokens),
        tokens_(static_cast<double>(padded_tokens)),
        element_(hw::bytes_of(model.activations)),
        cache_element_(hw::bytes_of(kv_cache)),
        heads_(up(model.heads, tp_)),
        kv_heads_(model.kv_heads_per_gpu(tp_)),
        ffn_(up(model.ffn, tp_)) {}

  void write() {
    program_.begin_segment(1);
    // A row of the table a token, in no order that a cache could use.
    pass("embedding", KernelKind::embedding, {}, hidden()).stream_read = hidden();
    all_reduce("embedding_reduce");
    layers();
    if (parallelism_.pipeline > 1) {
      program_.begin_segment(parallelism_.pipeline - 1);
      collective("stage_send", hw::CollectiveKind::send, 2, hidden());
    }
    program_.begin_segment(1);
    head();
  }

 private:
  // -- tensors

  [[nodiscard]] Bytes tensor(std::int64_t width) const {
    return element_ * (tokens_ * static_cast<double>(width));
  }
  [[nodiscard]] Bytes hidden() const { return tensor(model_.hidden); }
  [[nodiscard]] std::int64_t q_dim() const { return heads_ * model_.head_dim; }
  [[nodiscard]] std::int64_t kv_dim() const { return kv_heads_ * model_.head_dim; }

  // -- kernels that every layer is made of

  /// A kernel that reads and writes activations and computes next to nothing.
  KernelWork& pass(std::string_view role, KernelKind kind, std::array<Bytes, 2> read,
                   Bytes written) {
    KernelWork work;
    work.role = role;
    work.kind = kind;
    work.activation_read = read;
    work.activation_written = written;
    work.rows = tokens_;
    return program_.add(work);
  }

  /// Activations into the number format of the product that follows. Where it is not fused into the
  /// kernel before, it is one of its own.
  void quantize(std::string_view role, WeightPart part, std::int64_t width, bool fusable) {
    const hw::Dtype math = model_.math_of(part);
    if (math == model_.activations || (fusable && lowering_.fused_quant)) return;
    pass(role, KernelKind::quantize, {tensor(width)},
         hw::bytes_of(math) * (tokens_ * static_cast<double>(width)));
  }

  KernelWork& product(std::string_view role, WeightPart part, hw::GemmShape shape) {
    const hw::Dtype math = model_.math_of(part);
    KernelWork work =
        linear_work(role, shape.m, shape.k, shape.n, math, model_.element_bytes(part), element_);
    const bool skinny =
        shape.m <= lowering_.skinny_rows && shape.batch == 1 && math == model_.activations;
    work.flavour = skinny ? std::string_view("skinny") : lowering_.gemm_library;
    if (math != model_.activations) {
      work.activation_read = {hw::bytes_of(math) * static_cast<double>(shape.m * shape.k)};
      if (model_.quantization.method == QuantizationMethod::fp8_blockscale)
        work.flavour = "blockscale";
    }
    work.weights = model_.is_quantized(part) ? model_.weights : math;
    if (shape.batch > 1) {
      const double batch = static_cast<double>(shape.batch);
      work.gemm = shape;
      work.useful = shape.flop();
      work.stream_read *= batch;
      work.activation_read[0] *= batch;
      work.activation_written *= batch;
    }
    return program_.add(work);
  }

  void linear(std::string_view role, WeightPart part, std::int64_t in, std::int64_t out) {
    product(role, part, {rows_, out, in, 1});
  }

  /// What every GPU has a part of becomes whole on each.
  void all_reduce(std::string_view role) {
    if (tp_ <= 1) return;
    collective(role, hw::CollectiveKind::all_reduce, tp_, hidden());
  }
  void collective(std::string_view role, hw::CollectiveKind kind, std::int64_t gpus, Bytes bytes) {
    KernelWork work;
    work.role = role;
    work.kind = KernelKind::collective;
    hw::CollectiveCall call;
    call.query.kind = kind;
    call.query.gpus = gpus;
    call.query.bytes = bytes;
    call.collectives = lowering_.collectives;
    work.operation = call;
    program_.add(work);
  }

  void norm(std::string_view role) {
    if (lowering_.norm_casts) pass("norm_cast_in", KernelKind::cast, {hidden()}, hidden() * 2.0);
    if (lowering_.fused_add_norm) {
      pass(role, KernelKind::norm, {hidden(), hidden()}, hidden() * 2.0);  // the sum and its norm
    } else {
      const double width = lowering_.norm_casts ? 2.0 : 1.0;
      pass(role, KernelKind::norm, {hidden() * width}, hidden() * width);
    }
    if (lowering_.norm_casts) pass("norm_cast_out", KernelKind::cast, {hidden() * 2.0}, hidden());
  }

  /// The norm of every head of queries or keys, a row each.
  void head_norm(std::string_view copy, std::string_view role, std::int64_t heads) {
    const Bytes size = tensor(heads * model_.head_dim);
    if (lowering_.qk_copies) pass(copy, KernelKind::copy, {size}, size);
    pass(role, KernelKind::norm, {size}, size).rows = tokens_ * static_cast<double>(heads);
  }

  void residual_add(std::string_view role) {
    if (!lowering_.fused_add_norm)
      pass(role, KernelKind::elementwise, {hidden(), hidden()}, hidden());
  }

  // -- layers

  [[nodiscard]] LayerKind kind_of(std::int64_t layer) const {
    const SlidingWindow& w = model_.window;
    const bool global = w.tokens == 0 || (w.global_every > 0 && (layer + 1) % w.global_every == 0);
    return {model_.is_moe_layer(layer), !global};
  }

  [[nodiscard]] std::int64_t window_of(LayerKind kind) const {
    return kind.windowed ? model_.window.tokens : 0;
  }

  /// Equal layers, and equal runs of unequal ones, are one segment.
  void layers() {
    const std::int64_t period = std::lcm(std::max<std::int64_t>(1, model_.window.global_every),
                                         model_.has_experts() ? model_.moe.every : std::int64_t{1});
    const std::int64_t first =
        std::min(model_.layers, model_.has_experts() ? model_.moe.first_dense_layers : 0);
    // Layers before the first with experts, then whole periods, then what is left of one.
    segment(0, first, 1);
    const std::int64_t whole = (model_.layers - first) / period;
    if (whole > 0) segment(first, first + period, whole);
    segment(first + whole * period, model_.layers, 1);
  }

  void segment(std::int64_t begin, std::int64_t end, std::int64_t repeat) {
    for (std::int64_t l = begin; l < end;) {
      std::int64_t next = l + 1;
      while (repeat == 1 && next < end && kind_of(next) == kind_of(l)) ++next;
      if (repeat == 1 || l == begin) program_.begin_segment(repeat == 1 ? next - l : repeat);
      layer(kind_of(l));
      l = next;
    }
  }

  void layer(LayerKind kind) {
    norm("input_norm");
    if (model_.is_latent()) {
      latent_attention(kind);
    } else {
      grouped_attention(kind);
    }
    all_reduce("attention_reduce");
    residual_add("attention_add");
    norm("post_norm");
    if (kind.experts) {
      experts();
    } else {
      feedforward(WeightPart::ffn, ffn_);
    }
    all_reduce("ffn_reduce");
    residual_add("ffn_add");
  }

  void grouped_attention(LayerKind kind) {
    quantize("qkv_quant", WeightPart::attention, model_.hidden, true);
    if (lowering_.fused_qkv) {
      linear("qkv_proj", WeightPart::attention, model_.hidden, q_dim() + 2 * kv_dim());
    } else {
      linear("q_proj", WeightPart::attention, model_.hidden, q_dim());
      linear("k_proj", WeightPart::attention, model_.hidden, kv_dim());
      linear("v_proj", WeightPart::attention, model_.hidden, kv_dim());
    }
    if (model_.qk_norm && !lowering_.fused_qk_norm) {
      head_norm("q_copy", "q_norm", heads_);
      head_norm("k_copy", "k_norm", kv_heads_);
    }
    const Bytes kv_token = cache_element_ * static_cast<double>(2 * kv_dim());
    rope_and_cache(tensor(q_dim() + kv_dim()), tensor(2 * kv_dim()), kv_token);
    attention_.add(window_of(kind), {heads_, kv_heads_, model_.head_dim, model_.head_dim, kv_token},
                   program_);
    quantize("o_quant", WeightPart::attention, q_dim(), false);
    linear("o_proj", WeightPart::attention, q_dim(), model_.hidden);
  }

  /// Multi-head latent attention. Decodes work on the compressed cache, one KV head for all query
  /// heads, with the decompressing matrices absorbed on both sides; prefills decompress keys and
  /// values of their whole context. (arXiv:2405.04434, section 2.1; vLLM does the same.)
  void latent_attention(LayerKind kind) {
    const LatentAttention& l = model_.latent;
    const std::int64_t latent = l.kv_lora_rank + l.qk_rope_head_dim;
    const std::int64_t query = l.qk_nope_head_dim + l.qk_rope_head_dim;
    constexpr auto kPart = WeightPart::attention;
    quantize("qkv_quant", kPart, model_.hidden, true);
    if (l.q_lora_rank > 0) {
      linear("qkv_a_proj", kPart, model_.hidden, l.q_lora_rank + latent);
      pass("q_a_norm", KernelKind::norm, {tensor(l.q_lora_rank)}, tensor(l.q_lora_rank));
      quantize("q_b_quant", kPart, l.q_lora_rank, true);
      linear("q_b_proj", kPart, l.q_lora_rank, heads_ * query);
    } else {
      linear("q_proj", kPart, model_.hidden, heads_ * query);
      linear("kv_a_proj", kPart, model_.hidden, latent);
    }
    pass("kv_a_norm", KernelKind::norm, {tensor(l.kv_lora_rank)}, tensor(l.kv_lora_rank));
    const Bytes kv_token = cache_element_ * static_cast<double>(latent);
    rope_and_cache(tensor((heads_ + 1) * l.qk_rope_head_dim), tensor(latent), kv_token);

    if (shape_.prefill_sequences > 0) {
      const double context = static_cast<double>(shape_.prefill_context);
      const std::int64_t wide = heads_ * (l.qk_nope_head_dim + l.v_head_dim);
      product("kv_b_proj", kPart, {shape_.prefill_context, wide, l.kv_lora_rank, 1});
      const Bytes decompressed = element_ * (context * static_cast<double>(heads_) *
                                             static_cast<double>(query + l.v_head_dim));
      program_.add(attention_.prefill(
          window_of(kind), {heads_, heads_, query, l.v_head_dim, Bytes{}}, decompressed));
    }
    if (shape_.decode_sequences > 0) {
      // Rows that a graph pads a batch to are decodes where nothing is prefilled beside them.
      const std::int64_t rows = shape_.prefill_tokens > 0 ? shape_.decode_tokens() : rows_;
      product("q_absorb", kPart, {rows, l.kv_lora_rank, l.qk_nope_head_dim, heads_});
      program_.add(
          attention_.decode(window_of(kind), {heads_, 1, latent, l.kv_lora_rank, kv_token}));
      product("v_absorb", kPart, {rows, l.v_head_dim, l.kv_lora_rank, heads_});
    }
    quantize("o_quant", kPart, heads_ * l.v_head_dim, false);
    linear("o_proj", kPart, heads_ * l.v_head_dim, model_.hidden);
  }

  void rope_and_cache(Bytes rotated, Bytes keys_and_values, Bytes kv_token) {
    const Bytes cached = kv_token * static_cast<double>(shape_.tokens());
    KernelWork& rope = pass("rope", KernelKind::rope, {rotated}, rotated);
    if (lowering_.fused_rope_cache) {
      rope.stream_written = cached;
    } else {
      pass("cache_write", KernelKind::cache_write, {keys_and_values}, Bytes{}).stream_written =
          cached;
    }
  }

  // -- feedforward

  void feedforward(WeightPart part, std::int64_t width) {
    const Bytes wide = tensor(width);
    quantize("ffn_quant", part, model_.hidden, true);
    if (model_.feedforward == Feedforward::gelu) {
      linear("up_proj", part, model_.hidden, width);
      pass("gelu", KernelKind::elementwise, {wide}, wide);
    } else {
      if (lowering_.fused_gate_up) {
        linear("gate_up_proj", part, model_.hidden, 2 * width);
      } else {
        linear("gate_proj", part, model_.hidden, width);
        linear("up_proj", part, model_.hidden, width);
      }
      if (lowering_.fused_activation) {
        pass("silu_and_mul", KernelKind::elementwise, {wide, wide}, wide);
      } else {
        pass("silu", KernelKind::elementwise, {wide}, wide);
        pass("gate_mul", KernelKind::elementwise, {wide, wide}, wide);
      }
    }
    quantize("down_quant", part, width, lowering_.fused_activation);
    linear("down_proj", part, width, model_.hidden);
  }

  void experts() {
    const MixtureOfExperts& moe = model_.moe;
    constexpr auto kPart = WeightPart::experts;
    linear("router", WeightPart::router, model_.hidden, moe.experts);
    const Bytes scores = tensor(moe.experts);
    for (std::int64_t i = 0; i < lowering_.routing_kernels; ++i)
      pass("routing", KernelKind::routing, {i == 0 ? scores : Bytes{}}, Bytes{});
    quantize("expert_quant", kPart, model_.hidden, false);

    // With whole experts on each of ep GPUs, a GPU does the rows that fall to its own: on average
    // that share of them. Sorted out after all GPUs have all tokens, summed by the all-reduce.
    const std::int64_t ep = parallelism_.expert();
    hw::MoeQuery query;
    query.model_dim = model_.hidden;
    query.inter_dim = up(moe.ffn, std::max<std::int64_t>(1, tp_ / ep));
    query.experts = up(moe.experts, ep);
    query.topk = std::min(moe.experts_per_token, query.experts);
    query.tokens = up(rows_ * moe.experts_per_token, ep * query.topk);
    query.gated = model_.feedforward == Feedforward::swiglu;
    query.weight_element = model_.element_bytes(kPart);
    query.math = model_.math_of(kPart);
    query.activation_element = hw::bytes_of(query.math);
    // Of experts that do not divide, the GPU with most of them, which the others wait for.
    query.active = hw::expected_active_experts(rows_, moe.experts, moe.experts_per_token) /
                   (static_cast<double>(moe.experts) / static_cast<double>(query.experts));
    expert_stage("experts_gate_up", query, false);
    expert_stage("experts_down", query, true);
    if (moe.shared_experts > 0)
      feedforward(WeightPart::shared_experts, up(moe.shared_experts * moe.ffn, tp_));
  }

  void expert_stage(std::string_view role, const hw::MoeQuery& query, bool down) {
    const double rows = static_cast<double>(query.tokens * query.topk);
    const double inner = static_cast<double>(query.inter_dim);
    const double outer = static_cast<double>(query.model_dim);
    const double wide = query.gated && !down ? 2.0 : 1.0;
    KernelWork work;
    work.role = role;
    work.kind = KernelKind::experts;
    work.math = query.math;
    work.useful = Flop{2.0 * rows * inner * outer * wide};
    work.operation = hw::ExpertStage{query, down};
    program_.add(work);
  }

  // -- the last token's logits

  void head() {
    norm("final_norm");
    if (shape_.sampled == 0) return;  // a chunk that completes no prompt needs no logits
    const WeightPart part = model_.tied_embeddings ? WeightPart::embeddings : WeightPart::lm_head;
    product("lm_head", part, {shape_.sampled, up(model_.vocab, tp_), model_.hidden, 1});
    const Bytes logits = hw::bytes_of(model_.activations) *
                         (static_cast<double>(shape_.sampled) * static_cast<double>(model_.vocab));
    if (tp_ > 1) collective("logits_gather", hw::CollectiveKind::all_gather, tp_, logits);
    // Where it takes several, the first makes fp32 of the logits, the second looks for the token in
    // them, and the others work on what it left (vLLM: Sampler.forward).
    const Bytes wide = hw::bytes_of(hw::Dtype::fp32) *
                       (static_cast<double>(shape_.sampled) * static_cast<double>(model_.vocab));
    const bool casts = lowering_.sampling_kernels > 1;
    for (std::int64_t i = 0; i < lowering_.sampling_kernels; ++i) {
      const Bytes left = element_ * static_cast<double>(shape_.sampled);
      pass("sample", KernelKind::sampling,
           {i == 0   ? logits
            : i == 1 ? wide
                     : left},
           i == 0 && casts ? wide : Bytes{})
          .rows = static_cast<double>(shape_.sampled);
    }
  }

  const ModelSpec& model_;
  const Lowering& lowering_;
  const Parallelism& parallelism_;
  const StepShape& shape_;
  hw::KernelProgram& program_;
  AttentionLowering attention_;
  std::int64_t tp_;
  std::int64_t rows_;
  double tokens_;
  Bytes element_;
  Bytes cache_element_;
  std::int64_t heads_;  // on this GPU, as the next two
  std::int64_t kv_heads_;
  std::int64_t ffn_;
};

}  // namespace

void append_inference(const ModelSpec& model, const Lowering& lowering,
                      const Parallelism& parallelism, hw::Dtype kv_cache, const StepShape& shape,
                      std::int64_t padded_tokens, hw::KernelProgram& program) {
  InferenceLowering(model, lowering, parallelism, kv_cache, shape, padded_tokens, program).write();
}

void lower_inference(const ModelSpec& model, const Lowering& lowering,
                     const Parallelism& parallelism, hw::Dtype kv_cache, const StepShape& shape,
                     std::int64_t padded_tokens, hw::KernelProgram& program) {
  program.clear();
  append_inference(model, lowering, parallelism, kv_cache, shape, padded_tokens, program);
}

core::Bytes activation_bytes(const ModelSpec& model, const Parallelism& parallelism,
                             std::int64_t tokens, std::int64_t sampled) {
  // Residual and normed input, plus the wider of the two halves of a layer: q, k, v and attention
  // output, or gate, up and product, or the same for the routed rows.
  const std::int64_t tp = parallelism.tensor;
  const std::int64_t heads = up(model.heads, tp) * model.head_dim;
  const std::int64_t attention = 2 * heads + 2 * model.kv_heads_per_gpu(tp) * model.head_dim;
  const std::int64_t parts = model.feedforward == Feedforward::swiglu ? 3 : 2;
  std::int64_t feedforward = parts * up(model.ffn, tp);
  if (model.has_experts()) {
    const std::int64_t routed =
        (parts * up(model.moe.ffn, tp) + model.hidden) * model.moe.experts_per_token;
    feedforward = std::max(model.dense_layers() > 0 ? feedforward : 0, routed);
  }
  const double width = static_cast<double>(2 * model.hidden + std::max(attention, feedforward));
  const core::Bytes layers =
      hw::bytes_of(model.activations) * (static_cast<double>(tokens) * width);
  const core::Bytes logits =
      core::Bytes{4.0} * (static_cast<double>(sampled) * static_cast<double>(model.vocab));  // fp32
  return layers + logits;
}

}  // namespace ridgeline::workloads
