#pragma once
// The words of AMD's profilers (rocprof, rocprofv3, RPD, rocpd) in ours: what kind of call, which
// way a copy goes, grids, times.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

/// By the function's name, HIP's or HSA's.
[[nodiscard]] HostCall::Kind call_kind(std::string_view function);
/// "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice".
[[nodiscard]] CopyKind copy_kind(std::string_view direction);
/// hipMemcpyKind: 0 host to host, 1 host to device, 2 device to host, 3 device to device; 4 is for
/// the runtime to find out.
[[nodiscard]] CopyKind copy_kind(std::int64_t hip_memcpy_kind);
/// A kernel's name without the mark of its descriptor: ".kd", " (.kd)", " [clone .kd]".
[[nodiscard]] std::string_view kernel_name(std::string_view symbol);

/// A number of SQLite's as one of ours, at the limit where it does not fit.
[[nodiscard]] std::int32_t to_int32(std::int64_t value);

using Sizes = std::array<std::int64_t, 3>;
/// Sets grid and workgroup of a kernel whose grid is counted in threads, as HSA's dispatch packet
/// has it.
void set_grid_in_threads(DeviceEvent& event, const Sizes& grid, const Sizes& workgroup);

/// Processes count their correlations from 1 each, so that the same number means different calls.
/// Those of the first process seen stay as they are; the others' get numbers that no process counts
/// to.
class ProcessScopes {
 public:
  /// The number of a process, named by whatever tells it apart.
  [[nodiscard]] std::int64_t scope_of(const std::string& process);
  [[nodiscard]] std::int64_t correlation(std::int64_t scope, std::int64_t id);
  void tell(Recording& recording) const;

 private:
  std::map<std::string, std::int64_t> scopes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> renamed_;
};

/// Counts and tells of rows whose times cannot be: they were not recorded (zero), or they end
/// before they start.
class TimeGate {
 public:
  /// Whether a row with these times can be used.
  [[nodiscard]] bool lets_pass(std::int64_t start, std::int64_t end) {
    const bool good = start > 0 && end >= start;
    if (!good) ++stopped_;
    return good;
  }
  void tell(Recording& recording) const;

 private:
  std::int64_t stopped_ = 0;
};

/// What every reader of this family does last: moves time zero to the earliest start, says what is
/// absent, and finishes.
void finish_rocm_recording(Recording& recording);

}  // namespace ridgeline::timeline
