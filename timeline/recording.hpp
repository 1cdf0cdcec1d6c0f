#pragma once
// A profiler's file, read: everything it said that the analyses use, whatever the format. Times are
// nanoseconds since the recording's own base, exact. What a file does not say is absent (0, -1 or
// an empty name, as noted), and `missing` tells the user.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/instant.hpp"
#include "timeline/name_index.hpp"
#include "timeline/span_source.hpp"

namespace ridgeline::timeline {

enum class CopyKind : std::uint8_t {
  unknown,
  host_to_host,
  host_to_device,
  device_to_host,
  device_to_device
};

/// Something that ran on a device.
struct DeviceEvent {
  enum class Kind : std::uint8_t { kernel, copy, set };
  core::Instant start;
  core::Nanoseconds duration;
  Kind kind = Kind::kernel;
  CopyKind copy = CopyKind::unknown;
  bool from_graph = false;       // the file says so, or it shares its launch with other kernels
  std::uint32_t name = 0;        // into Recording::names; 0 none
  std::int32_t device = 0;       // as the file numbers them
  std::int32_t stream = 0;       // likewise: stream, or queue where there are no streams
  std::int64_t correlation = 0;  // of the host call that launched it; 0 unknown
  std::int64_t external_id = 0;  // of the framework operator that it belongs to; 0 unknown
  std::int64_t bytes = -1;       // moved by a copy; -1 unknown
  std::array<std::int64_t, 3>
      workgroups{};  // grid in workgroups, whatever unit the file counts in; all 0 unknown
  std::array<std::int32_t, 3> threads{};  // of a workgroup; all 0 unknown

  [[nodiscard]] core::Instant end() const { return start + duration; }
};

/// A call of the runtime on the host.
struct HostCall {
  enum class Kind : std::uint8_t { other, launch, graph_launch, copy, synchronize, allocate };
  core::Instant start;
  core::Nanoseconds duration;
  Kind kind = Kind::other;
  CopyKind copy =
      CopyKind::unknown;  // as the runtime was asked; device events are sometimes named wrongly
  std::uint32_t name = 0;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t correlation = 0;
  std::int64_t bytes = -1;

  [[nodiscard]] core::Instant end() const { return start + duration; }
};

/// A framework operator with the shapes of its inputs, where they were recorded.
struct Operator {
  core::Instant start;
  core::Nanoseconds duration;
  std::uint32_t name = 0;
  std::int64_t external_id = 0;
  std::int64_t thread = 0;
  std::vector<std::vector<std::int64_t>> shapes;  // of its tensor inputs; scalars are empty
  std::uint32_t dtype = 0;                        // of the first input, as written
};

/// A named stretch of time: a step of the engine, of the profiler, a user's marker.
struct Annotation {
  core::Instant start;
  core::Nanoseconds duration;
  std::uint32_t name = 0;
  bool on_device = false;
  std::int64_t thread = 0;
};

/// One value of a counter: of the server (kv_cache_usage), or of a kernel
/// (SQ_INSTS_VALU_MFMA_MOPS_BF16).
struct CounterValue {
  core::Instant time;
  std::uint32_t name = 0;
  double value = 0.0;
  std::int64_t event = -1;  // index of the device event it belongs to; -1 for a value over time
};

struct Recording {
  Recording() { static_cast<void>(names.of("")); }  // name 0: none

  std::string format;    // "kineto", "rocprofv3 csv", ...
  std::string file;      // what errors and reports call it
  std::string profiler;  // "roctracer 4.1", "CUPTI 22"; empty unknown
  bool cuda = false;
  std::vector<DeviceInfo> devices;  // by id as the file lists them
  std::int64_t base_unix_ns = 0;    // what time zero is in Unix time; 0 unknown
  std::int64_t rank = -1;
  std::int64_t world_size = 1;
  bool with_stack = false;  // costly recording: host times are inflated

  NameIndex names;
  std::vector<DeviceEvent> device_events;  // by start, then as the file has them
  std::vector<HostCall> calls;             // by start
  std::vector<Operator> operators;         // by start
  std::vector<Annotation> annotations;     // by start, longest first
  std::vector<CounterValue> counters;

  std::vector<std::string>
      missing;  // sentences: "the file is truncated after event 1,204", "no correlation ids"

  [[nodiscard]] std::string_view name(std::uint32_t index) const { return names.text(index); }
};

/// Sorts what a reader gathered, marks kernels that share a launch as coming from a graph, and
/// checks what must hold of every recording. ConfigError when there is nothing on any device and no
/// call either.
void finish_recording(Recording& recording);

}  // namespace ridgeline::timeline
