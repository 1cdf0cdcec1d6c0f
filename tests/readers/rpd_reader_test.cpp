// Does an RPD database become calls and device events, joined, with the sizes and grids of the
// calls' arguments?

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/error.hpp"
#include "tests/corpus.hpp"
#include "timeline/readers/rocpd.hpp"
#include "timeline/readers/rpd.hpp"

namespace ridgeline::timeline {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

/// A database made by a script, gone at the end of the test.
class MadeUpRpd {
 public:
  explicit MadeUpRpd(const std::string& rows)
      : path_(fs::temp_directory_path() / ("ridgeline_" + std::to_string(::getpid()) + ".rpd")) {
    fs::remove(path_);
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path_.c_str(), &db) == SQLITE_OK);
    const std::string script = std::string(kSchema) + rows;
    CHECK(sqlite3_exec(db, script.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
  }
  MadeUpRpd(const MadeUpRpd&) = delete;
  MadeUpRpd& operator=(const MadeUpRpd&) = delete;
  ~MadeUpRpd() { fs::remove(path_); }
  [[nodiscard]] RecordingFile file() const { return {path_, "made_up.rpd", {}}; }

 private:
  static constexpr const char* kSchema = R"(
    CREATE TABLE rocpd_string (id integer PRIMARY KEY, string varchar NOT NULL);
    CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer, completionSignal varchar,
      start integer, "end" integer, description_id integer, opType_id integer);
    CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, "end" integer, apiName_id integer,
      args_id integer);
    CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id integer, op_id integer);
    CREATE TABLE rocpd_kernelapi (api_ptr_id integer PRIMARY KEY, stream varchar, gridX integer, gridY integer, gridZ integer,
      workgroupX integer, workgroupY integer, workgroupZ integer);
    CREATE TABLE rocpd_copyapi (api_ptr_id integer PRIMARY KEY, stream varchar, size integer, kind integer);
    CREATE TABLE rocpd_monitor (id integer PRIMARY KEY, deviceType varchar, deviceId integer, monitorType varchar, start integer,
      "end" integer, value varchar);
    INSERT INTO rocpd_string VALUES (1,''), (2,'KernelExecution'), (3,'Task'), (4,'CopyDeviceToDevice'), (5,'Cijk_MT64.kd'), (6,'norm'),
      (7,'hipExtModuleLaunchKernel'), (8,'hipLaunchKernel'), (9,'hipGraphLaunch'), (10,'hipMemcpyWithStream'), (11,'UserMarker'),
      (12,'decode step'), (13,'BarrierAnd'), (14,'FillBuffer');
  )";
  fs::path path_;
};

TEST_CASE("An RPD file joins kernels, copies and graphs to their calls") {
  const MadeUpRpd rpd(R"(
    INSERT INTO rocpd_api VALUES (1,42,43,1000,1100,7,1), (2,42,43,1200,1300,8,1), (3,42,43,1400,1900,9,1), (4,42,43,2000,2900,10,1),
      (5,42,43,900,3000,11,12);
    INSERT INTO rocpd_kernelapi VALUES (1,'0x0',1024,2,1,256,1,1), (2,'0x0',7,3,1,64,1,1);
    INSERT INTO rocpd_copyapi VALUES (4,'0x0',256,2);
    INSERT INTO rocpd_op VALUES (1,2,0,0,'',1500,1600,5,2), (2,2,0,0,'',1600,1650,6,2), (3,2,1,0,'',1700,1800,5,3), (4,2,1,0,'',1800,1810,6,3),
      (5,2,0,0,'',2500,2505,1,4), (6,2,0,0,'',2600,2601,1,13), (7,2,0,0,'',2700,2710,1,14);
    INSERT INTO rocpd_api_ops VALUES (1,1,1), (2,2,2), (3,3,3), (4,3,4), (5,4,5);
    INSERT INTO rocpd_monitor VALUES (1,'gpu',0,'sclk',100,500,'800'), (2,'gpu',0,'sclk',500,1700,'1700'), (3,'gpu',0,'sclk',1700,1800,'2100');
  )");
  REQUIRE(recognizes_rpd(rpd.file()));
  CHECK_FALSE(recognizes_rocpd(rpd.file()));
  const Recording r = read_rpd(rpd.file());
  CHECK(r.format == "rpd");
  REQUIRE(r.device_events.size() == 6);  // the barrier is not work
  const DeviceEvent& gemm = r.device_events[0];
  CHECK(r.name(gemm.name) == "Cijk_MT64");
  CHECK(gemm.start.ns == 600);  // after the marker, which begins first
  CHECK(gemm.duration.count == 100);
  CHECK(gemm.device == 2);
  CHECK(gemm.correlation == 1);
  CHECK(gemm.workgroups == std::array<std::int64_t, 3>{
                               4, 2, 1});  // hipExtModuleLaunchKernel counts threads: 1024 / 256
  const DeviceEvent& norm = r.device_events[1];
  CHECK(norm.workgroups ==
        std::array<std::int64_t, 3>{7, 3, 1});  // hipLaunchKernel counts workgroups
  CHECK(norm.threads == std::array<std::int32_t, 3>{64, 1, 1});
  CHECK_FALSE(norm.from_graph);
  CHECK(r.device_events[2].from_graph);
  CHECK(r.device_events[2].stream == 1);
  CHECK(r.device_events[3].correlation == 3);
  const DeviceEvent& copy = r.device_events[4];
  CHECK(copy.kind == DeviceEvent::Kind::copy);
  CHECK(copy.copy ==
        CopyKind::device_to_host);  // the call's kind 2, whatever the kernel that did it is called
  CHECK(copy.bytes == 256);
  CHECK(r.name(copy.name) == "CopyDeviceToDevice");
  CHECK(r.device_events[5].kind == DeviceEvent::Kind::set);
  CHECK(r.device_events[5].correlation == 0);

  REQUIRE(r.calls.size() == 4);
  CHECK(r.calls[0].start.ns == 100);
  CHECK(r.calls[0].kind == HostCall::Kind::launch);
  CHECK(r.calls[2].kind == HostCall::Kind::graph_launch);
  CHECK(r.calls[3].kind == HostCall::Kind::copy);
  CHECK(r.calls[3].bytes == 256);
  CHECK(r.calls[3].copy == CopyKind::device_to_host);
  CHECK(r.calls[3].process == 42);
  CHECK(r.calls[3].thread == 43);
  REQUIRE(r.annotations.size() == 1);
  CHECK(r.name(r.annotations[0].name) == "decode step");

  REQUIRE(r.counters.size() == 2);  // the first was over before anything happened
  CHECK(r.name(r.counters[0].name) == "sclk");
  CHECK(r.counters[0].value == 1700.0);
  CHECK(r.counters[0].time.ns == 100);  // it began before the first call, and counts from there
  CHECK(r.counters[0].event == -1);
  CHECK(r.counters[1].time.ns == 800);
}

