// Are the older rocprofs' tables of kernels read, times, grids and counters?

#include <catch2/catch.hpp>
#include <string>

#include "core/document.hpp"
#include "core/error.hpp"
#include "tests/corpus.hpp"
#include "timeline/readers/rocprof_csv.hpp"
#include "timeline/readers/rocprofv3_csv.hpp"

namespace ridgeline::timeline {
namespace {

using Catch::Matchers::Contains;

RecordingFile file_of(const std::string& text) { return {"results.csv", "results.csv", text}; }

const std::string kV1 =
    "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\","
    "\"wgr\",\"lds\",\"scr\",\"arch_vgpr\","
    "\"accum_vgpr\",\"sgpr\",\"wave_size\",\"sig\",\"obj\"";

TEST_CASE("rocprof v1 gives kernels with their times and grids in workgroups") {
  const std::string text = kV1 +
                           ",\"DispatchNs\",\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"\n"
                           "0,\"Cijk_MT256x48x64.kd\",2,3,0,42,42,152064,256,65536,0,128,128,96,64,"
                           "0x0,0x7f,0,1000,397800,0,396800\n";
  const RecordingFile file = file_of(text);
  CHECK(recognizes_rocprof_csv(file));
  const Recording r = read_rocprof_csv(file);
  CHECK(r.format == "rocprof csv");
  REQUIRE(r.device_events.size() == 1);
  CHECK(r.name(r.device_events[0].name) == "Cijk_MT256x48x64");
  CHECK(r.device_events[0].start.ns == 0);
  CHECK(r.device_events[0].duration.count == 396'800);
  CHECK(r.device_events[0].device == 2);
  CHECK(r.device_events[0].stream == 3);
  CHECK(r.device_events[0].workgroups == std::array<std::int64_t, 3>{594, 1, 1});  // 152064 / 256
  CHECK(r.device_events[0].threads == std::array<std::int32_t, 3>{256, 1, 1});
  CHECK(r.counters.empty());
}

TEST_CASE("rocprof v1 without timestamps is no timeline") {
  CHECK_THROWS_WITH(read_rocprof_csv(file_of(
                        kV1 + ",\"SQ_WAVES\"\n0,\"k\",0,0,0,1,1,64,64,0,0,8,0,16,64,0x0,0x7f,1\n")),
                    Contains("--timestamp on"));
}

TEST_CASE("rocprofv2 gives its further columns as counters of the kernel") {
  const std::string text =
      "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_"
      "Workitem,Arch_VGPR,Accum_VGPR,SGPR,"
      "Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,SQ_WAVES,GPUBusy\n"
      "2,60633,1,7,7,1024,256,0,0,4,4,16,64,\"copy(double*, int) (.kd)\",5000,5400,2,16.0,99.5\n"
      "1,60633,1,7,7,1024,256,0,0,4,4,16,64,\"copy(double*, int) (.kd)\",4000,4300,1,17.0,\n";
  const RecordingFile file = file_of(text);
  CHECK(recognizes_rocprof_csv(file));
  CHECK_FALSE(recognizes_rocprofv3_csv(file));
  const Recording r = read_rocprof_csv(file);
  CHECK(r.format == "rocprofv2 csv");
  REQUIRE(r.device_events.size() == 2);
  CHECK(r.name(r.device_events[0].name) == "copy(double*, int)");
  CHECK(r.device_events[0].correlation == 1);
  CHECK(r.device_events[1].start.ns == 1000);
  REQUIRE(r.counters.size() == 3);  // one field is empty
  CHECK(r.name(r.counters[0].name) == "SQ_WAVES");
  CHECK(r.counters[0].value == 16.0);
  CHECK(r.counters[0].event == 1);  // of the kernel that is second in time
  CHECK(r.counters[0].time.ns == 1000);
  CHECK(r.name(r.counters[1].name) == "GPUBusy");
  CHECK(r.counters[2].event == 0);
}

TEST_CASE("A last line of rocprofv2 that is cut off is left out and said") {
  const Recording r =
      read_rocprof_csv(file_of("Dispatch_ID,GPU_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n1,0,"
                               "\"k\",10,20\n2,0,\"k\",30"));
  CHECK(r.device_events.size() == 1);
  CHECK(r.missing.front() == "the last line is cut off and left out");
}

TEST_CASE("rocprofiler-compute keeps rocprofv2's tables, which are read as what they are") {
  for (const char* name : {"timestamps.csv", "SQ_LEVEL_WAVES.csv", "SQ_INST_LEVEL_VMEM.csv"}) {
    const auto path = tests::corpus(
        std::filesystem::path("traces/rocprof_compute/mi300x_vcopy_dispatch0") / name);
    if (!path) continue;
    INFO(name);
    const std::string text = core::read_text_file(*path);
    const RecordingFile file{*path, name, text};
    REQUIRE(recognizes_rocprof_csv(file));
    const Recording r = read_rocprof_csv(file);
    REQUIRE(r.device_events.size() == 3);
    CHECK(r.device_events[0].duration.count == 16'160);  // 716272603621412 - 716272603605252
    CHECK(r.device_events[2].end().ns == 85'917);        // 716272603691169 - 716272603605252
    CHECK(r.name(r.device_events[0].name) == "vecCopy(double*, double*, double*, int, int)");
    CHECK(r.device_events[0].workgroups[0] == 4096);  // 1048576 / 256
  }
}

}  // namespace
}  // namespace ridgeline::timeline
