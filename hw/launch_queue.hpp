#pragma once
// The path from the host to the device: one in-order queue.
//
//     start[i] = max(end[i-1] + dispatch, issued[i] + doorbell)
//     the host issues one kernel after the other, `issue` each, and kernel i only once kernel i -
//     depth has started (blocking: only once kernel i - 1 has ended)
//
// A graph replaces the n issues by one submission of graph_submit + n x graph_node, after which all
// its kernels are there. So a gap is nobody's parameter: it appears when the host is slower than
// the device, and vanishes when it is not. Left out: several streams, and the device throttling
// while the queue is full.

#include <cstdint>
#include <vector>

#include "core/instant.hpp"
#include "core/reader.hpp"

namespace ridgeline::hw {

struct LaunchSpec {
  core::Nanoseconds issue;     // host time to launch one kernel, framework included
  core::Nanoseconds doorbell;  // from the host's write to the start of a kernel on an idle device
  core::Nanoseconds dispatch;  // between two dependent kernels that are both in the queue
  std::int64_t queue_depth = 1024;   // kernels that may wait
  bool blocking = false;             // the host waits for each kernel: HIP_LAUNCH_BLOCKING=1, or a
                                     // synchronisation after every operator
  core::Nanoseconds floor;           // shortest kernel
  core::Nanoseconds graph_submit;    // host time to launch a graph
  core::Nanoseconds graph_node;      // and each kernel in it
  core::Nanoseconds graph_dispatch;  // between two kernels of a graph
  core::Nanoseconds graph_floor;     // shortest kernel of a graph

  bool operator==(const LaunchSpec&) const = default;
};

[[nodiscard]] LaunchSpec read_launch(const core::Reader& in);

enum class LaunchMode : std::uint8_t { eager, graph };

/// When one kernel was issued and when it ran, counted from the moment the host began to issue the
/// step's first.
struct KernelTiming {
  core::Nanoseconds issue_begin;  // host: of a graph, of the whole submission
  core::Nanoseconds issue_end;
  core::Nanoseconds start;  // device
  core::Nanoseconds end;
  core::Nanoseconds dispatch_gap;  // of the gap before it: the device's part
  core::Nanoseconds launch_gap;    // and the host's
};

/// Feed it durations in order; it answers when each kernel runs. One instance serves many steps:
/// `begin` resets it without allocating.
class LaunchQueue {
 public:
  explicit LaunchQueue(const LaunchSpec& spec);

  /// Starts a step of `kernels` kernels at time zero of the host and an idle device.
  void begin(LaunchMode mode, std::int64_t kernels);
  /// The next kernel.
  KernelTiming push(core::Nanoseconds duration);

 private:
  LaunchSpec spec_;
  LaunchMode mode_ = LaunchMode::eager;
  bool first_ = true;
  std::int64_t host_ = 0;  // when the host is free again
  std::int64_t graph_begin_ = 0;
  std::int64_t end_ = 0;  // of the kernel before
  bool bounded_ = false;  // more kernels than the queue holds
  std::size_t slot_ = 0;
  std::vector<std::int64_t> starts_;  // ring of the last queue_depth starts
};

}  // namespace ridgeline::hw