TEST_CASE("An RPD file is read from memory as it is from disk") {
  const MadeUpRpd rpd("INSERT INTO rocpd_op VALUES (1,2,0,0,'',1500,1600,5,2);");
  std::ifstream in(rpd.file().path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const RecordingFile file{"-", "standard input", bytes};
  REQUIRE(recognizes_rpd(file));
  CHECK(read_rpd(file).device_events.size() == 1);
}

TEST_CASE("A damaged RPD file is an error in SQLite's words, not a crash") {
  std::string bytes;
  {
    const MadeUpRpd rpd("INSERT INTO rocpd_op VALUES (1,2,0,0,'',1500,1600,5,2);");
    std::ifstream in(rpd.file().path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string cut = bytes.substr(0, 5000);
  const RecordingFile half{"-", "half.rpd", cut};
  CHECK(recognizes_rpd(half));
  CHECK_THROWS_AS(read_rpd(half), core::ConfigError);
  CHECK_THROWS_WITH(read_rpd(half), Contains("half.rpd: the database cannot be read"));
  // Any byte may be wrong: whatever comes of it, it is a recording or a ConfigError.
  for (std::size_t at = 0; at < bytes.size(); at += 97) {
    std::string wrong = bytes;
    wrong[at] = static_cast<char>(~wrong[at]);
    const RecordingFile file{"-", "wrong.rpd", wrong};
    try {
      if (recognizes_rpd(file)) static_cast<void>(read_rpd(file));
    } catch (const core::ConfigError&) {
    }
  }
  CHECK_FALSE(recognizes_rpd({"-", "text", "SQLite format 2"}));
}

TEST_CASE("The RPD example of rocmProfileData holds 29 kernels, 55 copies and one fill") {
  const auto path = tests::corpus("traces/rpd/matmul_result.rpd");
  if (!path) return;
  const RecordingFile file{*path, "matmul_result.rpd", {}};
  REQUIRE(recognizes_rpd(file));
  const Recording r = read_rpd(file);
  REQUIRE(r.device_events.size() == 85);
  const auto count = [&](DeviceEvent::Kind kind) {
    return std::count_if(r.device_events.begin(), r.device_events.end(),
                         [&](const DeviceEvent& e) { return e.kind == kind; });
  };
  CHECK(count(DeviceEvent::Kind::kernel) == 29);
  CHECK(count(DeviceEvent::Kind::copy) == 55);
  CHECK(count(DeviceEvent::Kind::set) == 1);
  CHECK(r.calls.size() == 125);
  CHECK(std::all_of(r.device_events.begin(), r.device_events.end(),
                    [](const DeviceEvent& e) { return e.correlation != 0; }));
  // 8306020634556740 - 8306017670485923 from the first operation to the end of the last.
  CHECK(r.device_events.back().end() - r.device_events.front().start ==
        core::Nanoseconds{2'964'070'817});
  CHECK(r.device_events.front().bytes == 2'000'000'000);
  CHECK(r.device_events.front().copy == CopyKind::host_to_device);
  CHECK(r.device_events[2].workgroups ==
        std::array<std::int64_t, 3>{7, 782, 1});  // 1792 / 256, Tensile's
  CHECK(r.device_events[3].workgroups == std::array<std::int64_t, 3>{1, 2, 1});
}

}  // namespace
}  // namespace ridgeline::timeline
