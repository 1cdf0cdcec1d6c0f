#pragma once
// What the hardware tests share: a machine for easy arithmetic, and the shipped ones.

#include <string>
#include <string_view>

#include "core/config_library.hpp"
#include "core/error.hpp"
#include "core/reader.hpp"
#include "hw/gpu_spec.hpp"
#include "hw/kernel_cost.hpp"
#include "hw/launch_queue.hpp"
#include "tests/core/fixtures.hpp"

namespace ridgeline::tests {

/// Ten compute units of which each multiplies a 16x16 tile of depth 1,000 in 1 us (2 * 16 * 16 *
/// 1000 FLOP at 0.512 TFLOP/s). HBM moves 1 MB in 1 us, the cache 10 MB; a tensor up to 0.5 MB
/// stays in it. No ramp, no overheads, one tile, no split-K.
inline hw::GpuSpec easy_gpu() {
  hw::GpuSpec gpu;
  gpu.name = "easy";
  gpu.compute_units = 10;
  for (const auto& choice : hw::dtype_names()) {
    gpu.peak[choice.value] = core::FlopPerSecond{5.12e12};
    gpu.sustained[choice.value] = 1.0;
  }
  gpu.hbm = {core::Bytes{1e9}, core::BytesPerSecond{1e12}, 1.0, core::Seconds{0.0}};
  gpu.cache = {core::Bytes{1e6}, core::BytesPerSecond{1e13}, 0.5};
  gpu.gemm = {{{16, 16}}, 0.0, 0.0, 1, core::Seconds{0.0}};
  return gpu;
}

/// A product of `tiles` tiles of the easy machine, 1,000 deep, its weights free.
inline hw::KernelWork product_of(std::int64_t tiles) {
  hw::KernelWork work;
  work.kind = hw::KernelKind::gemm;
  work.gemm = {16 * tiles, 16, 1000, 1};
  work.useful = work.gemm.flop();
  return work;
}

/// A kernel that reads `bytes` from HBM and does nothing else.
inline hw::KernelWork stream_of(core::Bytes bytes) {
  hw::KernelWork work;
  work.stream_read = bytes;
  return work;
}

inline hw::LaunchSpec launch_in_us(std::int64_t issue, std::int64_t doorbell, std::int64_t dispatch,
                                   std::int64_t queue_depth) {
  hw::LaunchSpec launch{};
  launch.issue = {issue * 1000};
  launch.doorbell = {doorbell * 1000};
  launch.dispatch = {dispatch * 1000};
  launch.queue_depth = queue_depth;
  return launch;
}

inline hw::GpuSpec shipped_gpu(const std::string& name) {
  const core::Node node = shipped().resolve("hw", core::parse_yaml(name, "test"));
  const core::Reader in(node);
  hw::GpuSpec gpu = hw::read_gpu_spec(in);
  in.finish();
  return gpu;
}

}  // namespace ridgeline::tests
