#pragma once
// Which host call launched each device event: the two are joined by correlation. All kernels of a
// graph replay share one call.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

/// When the device had the work: a launch has handed it over by its end. A copy that blocks ends
/// only after its device event, and a graph's kernels may run while its launch goes on: from the
/// start of such a call.
[[nodiscard]] inline core::Instant queued_at(const HostCall& call, const DeviceEvent& event) {
  if (call.kind == HostCall::Kind::copy) return call.start;
  if (event.start >= call.end()) return call.end();
  return call.kind == HostCall::Kind::graph_launch ? call.start : std::max(call.start, event.start);
}

/// A start that much later than both the launch and the device's last work waited for something
/// that is not recorded.
inline constexpr core::Nanoseconds kUnseenWait{1'000'000};

class Launches {
 public:
  explicit Launches(const Recording& recording);

  /// Index into Recording::calls of the call behind device event `event`; -1 where none is
  /// recorded.
  [[nodiscard]] std::int32_t call_of(std::size_t event) const { return call_of_[event]; }
  [[nodiscard]] const HostCall* of(std::size_t event) const {
    return call_of_[event] < 0 ? nullptr
                               : &recording_->calls[static_cast<std::size_t>(call_of_[event])];
  }
  /// Device events that have one.
  [[nodiscard]] std::int64_t linked() const { return linked_; }

 private:
  const Recording* recording_;
  std::vector<std::int32_t> call_of_;
  std::int64_t linked_ = 0;
};

}  // namespace ridgeline::timeline
