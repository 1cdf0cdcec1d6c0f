// Does a rocpd database, as rocprofv3 lays it out, become one recording?

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "timeline/readers/rocpd.hpp"
#include "timeline/readers/rpd.hpp"

namespace ridgeline::timeline {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

/// The part of rocprofiler-sdk's schema that is read: tables with the uuid in their names, views
/// over them without.
std::string schema() {
  std::string sql;
  const auto table = [&](const std::string& name, const std::string& columns) {
    sql += "CREATE TABLE `" + name + "_00ab` (id INTEGER PRIMARY KEY, guid TEXT DEFAULT 'g1', " +
           columns + ");";
    sql += "CREATE VIEW `" + name + "` AS SELECT * FROM `" + name + "_00ab`;";
  };
  table("rocpd_string", "string TEXT");
  table("rocpd_info_process", "pid INTEGER");
  table("rocpd_info_thread", "tid INTEGER");
  table("rocpd_info_agent",
        "type TEXT, absolute_index INTEGER, name TEXT, model_name TEXT, product_name TEXT, extdata "
        "TEXT DEFAULT '{}'");
  table("rocpd_info_kernel_symbol", "display_name TEXT");
  table("rocpd_info_pmc", "name TEXT");
  table("rocpd_event",
        "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, "
        "extdata TEXT DEFAULT '{}'");
  table("rocpd_kernel_dispatch",
        "tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, "
        "stream_id INTEGER, start BIGINT,"
        " \"end\" BIGINT, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z "
        "INTEGER, grid_size_x INTEGER,"
        " grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER");
  table("rocpd_memory_copy",
        "start BIGINT, \"end\" BIGINT, name_id INTEGER, dst_agent_id INTEGER, src_agent_id "
        "INTEGER, size INTEGER, stream_id INTEGER,"
        " event_id INTEGER");
  table("rocpd_memory_allocate",
        "tid INTEGER, type TEXT, level TEXT, start BIGINT, \"end\" BIGINT, size INTEGER, event_id "
        "INTEGER");
  table(
      "rocpd_region",
      "pid INTEGER, tid INTEGER, start BIGINT, \"end\" BIGINT, name_id INTEGER, event_id INTEGER");
  table("rocpd_pmc_event", "event_id INTEGER, pmc_id INTEGER, value REAL");
  return sql + R"(
    CREATE VIEW kernels AS SELECT K.id, K.guid, S.display_name AS name, A.absolute_index AS agent_abs_index, K.dispatch_id, K.stream_id,
      K.queue_id, K.start, K."end", K.grid_size_x AS grid_x, K.grid_size_y AS grid_y, K.grid_size_z AS grid_z,
      K.workgroup_size_x AS workgroup_x, K.workgroup_size_y AS workgroup_y, K.workgroup_size_z AS workgroup_z, E.stack_id,
      E.correlation_id AS corr_id FROM rocpd_kernel_dispatch K JOIN rocpd_info_agent A ON A.id = K.agent_id
      JOIN rocpd_event E ON E.id = K.event_id AND E.guid = K.guid JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id;
    CREATE VIEW regions AS SELECT R.id, R.guid, (SELECT string FROM rocpd_string C WHERE C.id = E.category_id) AS category,
      S.string AS name, R.pid, R.tid, R.start, R."end", E.stack_id, E.correlation_id AS corr_id, E.extdata FROM rocpd_region R
      JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid JOIN rocpd_string S ON S.id = R.name_id;
    CREATE VIEW memory_copies AS SELECT M.id, M.guid, S.string AS name, M.start, M."end", M.size, M.stream_id,
      D.absolute_index AS dst_agent_abs_index, F.absolute_index AS src_agent_abs_index, E.stack_id, E.correlation_id AS corr_id
      FROM rocpd_memory_copy M JOIN rocpd_string S ON S.id = M.name_id JOIN rocpd_info_agent D ON D.id = M.dst_agent_id
      JOIN rocpd_info_agent F ON F.id = M.src_agent_id JOIN rocpd_event E ON E.id = M.event_id;
    CREATE VIEW memory_allocations AS SELECT M.id, M.guid, 42 AS pid, M.tid, M.type, M.level, M.start, M."end", M.size, E.stack_id
      FROM rocpd_memory_allocate M JOIN rocpd_event E ON E.id = M.event_id;
    CREATE VIEW pmc_events AS SELECT P.id, P.guid, K.dispatch_id, I.name AS counter_name, P.value AS counter_value
      FROM rocpd_pmc_event P JOIN rocpd_info_pmc I ON I.id = P.pmc_id JOIN rocpd_kernel_dispatch K ON K.event_id = P.event_id;
    INSERT INTO rocpd_string_00ab(id, string) VALUES (1,'KERNEL_DISPATCH'), (2,'HIP_RUNTIME_API_EXT'), (3,'MARKER_CORE_RANGE_API'),
      (4,'hipLaunchKernel'), (5,'roctxRangePushA'), (6,'MEMORY_COPY_DEVICE_TO_HOST'), (7,'hipMemcpyAsync');
    INSERT INTO rocpd_info_agent_00ab(id, type, absolute_index, name, model_name, product_name, extdata) VALUES
      (0,'CPU',0,'EPYC','','EPYC','{}'), (4,'GPU',4,'gfx942','','AMD Instinct MI300X','{"cu_count":304}');
    INSERT INTO rocpd_info_kernel_symbol_00ab(id, display_name) VALUES (10,'Cijk_MT64.kd');
  )";
}

