#include "timeline/readers/rpd.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/error.hpp"
#include "timeline/readers/rocpd_terms.hpp"
#include "timeline/readers/runtime_calls.hpp"
#include "timeline/readers/sqlite.hpp"

namespace ridgeline::timeline {
namespace {

/// Kernels are KernelExecution, or Task when a graph launched them; copies say which way; memset is
/// FillBuffer.
DeviceEvent::Kind kind_of_op(std::string_view type) {
  if (type.starts_with("Copy")) return DeviceEvent::Kind::copy;
  return type.starts_with("Fill") ? DeviceEvent::Kind::set : DeviceEvent::Kind::kernel;
}

/// Operations of the queue that are not work: barriers and markers.
bool is_work(std::string_view type) {
  return type.find("Barrier") == std::string_view::npos && type != "Marker";
}

void read_ops(const SqliteDatabase& db, Recording& r, TimeGate& gate) {
  // An operation belongs to one call; the smallest is taken should there be more.
  SqliteRows rows = db.rows(
      "SELECT O.gpuId, O.queueId, O.start, O.\"end\", D.string, T.string, L.api, N.string,"
      " K.gridX, K.gridY, K.gridZ, K.workgroupX, K.workgroupY, K.workgroupZ, C.size, C.kind"
      " FROM rocpd_op O"
      " LEFT JOIN rocpd_string D ON D.id = O.description_id LEFT JOIN rocpd_string T ON T.id = "
      "O.opType_id"
      " LEFT JOIN (SELECT op_id, min(api_id) AS api FROM rocpd_api_ops GROUP BY op_id) L ON "
      "L.op_id = O.id"
      " LEFT JOIN rocpd_api A ON A.id = L.api LEFT JOIN rocpd_string N ON N.id = A.apiName_id"
      " LEFT JOIN rocpd_kernelapi K ON K.api_ptr_id = L.api LEFT JOIN rocpd_copyapi C ON "
      "C.api_ptr_id = L.api"
      " ORDER BY O.id");
  while (rows.next()) {
    const std::string_view type = rows.text(5);
    if (!is_work(type)) continue;
    const std::int64_t start = rows.integer(2);
    const std::int64_t end = rows.integer(3);
    if (!gate.lets_pass(start, end)) continue;
    DeviceEvent e;
    e.start = core::Instant{start};
    e.duration = core::Nanoseconds{end - start};
    e.kind = kind_of_op(type);
    e.from_graph = type == "Task";
    e.device = to_int32(rows.integer(0));
    e.stream = to_int32(rows.integer(1));
    e.correlation = rows.integer(6);
    const std::string_view description = kernel_name(rows.text(4));
    e.name = r.names.of(description.empty() ? type : description);
    if (e.kind == DeviceEvent::Kind::copy) {
      e.copy = copy_kind(type);
      if (!rows.is_null(14)) e.bytes = rows.integer(14);
      // The call knows better: a blit kernel may call itself a copy between devices.
      if (!rows.is_null(15) && copy_kind(rows.integer(15)) != CopyKind::unknown)
        e.copy = copy_kind(rows.integer(15));
    }
    if (e.kind == DeviceEvent::Kind::kernel && !rows.is_null(8)) {
      const Sizes group{rows.integer(11), rows.integer(12), rows.integer(13)};
      Sizes grid{rows.integer(8), rows.integer(9), rows.integer(10)};
      if (!counts_grid_in_threads(rows.text(7))) {
        for (std::size_t i = 0; i < 3; ++i)
          grid[i] = std::int64_t{to_int32(grid[i])} * to_int32(group[i]);
      }
      set_grid_in_threads(e, grid, group);
    }
    r.device_events.push_back(e);
  }
}

void read_calls(const SqliteDatabase& db, Recording& r, TimeGate& gate) {
  SqliteRows rows = db.rows(
      "SELECT A.id, A.pid, A.tid, A.start, A.\"end\", N.string, G.string, C.size, C.kind FROM "
      "rocpd_api A"
      " LEFT JOIN rocpd_string N ON N.id = A.apiName_id LEFT JOIN rocpd_string G ON G.id = "
      "A.args_id"
      " LEFT JOIN rocpd_copyapi C ON C.api_ptr_id = A.id ORDER BY A.id");
  while (rows.next()) {
    const std::int64_t start = rows.integer(3);
    const std::int64_t end = rows.integer(4);
    if (!gate.lets_pass(start, end)) continue;
    HostCall c;
    c.start = core::Instant{start};
    c.duration = core::Nanoseconds{end - start};
    c.process = rows.integer(1);
    c.thread = rows.integer(2);
    if (rows.text(5) ==
        "UserMarker") {  // roctx and rpd_tracer's rangePush: the text is the argument
      r.annotations.push_back({c.start, c.duration, r.names.of(rows.text(6)), false, c.thread});
      continue;
    }
    c.name = r.names.of(rows.text(5));
    c.kind = call_kind(rows.text(5));
    c.correlation = rows.integer(0);
    if (!rows.is_null(7)) c.bytes = rows.integer(7);
    if (!rows.is_null(8)) c.copy = copy_kind(rows.integer(8));
    r.calls.push_back(c);
  }
}

/// "sclk" of each device over time. What the monitor saw before anything was recorded is of no use.
void read_monitor(const SqliteDatabase& db, Recording& r) {
  if (!db.has("rocpd_monitor")) return;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const DeviceEvent& e : r.device_events) first = std::min(first, e.start.ns);
  for (const HostCall& c : r.calls) first = std::min(first, c.start.ns);
  SqliteRows rows = db.rows(
      "SELECT monitorType, start, \"end\", CAST(value AS REAL) FROM rocpd_monitor ORDER BY start, "
      "id");
  while (rows.next()) {
    if (rows.integer(2) <= first) continue;
    r.counters.push_back({core::Instant{std::max(rows.integer(1), first)}, r.names.of(rows.text(0)),
                          rows.real(3), -1});
  }
}

}  // namespace

bool recognizes_rpd(const RecordingFile& file) {
  if (!is_sqlite(file)) return false;
  try {
    const SqliteDatabase db(file);
    return db.has("rocpd_op") && db.has("rocpd_api_ops");
  } catch (const core::ConfigError&) {
    return true;  // damaged: reading it will say how
  }
}

Recording read_rpd(const RecordingFile& file) {
  Recording r;
  r.format = "rpd";
  r.file = file.name;
  const SqliteDatabase db(file);
  TimeGate gate;
  read_ops(db, r, gate);
  read_calls(db, r, gate);
  read_monitor(db, r);
  gate.tell(r);
  finish_rocm_recording(r);
  return r;
}

}  // namespace ridgeline::timeline
