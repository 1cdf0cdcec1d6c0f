#pragma once
// One linear layer as a kernel; shared by inference and training.

#include "hw/kernel_work.hpp"

namespace ridgeline::workloads {

/// Rows and columns of a fused attention tile: issued work is counted in whole blocks.
inline constexpr double kQueryBlock = 128.0;

/// `rows` tokens through a weight matrix of `in` x `out`; weights stream from HBM, activations pass
/// through the cache.
[[nodiscard]] inline hw::KernelWork linear_work(std::string_view role, std::int64_t rows,
                                                std::int64_t in, std::int64_t out, hw::Dtype math,
                                                core::Bytes weight_element, core::Bytes element) {
  hw::KernelWork work;
  work.role = role;
  work.kind = hw::KernelKind::gemm;
  work.math = work.weights = math;
  work.gemm = {rows, out, in, 1};
  work.useful = work.gemm.flop();
  work.stream_read = weight_element * (static_cast<double>(in) * static_cast<double>(out));
  work.activation_read = {element * (static_cast<double>(rows) * static_cast<double>(in))};
  work.activation_written = element * (static_cast<double>(rows) * static_cast<double>(out));
  return work;
}

}  // namespace ridgeline::workloads