class MadeUpRocpd {
 public:
  explicit MadeUpRocpd(const std::string& script)
      : path_(fs::temp_directory_path() / ("ridgeline_" + std::to_string(::getpid()) + ".db")) {
    fs::remove(path_);
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path_.c_str(), &db) == SQLITE_OK);
    char* message = nullptr;
    sqlite3_exec(db, script.c_str(), nullptr, nullptr, &message);
    CHECK(std::string(message == nullptr ? "" : message).empty());
    sqlite3_free(message);
    sqlite3_close(db);
  }
  MadeUpRocpd(const MadeUpRocpd&) = delete;
  MadeUpRocpd& operator=(const MadeUpRocpd&) = delete;
  ~MadeUpRocpd() { fs::remove(path_); }
  [[nodiscard]] RecordingFile file() const { return {path_, "made_up.db", {}}; }

 private:
  fs::path path_;
};

const std::string kRows = R"(
  INSERT INTO rocpd_event_00ab(id, category_id, stack_id, correlation_id, extdata) VALUES (1,2,7,0,'{}'), (2,1,7,99,'{}'), (3,3,6,0,'{"message":"step 1"}'),
    (4,2,8,0,'{}'), (5,1,8,0,'{}'), (6,2,9,0,'{}');
  INSERT INTO rocpd_region_00ab(id, pid, tid, start, "end", name_id, event_id) VALUES (7,42,43,2000,2100,4,1), (6,42,43,1000,9000,5,3), (8,42,43,3000,3500,7,4);
  INSERT INTO rocpd_kernel_dispatch_00ab(id, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end", workgroup_size_x, workgroup_size_y,
    workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id) VALUES (1,4,10,1,2,1,2500,2900,256,1,1,152064,1,1,2);
  INSERT INTO rocpd_memory_copy_00ab(id, start, "end", name_id, dst_agent_id, src_agent_id, size, stream_id, event_id) VALUES (1,3100,3200,6,0,4,4096,1,5);
  INSERT INTO rocpd_memory_allocate_00ab(id, tid, type, level, start, "end", size, event_id) VALUES (1,43,'ALLOC','REAL',4000,4100,65536,6);
  INSERT INTO rocpd_info_pmc_00ab(id, name) VALUES (1,'SQ_WAVES'), (2,'TCC_HIT');
  INSERT INTO rocpd_pmc_event_00ab(id, event_id, pmc_id, value) VALUES (1,2,1,16.0), (2,2,2,1.5), (3,2,2,2.0);
)";

