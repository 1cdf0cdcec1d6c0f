#pragma once
// Forward and backward pass of one microbatch as kernels. Left out: the optimizer, gradient
// exchange, activation recomputation; and memory, since a model this size trains sharded over many
// GPUs.

#include "hw/kernel_program.hpp"
#include "workloads/model_spec.hpp"
#include "workloads/stack_spec.hpp"

namespace ridgeline::workloads {

/// `microbatch` sequences of `sequence` tokens each, causal attention, master weights in fp32.
void lower_training(const ModelSpec& model, const Lowering& lowering, std::int64_t microbatch,
                    std::int64_t sequence, hw::KernelProgram& program);

}  // namespace ridgeline::workloads
