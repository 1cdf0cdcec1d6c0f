#pragma once
// A timeline as the PyTorch profiler's trace (Kineto, Chrome JSON): what chrome://tracing,
// Perfetto, TraceLens and HolisticTraceAnalysis open. It says what those demand and what a real
// trace from the same machine would hold:
//
//   each kernel        X kernel, on (device, stream); an eager one with grid, block and External
//   id, a graph's only with the
//                      correlation it shares with its hipGraphLaunch
//   each call          X cuda_runtime (so called on ROCm too); a launch says what it launched
//   each launch        a flow, s in the call and f at its first kernel, both named by the
//   correlation each step          X user_annotation on the host, in vLLM's detailed form, and X
//   gpu_user_annotation over its kernels each sample        C kv_cache_usage, num_running,
//   num_waiting, preemptions
//
// Times are decimal microseconds made from whole nanoseconds: nothing is rounded. One step is in
// memory at a time. Slices on one track nest if the source's steps do not overlap and its kernels
// on one stream neither. Left out: cpu_op events (the simulator has no framework operators) and
// stack frames.

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

#include "timeline/span_source.hpp"

namespace ridgeline::timeline {

struct KinetoOptions {
  /// What ts = 0 is in Unix time. Fixed, so that the same run gives the same bytes.
  std::int64_t base_time_ns = 1767225600'000000000;  // 2026-01-01
  std::int64_t host_process = 4242;
  /// roctracer counts HSA agents, CPU sockets first: 2 on a two-socket host. Absent: 2 for ROCm, 0
  /// for CUDA.
  std::optional<std::int64_t> device = std::nullopt;
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
  std::string trace_name = "ridgeline.json";
  /// As roctracer shows it: a kernel that already waited in the queue begins when the one before it
  /// ends, and the gap the device needs to turn to it counts as its own time. False: gaps are what
  /// they were.
  bool fold_dispatch_gaps = false;
};

/// Writes every step that starts in the window, with all that belongs to it. A stream that fails
/// keeps failing; ask it.
void write_kineto(const SpanSource& source, Window window, std::ostream& out,
                  const KinetoOptions& options = {});

/// The same into a file, compressed if its name ends in .gz, there whole or not at all
/// (timeline/writers/output_file.hpp).
void write_kineto_file(const SpanSource& source, Window window, const std::filesystem::path& path,
                       const KinetoOptions& options = {});

}  // namespace ridgeline::timeline
