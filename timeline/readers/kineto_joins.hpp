#pragma once
// What only a whole Chrome trace tells: which row an arrow joins to which call, where time begins,
// and what the file lacks.

#include <cstdint>
#include <vector>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

/// One end of an arrow (a flow event, phase s or f).
struct Arrow {
  std::int64_t id = 0;
  std::int64_t at = 0;  // ns
  std::int64_t process = 0;
  std::int64_t thread = 0;
};

/// rpd2tracing: an arrow begins within a call on its thread and ends where a device's row starts.
/// Both get a correlation, the number of the call's first arrow.
void join_by_arrows(Recording& recording, const std::vector<Arrow>& starts,
                    const std::vector<Arrow>& ends);

/// Where the file gives no base of its times, old Kineto counts from 1970 and rocprof from when the
/// machine started: the earliest event becomes time zero then. Where it does, times stay as they
/// are.
void set_time_zero(Recording& recording);

/// Sentences on what the analyses will not find here.
void tell_what_is_missing(Recording& recording);

}  // namespace ridgeline::timeline
