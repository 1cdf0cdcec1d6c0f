#pragma once
// What a profiler would call a simulated kernel. Tools sort kernels by name, so a synthetic trace
// must speak their language: Tensile, ck_tile, vLLM and at::native on gfx, cuBLAS and flash
// attention on sm_. The patterns are those of real traces; only what the simulator knows varies in
// them (number format, macro tile, splits, head size), the rest is a fixed, plausible solution.

#include <cstdint>
#include <string>
#include <string_view>

#include "timeline/span.hpp"

namespace ridgeline::timeline {

enum class Phase : std::uint8_t { prefill, decode, forward, backward };  // the last two of training

struct NameFacts {
  std::string_view architecture = "gfx942";  // "sm_90" and the like: the NVIDIA names
  KernelClass cls = KernelClass::other;
  std::string_view role =
      "";  // "q_proj", "residual_add", "silu_mul": decides among the kernels of a class
  std::string_view dtype = "bf16";  // fp64 fp32 tf32 fp16 bf16 fp8 int8 fp4 int4
  std::int64_t tile_m = 0;          // macro tile along tokens
  std::int64_t tile_n = 0;          // and along output features
  std::int64_t tile_k = 64;
  std::int64_t splits = 1;  // of k
  Phase phase = Phase::prefill;
  std::int64_t head_size = 128;
};

/// Never empty. Make it once a kernel kind, not once a kernel: it formats.
///
/// In a Tensile name MT is n x m: BLAS counts the output features as its M and the tokens as its N,
/// so that in decode the second number follows the batch.
[[nodiscard]] std::string profiler_name(const NameFacts& facts);

}  // namespace ridgeline::timeline
