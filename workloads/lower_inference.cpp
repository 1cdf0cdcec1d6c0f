#include "workloads/lower_inference.hpp"

#include <algorithm>

#include "workloads/linear.hpp"

namespace ridgeline::workloads {
namespace {

using core::Bytes;
using core::Flop;
using hw::KernelKind;
using hw::KernelWork;

constexpr double kQueryBlock =
    128.0;  // rows and columns of a fused attention tile: issued work is counted in whole blocks
constexpr std::int64_t kMatrixRows =
    16;  // rows of the smallest MFMA tile: decode attention pads a query group to them

class InferenceLowering {
 public:
  InferenceLowering(const ModelSpec& model, const Lowering& lowering, hw::Dtype kv_cache,
                    const StepShape& shape, std::int64_t padded_tokens, hw::KernelProgram& program)
      : model_(model),
        lowering_(lowering),
        shape_(shape),
        program_(program),
        rows_(padded_tokens),
        tokens_(static_cast<double>(padded_tokens)),
        element_(hw::bytes_of(model.activations)),
        kv_per_token_layer_(hw::bytes_of(kv_cache) * static_cast<double>(2 * model.kv_dim())) {}

  void write() {
    program_.clear();
    program_.begin_segment(1);
    pass("embedding", KernelKind::embedding, {}, hidden());
    program_.begin_segment(model_.layers);
    layer();
    program_.begin_segment(1);
    head();
  }

 private:
  [[nodiscard]] Bytes tensor(std::int64_t width) const {
    return element_ * (tokens_ * static_cast<double>(width));
  }
  [[nodiscard]] Bytes hidden() const { return tensor(model_.hidden); }

  /// A kernel that reads and writes activations and computes next to nothing.
  KernelWork& pass(std::string_view role, KernelKind kind, std::array<Bytes, 2> read,
                   Bytes written) {
    KernelWork work;
    work.role = role;
    work.kind = kind;
    work.activation_read = read;
    work.activation_written = written;
    return program_.add(work);
  }

