#pragma once
// Which host call launched each device event: the two are joined by correlation. All kernels of a graph replay share one call.

#include <cstdint>
#include <vector>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

class Launches {
 public:
  explicit Launches(const Recording& recording);

  /// Index into Recording::calls of the call behind device event `event`; -1 where none is recorded.
  [[nodiscard]] std::int32_t call_of(std::size_t event) const { return call_of_[event]; }
  [[nodiscard]] const HostCall* of(std::size_t event) const {
    return call_of_[event] < 0 ? nullptr : &recording_->calls[static_cast<std::size_t>(call_of_[event])];
  }
  /// Device events that have one.
  [[nodiscard]] std::int64_t linked() const { return linked_; }

 private:
  const Recording* recording_;
  std::vector<std::int32_t> call_of_;
  std::int64_t linked_ = 0;
};

}  // namespace ridgeline::timeline