TEST_CASE("A rocpd database gives kernels, copies, calls, markers and counters through its views") {
  const MadeUpRocpd db(schema() + kRows);
  REQUIRE(recognizes_rocpd(db.file()));
  CHECK_FALSE(recognizes_rpd(db.file()));
  const Recording r = read_rocpd(db.file());
  CHECK(r.format == "rocpd");
  REQUIRE(r.devices.size() == 1);
  CHECK(r.devices[0].name == "AMD Instinct MI300X");
  CHECK(r.devices[0].architecture == "gfx942");
  CHECK(r.devices[0].compute_units == 304);

  REQUIRE(r.device_events.size() == 2);
  const DeviceEvent& kernel = r.device_events[0];
  CHECK(r.name(kernel.name) == "Cijk_MT64");
  CHECK(kernel.start.ns == 1500);
  CHECK(kernel.duration.count == 400);
  CHECK(kernel.device == 4);
  CHECK(kernel.stream == 1);
  CHECK(kernel.correlation == 7);  // stack_id, the tool's own; corr_id is what the user pushed
  CHECK(kernel.external_id == 99);
  CHECK(kernel.workgroups == std::array<std::int64_t, 3>{594, 1, 1});  // 152064 / 256
  const DeviceEvent& copy = r.device_events[1];
  CHECK(copy.kind == DeviceEvent::Kind::copy);
  CHECK(copy.copy == CopyKind::device_to_host);
  CHECK(copy.device == 4);
  CHECK(copy.bytes == 4096);
  CHECK(copy.correlation == 8);

  REQUIRE(r.calls.size() == 3);
  CHECK(r.name(r.calls[0].name) == "hipLaunchKernel");
  CHECK(r.calls[0].correlation == kernel.correlation);
  CHECK(r.calls[0].thread == 43);
  CHECK(r.calls[1].kind == HostCall::Kind::copy);
  CHECK(r.name(r.calls[2].name) == "MEMORY_ALLOCATION_ALLOC");
  CHECK(r.calls[2].bytes == 65536);
  REQUIRE(r.annotations.size() == 1);
  CHECK(r.name(r.annotations[0].name) == "step 1");
  CHECK(r.annotations[0].start.ns == 0);

  REQUIRE(r.counters.size() == 2);
  CHECK(r.name(r.counters[0].name) == "SQ_WAVES");
  CHECK(r.counters[0].value == 16.0);
  CHECK(r.counters[0].event == 0);
  CHECK(r.counters[1].value == 3.5);  // instances added up: 1.5 + 2.0
}

TEST_CASE("Two processes in one rocpd database keep their correlations apart") {
  const MadeUpRocpd db(schema() + kRows + R"(
    INSERT INTO rocpd_event_00ab(id, guid, category_id, stack_id) VALUES (11,'g2',2,7), (12,'g2',1,7);
    INSERT INTO rocpd_region_00ab(id, guid, pid, tid, start, "end", name_id, event_id) VALUES (17,'g2',52,53,2000,2100,4,11);
    INSERT INTO rocpd_kernel_dispatch_00ab(id, guid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, "end", workgroup_size_x,
      workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id) VALUES (2,'g2',4,10,1,2,1,2950,2960,64,1,1,64,1,1,12);
  )");
  const Recording r = read_rocpd(db.file());
  REQUIRE(r.device_events.size() == 3);
  CHECK(r.device_events[0].correlation == 7);
  CHECK(r.device_events[1].correlation != 7);
  CHECK_FALSE(r.device_events[0].from_graph);
  const auto other = std::find_if(r.calls.begin(), r.calls.end(),
                                  [](const HostCall& c) { return c.process == 52; });
  REQUIRE(other != r.calls.end());
  CHECK(other->correlation == r.device_events[1].correlation);
}

TEST_CASE("A rocpd database without the views says so") {
  const MadeUpRocpd db("CREATE TABLE rocpd_kernel_dispatch_00ab (id INTEGER);");
  REQUIRE(recognizes_rocpd(db.file()));
  CHECK_THROWS_WITH(read_rocpd(db.file()), Contains("without its view 'kernels'"));
}

TEST_CASE("A rocpd view that lacks a column is an error in SQLite's words") {
  const MadeUpRocpd db(
      "CREATE TABLE rocpd_kernel_dispatch_00ab (id INTEGER); CREATE VIEW kernels AS SELECT id FROM "
      "rocpd_kernel_dispatch_00ab;");
  CHECK_THROWS_WITH(read_rocpd(db.file()),
                    Contains("made_up.db: the database cannot be read: no such column"));
}

TEST_CASE("A database of something else is neither RPD nor rocpd") {
  const MadeUpRocpd db("CREATE TABLE songs (id INTEGER);");
  CHECK_FALSE(recognizes_rocpd(db.file()));
  CHECK_FALSE(recognizes_rpd(db.file()));
}

}  // namespace
}  // namespace ridgeline::timeline
