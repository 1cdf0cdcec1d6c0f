#pragma once
// What a recording shows, in numbers: how the device's time was used, by which kernels, what it
// waited for, how deep the queue was. All of it within the steps; what ran outside them is not
// counted.
//
//     time = busy + idle                                         per device, to the nanosecond
//     busy = computation + exposed communication + exposed copies
//     idle = the sum of the gaps by cause                        on the main device
//
// Sets as TraceLens defines them: computation is every kernel and memset that is no collective.
// Unlike there, a spinning collective that overlaps nothing is shown as exposed, not as work.
//
// Where the queue is backed up, ROCm shows kernels without gaps and puts the cost of dispatch into
// their durations: so idle near zero does not clear dispatch, and kernels at the floor are counted.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "timeline/steps.hpp"

namespace ridgeline::timeline {

struct DeviceUse {
  std::int32_t device = 0;
  core::Nanoseconds time;  // of the steps
  core::Nanoseconds busy;
  core::Nanoseconds computation;
  core::Nanoseconds exposed_communication;
  core::Nanoseconds exposed_copies;
  core::Nanoseconds idle;

  [[nodiscard]] double busy_share() const {
    return time.count == 0 ? 0.0
                           : static_cast<double>(busy.count) / static_cast<double>(time.count);
  }
};

struct Durations {
  std::int64_t count = 0;
  core::Nanoseconds total;
  core::Nanoseconds min;
  core::Nanoseconds median;
  core::Nanoseconds max;
};

struct ClassRow {
  KernelClass cls = KernelClass::other;
  Durations durations;
  // Where operators' shapes are known:
  core::Nanoseconds shaped_time;
  core::Flop flop{};
  core::Bytes bytes{};  // inputs and result once each: what must move
};

struct NameRow {
  std::uint32_t name = 0;  // into Recording::names
  KernelClass cls = KernelClass::other;
  std::string_view family;
  Durations durations;
};

/// Kernels about as short as a kernel can be: their time is that of being dispatched.
struct FloorKernels {
  core::Nanoseconds shortest;  // that is common: a twentieth of the kernels are no longer
  core::Nanoseconds limit;     // 1.25 of that and 6 us at least, 10 us at most
  std::int64_t count = 0;
  std::int64_t kernels = 0;
  core::Nanoseconds time;
};

/// From the end of a kernel's launch call to its start, and what lay before it in its stream at
/// that time.
struct Backlog {
  std::int64_t kernels = 0;  // linked ones
  core::Nanoseconds median_wait;
  core::Nanoseconds p90_wait;
  double mean_ahead = 0.0;    // kernels queued and not started
  double share_behind = 0.0;  // of kernels with at least one ahead: the host kept up
};

/// Why the device had nothing to run. A gap is split where the host handed the next kernel over.
enum class GapCause : std::uint8_t {
  host_late,   // the next kernel was not launched yet
  sync,        // likewise, because the host had waited for the device, or for a copy that blocks
  dispatch,    // launched, and not started: up to a millisecond
  unrecorded,  // launched, and started more than a millisecond later: waited for something outside
               // the recording
  unknown,     // the next kernel's launch is not recorded
};
inline constexpr std::size_t kGapCauses = 5;
inline constexpr std::array<std::string_view, kGapCauses> kGapCauseNames{
    "host_late", "sync", "dispatch", "unrecorded", "unknown"};
[[nodiscard]] constexpr std::string_view name_of(GapCause c) {
  return kGapCauseNames[static_cast<std::size_t>(c)];
}

struct GapRow {
  std::int64_t count = 0;
  core::Nanoseconds total;
  core::Nanoseconds longest;
};

/// A copy call that lasted long while its copy did not: the host waited for earlier work. Neither
/// pinned memory nor overlap shortens it.
struct BlockedCopy {
  std::size_t call = 0;  // index into Recording::calls
  core::Nanoseconds on_host;
  core::Nanoseconds on_device;
  std::int64_t bytes = -1;
};

struct CopyRow {
  CopyKind kind = CopyKind::unknown;  // as the runtime was asked: what a blit kernel does is often
                                      // named wrongly
  std::int64_t count = 0;
  core::Nanoseconds time;
  core::Bytes bytes{};          // of those whose size is known
  core::BytesPerSecond rate{};  // of the same; 0 where none is
};

struct Inspection {
  core::Nanoseconds
      recorded;  // from the first device event to the end of the last, outside the steps too
  core::Nanoseconds recorded_busy;  // union on the main device over all of it
  std::int32_t main_device = -1;
  std::vector<DeviceUse> devices;  // the main one first
  std::vector<ClassRow> classes;   // of the main device, most time first; likewise below
  std::vector<NameRow> names;
  FloorKernels floor;
  Backlog backlog;
  std::array<GapRow, kGapCauses> gaps{};
  std::vector<BlockedCopy> blocked_copies;  // in the whole recording, longest first
  std::vector<CopyRow> copies;

  [[nodiscard]] const GapRow& gap(GapCause cause) const {
    return gaps[static_cast<std::size_t>(cause)];
  }
};

[[nodiscard]] Inspection inspect(const Recording& recording, const Steps& steps,
                                 const Launches& launches);
[[nodiscard]] Inspection inspect(const Recording& recording, const Steps& steps);

}  // namespace ridgeline::timeline
