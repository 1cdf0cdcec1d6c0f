#include "workloads/lower_training.hpp"

#include <algorithm>

#include "workloads/linear.hpp"

namespace ridgeline::workloads {
namespace {

using core::Bytes;
using core::Flop;
using hw::KernelKind;
using hw::KernelWork;

constexpr Bytes kMaster{4.0};  // fp32 master weights and gradients
// The backward pass of fused attention recomputes the scores: five products against the forward
// pass's two. Dao et al., "FlashAttention", arXiv:2205.14135, section 3.
constexpr double kBackwardAttention = 2.5;

class TrainingLowering {
 public:
  TrainingLowering(const ModelSpec& model, const Lowering& lowering, std::int64_t microbatch,
                   std::int64_t sequence, hw::KernelProgram& program)
      : model_(model),
        lowering_(lowering),
        program_(program),
        rows_(microbatch * sequence),
        sequence_(static_cast<double>(sequence)),
        element_(hw::bytes_of(model.activations)) {}

  void write() {
    program_.clear();
    program_.begin_segment(1);
    pass("embedding", KernelKind::embedding, {}, hidden());
    program_.begin_segment(model_.layers);
    forward_layer();
    program_.begin_segment(1);
    head();
    program_.begin_segment(model_.layers);
    backward_layer();
    program_.begin_segment(1);
    pass("embedding_backward", KernelKind::embedding, {hidden()}, {});
  }

 private:
  [[nodiscard]] Bytes tensor(std::int64_t width) const {
    return element_ * (static_cast<double>(rows_) * static_cast<double>(width));
  }
  [[nodiscard]] Bytes hidden() const { return tensor(model_.hidden); }
  /// A norm's tensors: fp32 between casts, or as they are.
  [[nodiscard]] Bytes norm_tensor() const {
    return lowering_.norm_casts
               ? kMaster * (static_cast<double>(rows_) * static_cast<double>(model_.hidden))
               : hidden();
  }

  void pass(std::string_view role, KernelKind kind, std::array<Bytes, 2> read, Bytes written) {
    KernelWork work;
    work.role = role;
    work.kind = kind;
    work.activation_read = read;
    work.activation_written = written;
    program_.add(work);
  }
  void add(std::string_view role, Bytes size) {
    pass(role, KernelKind::elementwise, {size, size}, size);
  }

  void cast(std::string_view role, Bytes read, Bytes written) {
    pass(role, KernelKind::cast, {read}, written);
  }

  [[nodiscard]] static Bytes elements(std::int64_t in, std::int64_t out, Bytes each) {
    return each * (static_cast<double>(in) * static_cast<double>(out));
  }

  void forward_linear(std::string_view role, std::int64_t in, std::int64_t out) {
    cast("weight_cast", elements(in, out, kMaster), elements(in, out, element_));
    program_.add(linear_work(role, rows_, in, out, model_.math, element_, element_));
  }

  /// Gradient of the input, gradient of the weights, and the latter's cast to fp32.
  void backward_linear(std::string_view role, std::int64_t in, std::int64_t out) {
    program_.add(linear_work(role, rows_, out, in, model_.math, element_, element_));
    KernelWork weights = linear_work(role, in, rows_, out, model_.math, element_, element_);
    // in x rows times rows x out: both operands are activations, the product is the gradient.
    weights.stream_read = Bytes{};
    weights.activation_read = {tensor(in), tensor(out)};
    weights.activation_written = elements(in, out, element_);
    program_.add(weights);
    cast("gradient_cast", elements(in, out, element_), elements(in, out, kMaster));
  }

  void forward_norm(std::string_view role) {
    if (lowering_.norm_casts) cast("norm_cast_in", hidden(), norm_tensor());
    pass(role, KernelKind::norm, {norm_tensor()}, norm_tensor());
    if (lowering_.norm_casts) cast("norm_cast_out", norm_tensor(), hidden());
  }
  void backward_norm(std::string_view role) {
    if (lowering_.norm_casts) cast("norm_cast_in", hidden(), norm_tensor());
    pass(role, KernelKind::norm, {norm_tensor(), norm_tensor()},
         norm_tensor());  // gradient of the input
    pass(role, KernelKind::norm, {norm_tensor(), norm_tensor()},
         {});  // of gain and bias: one more read of both
    if (lowering_.norm_casts) cast("norm_cast_out", norm_tensor(), hidden());
  }

