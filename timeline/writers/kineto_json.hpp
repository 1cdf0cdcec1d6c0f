#pragma once
// How Kineto spells its file: the header, single events, the end. Which events there are is decided
// in kineto.cpp.

#include <fmt/format.h>

#include <cstdint>
#include <iosfwd>
#include <string_view>

#include "core/instant.hpp"
#include "timeline/span_source.hpp"
#include "timeline/writers/kineto.hpp"

namespace ridgeline::timeline {

/// `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

/// A track: Chrome's (pid, tid).
struct Track {
  std::int64_t process = 0;
  std::int64_t thread = 0;
};

class KinetoJson {
 public:
  KinetoJson(std::ostream& out, const DeviceInfo& device, const KinetoOptions& options);

  /// An X event. `name` and `args` are JSON already: a quoted string, and the inside of an object.
  void slice(std::string_view category, std::string_view name, Track track, core::Instant start,
             core::Nanoseconds duration, std::string_view args);
  /// The two ends of an arrow from a launch to its kernel.
  void flow_start(std::int64_t id, Track track, core::Instant at);
  void flow_finish(std::int64_t id, Track track, core::Instant at);
  /// A C event with one series of the same name.
  void counter(std::string_view name, Track track, core::Instant at, std::int64_t value);
  void counter(std::string_view name, Track track, core::Instant at, double value);
  /// The five M events, of a process and of a thread. TraceLens fails on any other name.
  void name_process(std::int64_t process, std::string_view name, std::string_view label,
                    std::int64_t sort_index);
  void name_thread(Track track, std::string_view name, std::int64_t sort_index);

  /// Closes the document and hands everything to the stream. Nothing may follow.
  void finish(std::string_view trace_name);

 private:
  void begin_event();
  void flush();

  std::ostream& out_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
};

}  // namespace ridgeline::timeline
