#pragma once
// Why a device was idle before each of its events, from what the host was doing. See GapCause.

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "timeline/inspection.hpp"

namespace ridgeline::timeline {

class GapSorter {
 public:
  GapSorter(const Recording& recording, const Launches& launches);

  /// The device was idle from `begin` until event `event` started.
  void add(core::Instant begin, std::size_t event);
  /// The device was idle to the end of its step: the host had launched nothing more.
  void add_tail(core::Instant begin, core::Instant end) { put(GapCause::host_late, end - begin); }

  [[nodiscard]] const std::array<GapRow, kGapCauses>& rows() const { return rows_; }

 private:
  void put(GapCause cause, core::Nanoseconds length);
  [[nodiscard]] bool waited_before(const HostCall& launch, core::Instant since) const;

  /// Calls in which a host thread waits for the device, by start; each with the latest end of those
  /// so far.
  struct Wait {
    core::Instant start;
    core::Instant latest_end;
  };

  const Recording& recording_;
  const Launches& launches_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Wait>>
      waits_;  // by process and thread
  std::array<GapRow, kGapCauses> rows_{};
};

}  // namespace ridgeline::timeline
