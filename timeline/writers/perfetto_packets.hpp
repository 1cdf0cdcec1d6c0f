#pragma once
// Perfetto packets on their way out: tracks are announced at once, events wait until no earlier one
// can come.

#include <perfetto.pb.h>  // generated from perfetto.proto

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "core/instant.hpp"

namespace ridgeline::timeline {

class PerfettoPackets {
 public:
  /// Times are written relative to `origin`: the format has no negative ones.
  PerfettoPackets(std::ostream& out, core::Instant origin) : out_(out), origin_(origin) {}

  void track(perfetto::TrackDescriptor descriptor);
  void event(core::Instant at, perfetto::TrackEvent event);
  /// Writes the events before `time`. Those of one time keep the order in which they came.
  void flush_before(core::Instant time);

 private:
  struct Waiting {
    core::Instant at;
    std::int64_t number;
    perfetto::TrackEvent event;
    bool operator>(const Waiting& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  void write(perfetto::TracePacket& packet);

  std::ostream& out_;
  core::Instant origin_;
  std::vector<Waiting> waiting_;  // a heap, earliest first
  std::int64_t events_ = 0;
  bool first_ = true;
  std::string bytes_;
};

}  // namespace ridgeline::timeline
