#include "timeline/readers/rocpd.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "timeline/readers/rocpd_terms.hpp"
#include "timeline/readers/sqlite.hpp"

namespace ridgeline::timeline {
namespace {

class Rocpd {
 public:
  Rocpd(const SqliteDatabase& db, Recording& recording) : db_(db), r_(recording) {}

  void read() {
    if (!db_.has("kernels")) {
      throw core::ConfigError(
          r_.file +
          ": a rocpd database without its view 'kernels'; write it anew with rocpd or rocprofv3");
    }
    read_devices();
    read_kernels();
    if (has("memory_copies")) read_copies();
    if (has("regions")) read_regions();
    if (has("memory_allocations")) read_allocations();
    if (has("pmc_events")) read_counters();
    gate_.tell(r_);
    scopes_.tell(r_);
    finish_rocm_recording(r_);
  }

 private:
  [[nodiscard]] bool has(std::string_view view) {
    if (db_.has(view)) return true;
    r_.missing.push_back("no view '" + std::string(view) + "'");
    return false;
  }

  /// Each guid is a process.
  [[nodiscard]] std::int64_t scope_of(std::string_view guid) {
    return scopes_.scope_of(std::string(guid));
  }
  [[nodiscard]] std::int64_t correlation(std::string_view guid, std::int64_t id) {
    return scopes_.correlation(scope_of(guid), id);
  }

  void read_devices() {
    if (!db_.has("rocpd_info_agent")) return;
    SqliteRows rows = db_.rows(
        "SELECT coalesce(nullif(product_name, ''), nullif(model_name, ''), name), name,"
        " CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.cu_count') END"
        " FROM rocpd_info_agent WHERE type = 'GPU' ORDER BY guid, absolute_index");
    while (rows.next()) {
      DeviceInfo device;
      device.name = rows.text(0);
      device.architecture = rows.text(1);
      device.compute_units = rows.integer(2);
      r_.devices.push_back(std::move(device));
    }
  }

  void read_kernels() {
    SqliteRows rows = db_.rows(
        "SELECT guid, dispatch_id, name, agent_abs_index, stream_id, start, \"end\", grid_x, "
        "grid_y, grid_z,"
        " workgroup_x, workgroup_y, workgroup_z, stack_id, corr_id FROM kernels ORDER BY start, "
        "id");
    while (rows.next()) {
      DeviceEvent e;
      if (!set_times(e, rows, 5)) continue;
      e.name = r_.names.of(kernel_name(rows.text(2)));
      e.device = to_int32(rows.integer(3));
      e.stream = to_int32(rows.integer(4));
      set_grid_in_threads(e, {rows.integer(7), rows.integer(8), rows.integer(9)},
                          {rows.integer(10), rows.integer(11), rows.integer(12)});
      e.correlation = correlation(rows.text(0), rows.integer(13));
      e.external_id = rows.integer(14);
      dispatches_[{scope_of(rows.text(0)), rows.integer(1)}] =
          static_cast<std::int64_t>(r_.device_events.size());
      r_.device_events.push_back(e);
    }
  }

  void read_copies() {
    SqliteRows rows = db_.rows(
        "SELECT guid, name, src_agent_abs_index, dst_agent_abs_index, stream_id, start, \"end\", "
        "size, stack_id, corr_id"
        " FROM memory_copies ORDER BY start, id");
    while (rows.next()) {
      DeviceEvent e;
      if (!set_times(e, rows, 5)) continue;
      e.kind = DeviceEvent::Kind::copy;
      e.name = r_.names.of(rows.text(1));
      e.copy = copy_kind(rows.text(1));
      e.device = to_int32(rows.integer(e.copy == CopyKind::device_to_host ? 2 : 3));
      e.stream = to_int32(rows.integer(4));
      e.bytes = rows.integer(7);
      e.correlation = correlation(rows.text(0), rows.integer(8));
      e.external_id = rows.integer(9);
      r_.device_events.push_back(e);
    }
  }

