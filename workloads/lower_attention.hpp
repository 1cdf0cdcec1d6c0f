#pragma once
// The attention kernels of one layer of a forward pass: prefills, decodes, both at once, or scores
// written out. A step is known by sums over its sequences, so a window, which acts on each
// sequence, acts on the mean one.

#include "hw/kernel_program.hpp"
#include "workloads/model_spec.hpp"
#include "workloads/stack_spec.hpp"
#include "workloads/step_shape.hpp"

namespace ridgeline::workloads {

/// Heads and widths of an attention kernel on one GPU.
struct HeadShape {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 128;
  std::int64_t v_head_dim = 128;
  core::Bytes kv_token{};  // cache bytes of a token that this kernel reads

  [[nodiscard]] double q_width() const { return static_cast<double>(heads * head_dim); }
  [[nodiscard]] double o_width() const { return static_cast<double>(heads * v_head_dim); }
  /// FLOP of one query token against one key.
  [[nodiscard]] double pair_flop() const {
    return 2.0 * static_cast<double>(heads * (head_dim + v_head_dim));
  }
};

class AttentionLowering {
 public:
  /// All three must outlive this.
  AttentionLowering(const ModelSpec& model, const Lowering& lowering, const StepShape& shape)
      : model_(model),
        lowering_(lowering),
        shape_(shape),
        element_(hw::bytes_of(model.activations)) {}

  /// The step's attention with an ordinary KV cache. `window`: keys that a token sees at most; 0 is
  /// all of them.
  void add(std::int64_t window, const HeadShape& heads, hw::KernelProgram& program) const;

  /// The step's prefills against `kv` bytes of keys and values; its decodes.
  [[nodiscard]] hw::KernelWork prefill(std::int64_t window, const HeadShape& heads,
                                       core::Bytes kv) const;
  [[nodiscard]] hw::KernelWork decode(std::int64_t window, const HeadShape& heads) const;

 private:
  [[nodiscard]] hw::KernelWork together(std::int64_t window, const HeadShape& heads) const;
  void add_materialised(const HeadShape& heads, hw::KernelProgram& program) const;
  [[nodiscard]] core::Bytes prefill_cache(std::int64_t window, const HeadShape& heads) const;
  [[nodiscard]] double visible_pairs(std::int64_t window) const;

  const ModelSpec& model_;
  const Lowering& lowering_;
  const StepShape& shape_;
  core::Bytes element_;
};

}  // namespace ridgeline::workloads
