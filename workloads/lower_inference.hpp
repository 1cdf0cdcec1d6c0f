#pragma once
// A forward pass as kernels.

#include "hw/kernel_program.hpp"
#include "workloads/model_spec.hpp"
#include "workloads/parallelism.hpp"
#include "workloads/stack_spec.hpp"
#include "workloads/step_shape.hpp"

namespace ridgeline::workloads {

/// Writes the kernels of one forward pass on one of the GPUs that share the model into `program`
/// (cleared first; no allocation once it has grown). `padded_tokens` is how many rows the linear
/// layers run on: the tokens of the shape, or the size of the graph they are padded to. `lowering`
/// must outlive the program. A pipeline's stages follow one another: the program holds all layers,
/// and a send at each border.
void lower_inference(const ModelSpec& model, const Lowering& lowering,
                     const Parallelism& parallelism, hw::Dtype kv_cache, const StepShape& shape,
                     std::int64_t padded_tokens, hw::KernelProgram& program);

/// The same behind what `program` holds: a further pass of the step.
void append_inference(const ModelSpec& model, const Lowering& lowering,
                      const Parallelism& parallelism, hw::Dtype kv_cache, const StepShape& shape,
                      std::int64_t padded_tokens, hw::KernelProgram& program);

/// Activation memory that a pass over `tokens` tokens holds at its widest point, transients of
/// attention not included.
[[nodiscard]] core::Bytes activation_bytes(const ModelSpec& model, const Parallelism& parallelism,
                                           std::int64_t tokens, std::int64_t sampled);

}  // namespace ridgeline::workloads
