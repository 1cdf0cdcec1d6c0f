#pragma once
// Sorts a Chrome trace's events into a Recording, and at the end joins what only the whole file
// tells: a kernel with its launch.
//
// The device's rows of Kineto have a category. Those of rpd2tracing and rocprof v1 have none: their
// process is named GPU0, GPU1, …, and what joins them to calls are arrows from within the call to
// the start of the row.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "timeline/readers/kineto_event.hpp"
#include "timeline/readers/kineto_joins.hpp"
#include "timeline/recording.hpp"

namespace ridgeline::timeline {

class KinetoEvents {
 public:
  explicit KinetoEvents(Recording& recording) : recording_(recording) {}

  void add(const KinetoEvent& event);
  [[nodiscard]] bool has_rows() const {
    return !rows_.empty();
  }  // of which finish() makes events and calls
  /// Makes room for `times` as much as there is. Lists that grow bit by bit would fetch twice the
  /// memory, and memory costs as much as parsing.
  void expect(std::size_t times);
  /// Adds what another, of a later part of the same file, has gathered, and leaves it empty.
  void take(KinetoEvents& later);
  /// Joins, and says in `missing` what the recording lacks.
  void finish();

 private:
  /// What a kernel or a copy needs of the call that launched it.
  struct Launch {
    std::int64_t correlation = 0;
    HostCall::Kind kind = HostCall::Kind::other;
    CopyKind copy = CopyKind::unknown;
    bool grid_in_threads = false;
    std::array<std::int64_t, 3> grid{};
    std::array<std::int64_t, 3> block{};
  };
  /// A row without category: of a device or of the host, as its process turns out to be.
  struct Row {
    std::int64_t start = 0;
    std::int64_t duration = 0;
    std::uint32_t name = 0;
    std::uint32_t description = 0;
    std::int64_t process = 0;
    std::int64_t thread = 0;
  };

  void add_device_event(const KinetoEvent& event, DeviceEvent::Kind kind);
  void add_call(const KinetoEvent& event);
  void add_operator(const KinetoEvent& event);
  void add_counter(const KinetoEvent& event);
  void name_process(const KinetoEvent& event);

  void place_rows();
  void use_launches();

  Recording& recording_;
  std::vector<Launch> launches_;  // as the file has them; of a correlation the first counts
  std::unordered_map<std::int64_t, std::int32_t> device_of_process_;
  std::vector<Row> rows_;
  std::vector<Arrow> arrow_starts_;
  std::vector<Arrow> arrow_ends_;
  std::int64_t without_time_ = 0;
  std::int64_t negative_ = 0;
};

}  // namespace ridgeline::timeline