  void read_regions() {
    SqliteRows rows = db_.rows(
        "SELECT guid, category, name, pid, tid, start, \"end\", stack_id,"
        " CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.message') END FROM regions "
        "ORDER BY start, id");
    while (rows.next()) {
      HostCall c;
      if (!set_times(c, rows, 5)) continue;
      c.process = rows.integer(3);
      c.thread = rows.integer(4);
      if (rows.text(1).starts_with(
              "MARKER")) {  // name is roctx's function; what it was told is the message
        const std::uint32_t name = r_.names.of(rows.text(8).empty() ? rows.text(2) : rows.text(8));
        r_.annotations.push_back({c.start, c.duration, name, false, c.thread});
        continue;
      }
      c.name = r_.names.of(rows.text(2));
      c.kind = call_kind(rows.text(2));
      c.correlation = correlation(rows.text(0), rows.integer(7));
      r_.calls.push_back(c);
    }
  }

  void read_allocations() {
    SqliteRows rows = db_.rows(
        "SELECT guid, level, type, pid, tid, start, \"end\", size, stack_id FROM "
        "memory_allocations ORDER BY start, id");
    while (rows.next()) {
      HostCall c;
      if (!set_times(c, rows, 5)) continue;
      c.kind = HostCall::Kind::allocate;
      const std::string_view table =
          rows.text(1) == "SCRATCH" ? "SCRATCH_MEMORY_" : "MEMORY_ALLOCATION_";
      c.name = r_.names.of(std::string(table) + std::string(rows.text(2)));
      c.process = rows.integer(3);
      c.thread = rows.integer(4);
      c.bytes = rows.integer(7);
      c.correlation = correlation(rows.text(0), rows.integer(8));
      r_.calls.push_back(c);
    }
  }

  /// A counter comes in instances, one row each; their sum is what rocprofv3's other formats hold.
  void read_counters() {
    SqliteRows rows = db_.rows(
        "SELECT guid, dispatch_id, counter_name, sum(counter_value) FROM pmc_events GROUP BY guid, "
        "dispatch_id, counter_name"
        " ORDER BY guid, dispatch_id, counter_name");
    bool any = false;
    while (rows.next()) {
      const auto event = dispatches_.find({scope_of(rows.text(0)), rows.integer(1)});
      if (event == dispatches_.end()) continue;
      const DeviceEvent& kernel = r_.device_events[static_cast<std::size_t>(event->second)];
      r_.counters.push_back({kernel.start, r_.names.of(rows.text(2)), rows.real(3), event->second});
      any = true;
    }
    if (any)
      r_.missing.emplace_back(
          "gaps between kernels mean nothing: collecting counters runs kernels one by one");
  }

  template <class Event>
  [[nodiscard]] bool set_times(Event& event, const SqliteRows& rows, int start_column) {
    const std::int64_t start = rows.integer(start_column);
    const std::int64_t end = rows.integer(start_column + 1);
    if (!gate_.lets_pass(start, end)) return false;
    event.start = core::Instant{start};
    event.duration = core::Nanoseconds{end - start};
    return true;
  }

  const SqliteDatabase& db_;
  Recording& r_;
  TimeGate gate_;
  ProcessScopes scopes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>
      dispatches_;  // (scope, dispatch_id): index of the event
};

}  // namespace

bool recognizes_rocpd(const RecordingFile& file) {
  if (!is_sqlite(file)) return false;
  try {
    const SqliteDatabase db(file);
    if (db.has("rocpd_api_ops")) return false;  // RPD
    return db
        .rows(
            "SELECT 1 FROM sqlite_master WHERE name LIKE 'rocpd\\_kernel\\_dispatch%' ESCAPE '\\'")
        .next();
  } catch (const core::ConfigError&) {
    return false;  // damaged: recognizes_rpd takes it
  }
}

Recording read_rocpd(const RecordingFile& file) {
  Recording recording;
  recording.format = "rocpd";
  recording.file = file.name;
  const SqliteDatabase db(file);
  Rocpd(db, recording).read();
  return recording;
}

}  // namespace ridgeline::timeline