  [[nodiscard]] KernelWork attention() const {
    const double tokens = static_cast<double>(rows_);
    const double width = static_cast<double>(model_.q_dim());
    KernelWork work;
    work.role = "flash_attention_forward";
    work.kind = KernelKind::attention_prefill;
    work.math = model_.activations;
    work.useful = Flop{4.0 * width * tokens * 0.5 * (sequence_ + 1.0)};
    work.issued = Flop{4.0 * width * tokens *
                       std::min(sequence_, 0.5 * (sequence_ + 1.0) + 0.5 * kQueryBlock)};
    work.activation_read = {tensor(model_.q_dim()), tensor(2 * model_.kv_dim())};
    work.activation_written = tensor(model_.q_dim());
    return work;
  }

  void forward_layer() {
    const Bytes rotated = tensor(model_.q_dim() + model_.kv_dim());
    const Bytes wide = tensor(model_.ffn);
    forward_norm("input_norm");
    forward_linear("q_proj", model_.hidden, model_.q_dim());
    forward_linear("k_proj", model_.hidden, model_.kv_dim());
    forward_linear("v_proj", model_.hidden, model_.kv_dim());
    pass("rope", KernelKind::rope, {rotated}, rotated);
    program_.add(attention());
    forward_linear("o_proj", model_.q_dim(), model_.hidden);
    add("attention_add", hidden());
    forward_norm("post_norm");
    if (model_.feedforward == Feedforward::swiglu) {
      forward_linear("gate_proj", model_.hidden, model_.ffn);
      forward_linear("up_proj", model_.hidden, model_.ffn);
      pass("silu", KernelKind::elementwise, {wide}, wide);
      add("gate_mul", wide);
    } else {
      forward_linear("up_proj", model_.hidden, model_.ffn);
      pass("gelu", KernelKind::elementwise, {wide}, wide);
    }
    forward_linear("down_proj", model_.ffn, model_.hidden);
    add("ffn_add", hidden());
  }

  void head() {
    forward_norm("final_norm");
    forward_linear("lm_head", model_.hidden, model_.vocab);
    pass("cross_entropy", KernelKind::loss, {tensor(model_.vocab)},
         tensor(model_.vocab));  // loss and its gradient in one pass
    backward_linear("lm_head", model_.hidden, model_.vocab);
    backward_norm("final_norm");
  }

  void backward_layer() {
    const Bytes rotated = tensor(model_.q_dim() + model_.kv_dim());
    const Bytes wide = tensor(model_.ffn);
    backward_linear("down_proj", model_.ffn, model_.hidden);
    if (model_.feedforward == Feedforward::swiglu) {
      add("gate_mul_backward_gate", wide);
      add("gate_mul_backward_up", wide);
      add("silu_backward", wide);
      backward_linear("up_proj", model_.hidden, model_.ffn);
      backward_linear("gate_proj", model_.hidden, model_.ffn);
      add("input_gradient_add", hidden());
    } else {
      add("gelu_backward", wide);
      backward_linear("up_proj", model_.hidden, model_.ffn);
    }
    backward_norm("post_norm");
    add("residual_gradient_add", hidden());
    backward_linear("o_proj", model_.q_dim(), model_.hidden);

    KernelWork backward = attention();
    backward.role = "flash_attention_backward";
    backward.kind = KernelKind::attention_backward;
    backward.useful *= kBackwardAttention;
    backward.issued *= kBackwardAttention;
    // q, k, v, output and its gradient in; three gradients out.
    backward.activation_read = {tensor(3 * model_.q_dim()), tensor(2 * model_.kv_dim())};
    backward.activation_written = tensor(model_.q_dim() + 2 * model_.kv_dim());
    program_.add(backward);

    pass("rope_backward", KernelKind::rope, {rotated}, rotated);
    backward_linear("v_proj", model_.hidden, model_.kv_dim());
    backward_linear("k_proj", model_.hidden, model_.kv_dim());
    backward_linear("q_proj", model_.hidden, model_.q_dim());
    add("input_gradient_add", hidden());
    add("input_gradient_add", hidden());
    backward_norm("input_norm");
    add("residual_gradient_add", hidden());
  }

  const ModelSpec& model_;
  const Lowering& lowering_;
  hw::KernelProgram& program_;
  std::int64_t rows_;
  double sequence_;
  Bytes element_;
};

}  // namespace

void lower_training(const ModelSpec& model, const Lowering& lowering, std::int64_t microbatch,
                    std::int64_t sequence, hw::KernelProgram& program) {
  TrainingLowering(model, lowering, microbatch, sequence, program).write();
}

}  // namespace ridgeline::workloads