  void linear(std::string_view role, std::int64_t in, std::int64_t out) {
    program_.add(
        linear_work(role, rows_, in, out, model_.math, hw::bytes_of(model_.weights), element_));
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

  void residual_add(std::string_view role) {
    if (!lowering_.fused_add_norm)
      pass(role, KernelKind::elementwise, {hidden(), hidden()}, hidden());
  }

  void layer() {
    norm("input_norm");
    if (lowering_.fused_qkv) {
      linear("qkv_proj", model_.hidden, model_.q_dim() + 2 * model_.kv_dim());
    } else {
      linear("q_proj", model_.hidden, model_.q_dim());
      linear("k_proj", model_.hidden, model_.kv_dim());
      linear("v_proj", model_.hidden, model_.kv_dim());
    }
    rope_and_cache();
    if (shape_.prefill_sequences > 0) prefill_attention();
    if (shape_.decode_sequences > 0) decode_attention();
    linear("o_proj", model_.q_dim(), model_.hidden);
    residual_add("attention_add");
    norm("post_norm");
    feedforward();
    residual_add("ffn_add");
  }

  void rope_and_cache() {
    const Bytes rotated = tensor(model_.q_dim() + model_.kv_dim());
    const Bytes cached = kv_per_token_layer_ * static_cast<double>(shape_.tokens());
    KernelWork& rope = pass("rope", KernelKind::rope, {rotated}, rotated);
    if (lowering_.fused_rope_cache) {
      rope.stream_written = cached;
    } else {
      pass("cache_write", KernelKind::cache_write, {tensor(2 * model_.kv_dim())}, Bytes{})
          .stream_written = cached;
    }
  }

  void prefill_attention() {
    const double q = static_cast<double>(shape_.prefill_tokens);
    const double qk = static_cast<double>(shape_.prefill_qk);
    const double qq = static_cast<double>(shape_.prefill_qq);
    const double width = static_cast<double>(model_.q_dim());
    // Token i of a chunk of q that ends at context k sees k - q + i keys: summed, q k - q (q - 1)
    // / 2.
    const double pairs = qk - 0.5 * (qq - q);
    const Bytes queries = element_ * (q * width);
    const Bytes cached = kv_per_token_layer_ * static_cast<double>(shape_.prefill_context);

    KernelWork work;
    work.math = model_.activations;
    if (lowering_.prefill_attention == PrefillAttention::fused) {
      work.role = "prefill_attention";
      work.kind = KernelKind::attention_prefill;
      work.useful = Flop{4.0 * width * pairs};
      work.issued = Flop{
          4.0 * width *
          std::min(qk, pairs + 0.5 * kQueryBlock * q)};  // the diagonal blocks are computed whole
      work.stream_read = cached;
      work.activation_read = {queries};
      work.activation_written = queries;
      program_.add(work);
      return;
    }
    // The whole rectangle is computed, written, normalised in place and read again; half of it is
    // masked away.
    const Bytes scores = element_ * (static_cast<double>(model_.heads) * qk);
    const std::int64_t mean_k =
        std::max<std::int64_t>(1, shape_.prefill_context / shape_.prefill_sequences);
    const std::int64_t columns = mean_k * shape_.prefill_sequences;
    const std::int64_t mean_q =
        (shape_.prefill_qk + columns - 1) / columns;  // rounded up: no pair is lost
    const std::int64_t batch = model_.heads * shape_.prefill_sequences;
    work.transient = scores;

    work.role = "attention_scores";
    work.kind = KernelKind::attention_scores;
    work.gemm = {mean_q, mean_k, model_.head_dim, batch};
    work.useful = Flop{2.0 * width * pairs};
    work.stream_read = cached * 0.5;  // keys
    work.activation_read = {queries};
    work.stream_written = scores;
    program_.add(work);

    KernelWork softmax;
    softmax.role = "softmax";
    softmax.kind = KernelKind::softmax;
    softmax.stream_read = scores;
    softmax.stream_written = scores;
    softmax.transient = scores;
    program_.add(softmax);

    work.role = "attention_values";
    work.kind = KernelKind::attention_values;
    work.gemm = {mean_q, model_.head_dim, mean_k, batch};
    work.stream_read = scores + cached * 0.5;  // probabilities and values
    work.activation_read = {};
    work.stream_written = Bytes{};
    work.activation_written = queries;
    program_.add(work);
  }

  void decode_attention() {
    const double context = static_cast<double>(shape_.decode_context);
    const double sequences = static_cast<double>(shape_.decode_sequences);
    const std::int64_t group = model_.heads / model_.kv_heads;
    const std::int64_t rows = (group + kMatrixRows - 1) / kMatrixRows * kMatrixRows;
    const Bytes queries = element_ * (sequences * static_cast<double>(model_.q_dim()));

    KernelWork work;
    work.role = "decode_attention";
    work.kind = KernelKind::attention_decode;
    work.math = model_.activations;
    work.useful = Flop{4.0 * static_cast<double>(model_.q_dim()) * context};
    work.issued = work.useful * (static_cast<double>(rows) / static_cast<double>(group));
    work.stream_read = kv_per_token_layer_ * context;
    work.activation_read = {queries};
    work.activation_written = queries;
    work.workgroups = lowering_.kv_split ? 0.0 : sequences * static_cast<double>(model_.kv_heads);
    program_.add(work);
  }

  void feedforward() {
    const Bytes wide = tensor(model_.ffn);
    if (model_.feedforward == Feedforward::gelu) {
      linear("up_proj", model_.hidden, model_.ffn);
      pass("gelu", KernelKind::elementwise, {wide}, wide);
    } else {
      if (lowering_.fused_gate_up) {
        linear("gate_up_proj", model_.hidden, 2 * model_.ffn);
      } else {
        linear("gate_proj", model_.hidden, model_.ffn);
        linear("up_proj", model_.hidden, model_.ffn);
      }
      if (lowering_.fused_activation) {
        pass("silu_and_mul", KernelKind::elementwise, {wide, wide}, wide);
      } else {
        pass("silu", KernelKind::elementwise, {wide}, wide);
        pass("gate_mul", KernelKind::elementwise, {wide, wide}, wide);
      }
    }
    linear("down_proj", model_.ffn, model_.hidden);
  }

  void head() {
    norm("final_norm");
    if (shape_.sampled == 0) return;  // a chunk that completes no prompt needs no logits
    const Bytes head_element = hw::bytes_of(model_.activations);
    program_.add(linear_work("lm_head", shape_.sampled, model_.hidden, model_.vocab,
                             model_.activations, head_element, element_));
    const Bytes logits =
        head_element * (static_cast<double>(shape_.sampled) * static_cast<double>(model_.vocab));
    for (std::int64_t i = 0; i < lowering_.sampling_kernels; ++i) {
      // The first reads the logits; the others work on what it left.
      pass("sample", KernelKind::sampling,
           {i == 0 ? logits : element_ * static_cast<double>(shape_.sampled)}, Bytes{});
    }
  }

  const ModelSpec& model_;
  const Lowering& lowering_;
  const StepShape& shape_;
  hw::KernelProgram& program_;
  std::int64_t rows_;
  double tokens_;
  Bytes element_;
  Bytes kv_per_token_layer_;
};

}  // namespace

void lower_inference(const ModelSpec& model, const Lowering& lowering, hw::Dtype kv_cache,
                     const StepShape& shape, std::int64_t padded_tokens,
                     hw::KernelProgram& program) {
  InferenceLowering(model, lowering, kv_cache, shape, padded_tokens, program).write();
}

core::Bytes activation_bytes(const ModelSpec& model, std::int64_t tokens, std::int64_t sampled) {
  // Residual and normed input, plus the wider of the two halves of a layer: q, k, v and attention
  // output, or gate, up and product.
  const std::int64_t attention = 2 * model.q_dim() + 2 * model.kv_dim();
  const std::int64_t feedforward = (model.feedforward == Feedforward::swiglu ? 3 : 2) * model.ffn;
  const double width = static_cast<double>(2 * model.hidden + std::max(attention, feedforward));
  const core::Bytes layers =
      hw::bytes_of(model.activations) * (static_cast<double>(tokens) * width);
  const core::Bytes logits =
      core::Bytes{4.0} * (static_cast<double>(sampled) * static_cast<double>(model.vocab));  // fp32
  return layers + logits;
}

}  // namespace ridgeline::workloads
