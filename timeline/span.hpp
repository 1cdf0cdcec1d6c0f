#pragma once
// What a profiler sees: kernels on the device, calls on the host, steps around them, and the
// server's counters. Nothing here says whether a file or a simulation is behind it.

#include <array>
#include <cstdint>
#include <string_view>

#include "core/instant.hpp"
#include "core/units.hpp"

namespace ridgeline::timeline {

/// Plain classes that kernel names of every framework fall into.
enum class KernelClass : std::uint8_t {
  gemm,
  attention,         // fused, prefill or decode, forward or backward
  attention_scores,  // the matrix products of materialised attention
  softmax,
  norm,
  elementwise,
  rope,
  cache_write,
  cast,
  embedding,
  sampling,
  loss,
  copy,
  collective,
  other,
};
inline constexpr std::size_t kKernelClasses = 15;
inline constexpr std::array<std::string_view, kKernelClasses> kKernelClassNames{
    "gemm",        "attention", "attention_scores", "softmax",  "norm", "elementwise", "rope",
    "cache_write", "cast",      "embedding",        "sampling", "loss", "copy",        "collective",
    "other"};
[[nodiscard]] constexpr std::string_view name_of(KernelClass c) {
  return kKernelClassNames[static_cast<std::size_t>(c)];
}

struct GemmFacts {
  std::int64_t m = 0;  // tokens; 0 for anything that is not a matrix product
  std::int64_t n = 0;
  std::int64_t k = 0;
};

struct KernelSpan {
  core::Instant start;
  core::Nanoseconds duration;
  std::string_view name;  // as the profiler prints it; valid during the visit
  std::string_view role;  // "q_proj", where the source knows it
  KernelClass cls = KernelClass::other;
  std::int64_t step = -1;        // index of the step it belongs to
  std::int64_t correlation = 0;  // of the host call that launched it; a graph's kernels share one
  std::int32_t stream = 1;
  bool from_graph = false;
  std::int64_t grid = 0;   // workgroups
  std::int32_t block = 0;  // threads each
  GemmFacts gemm;
  // Counters, where the source has them.
  core::Flop issued{};
  core::Flop useful{};
  core::Bytes hbm_read{};
  core::Bytes hbm_written{};
  core::Bytes transient{};

  [[nodiscard]] core::Instant end() const { return start + duration; }
};

/// A call of the runtime on the host: hipLaunchKernel, hipGraphLaunch.
struct RuntimeSpan {
  core::Instant start;
  core::Nanoseconds duration;
  std::string_view name;
  std::int64_t step = -1;
  std::int64_t correlation = 0;
};

/// One forward pass (or training step) of the server, host work before and after included.
struct StepSpan {
  std::int64_t index = 0;
  core::Instant start;
  core::Nanoseconds duration;
  bool training = false;
  // Sums over its sequences, as vLLM's detailed step annotation has them.
  std::int64_t decode_sequences = 0;
  std::int64_t decode_context = 0;     // sum of context lengths
  std::int64_t tokens_per_decode = 1;  // more with speculation, its drafts
  std::int64_t prefill_sequences = 0;
  std::int64_t prefill_tokens = 0;   // sum of new tokens q
  std::int64_t prefill_context = 0;  // sum of k: context after this step
  double prefill_qk = 0.0;           // sum of q k
  double prefill_qq = 0.0;           // sum of q q

  [[nodiscard]] core::Instant end() const { return start + duration; }
};

/// The server's state at the start of a step.
struct CounterSample {
  core::Instant time;
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  double kv_usage = 0.0;         // fraction of KV blocks in use
  std::int64_t preemptions = 0;  // so far
};

}  // namespace ridgeline::timeline
