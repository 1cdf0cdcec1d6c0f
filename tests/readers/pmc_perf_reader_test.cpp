// Do rocprofiler-compute's wide tables give each kernel its counters, and the counters the bytes
// that were moved?

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "core/document.hpp"
#include "core/error.hpp"
#include "tests/corpus.hpp"
#include "timeline/readers/pmc_perf.hpp"
#include "timeline/readers/rocprof_csv.hpp"

namespace ridgeline::timeline {
namespace {

using Catch::Matchers::Contains;

RecordingFile file_of(const std::string& text) { return {"pmc_perf.csv", "pmc_perf.csv", text}; }

std::map<std::string, double> counters_of(const Recording& r, std::int64_t event) {
  std::map<std::string, double> out;
  for (const CounterValue& c : r.counters) {
    if (c.event == event) out[std::string(r.name(c.name))] = c.value;
  }
  return out;
}

TEST_CASE("Channels of a counter are added up, and what passes have in common is no counter") {
  const std::string text =
      "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,TCC_HIT[0],TCC_HIT[1],TCC_MISS[0],"
      "TCC_MISS_sum,Wave_Size_1,Correlation_ID_1,"
      "XCC_Index,SQC_DCACHE_REQ_READ_1,Start_Timestamp,End_Timestamp\n"
      "0,2,512,256,\"k (.kd)\",3.0,4.0,100.0,9.0,64,0,0,5.0,1000,1400\n";
  const RecordingFile file = file_of(text);
  CHECK(recognizes_pmc_perf(file));
  CHECK_FALSE(recognizes_rocprof_csv(file));
  const Recording r = read_pmc_perf(file);
  CHECK(r.format == "rocprofiler-compute csv");
  REQUIRE(r.device_events.size() == 1);
  CHECK(r.name(r.device_events[0].name) == "k");
  CHECK(r.device_events[0].workgroups[0] == 2);
  // TCC_MISS_sum is of another pass than the channels.
  CHECK(counters_of(r, 0) == std::map<std::string, double>{{"TCC_HIT_sum", 7.0},
                                                           {"TCC_MISS_sum", 100.0},
                                                           {"SQC_DCACHE_REQ_READ_1", 5.0}});
}

TEST_CASE("The tables about the machine are refused by what they are") {
  const std::string sysinfo = "workload_name,command,gpu_arch\nw,./a,gfx942\n";
  CHECK(recognizes_pmc_perf(file_of(sysinfo)));
  CHECK_THROWS_WITH(read_pmc_perf(file_of(sysinfo)),
                    Contains("description of the machine, not a timeline"));
  const std::string roofline = "device,HBMBw,HBMBwLow\n0,1388.7,1388.2\n";
  CHECK(recognizes_pmc_perf(file_of(roofline)));
  CHECK_THROWS_WITH(read_pmc_perf(file_of(roofline)), Contains("measured peaks, not a timeline"));
}

TEST_CASE("A copy of 8 MiB on an MI300X reads 8,404,480 bytes and writes 8,388,608") {
  const auto path = tests::corpus("traces/rocprof_compute/mi300x_vcopy_dispatch0/pmc_perf.csv");
  if (!path) return;
  const std::string text = core::read_text_file(*path);
  const RecordingFile file{*path, "pmc_perf.csv", text};
  REQUIRE(recognizes_pmc_perf(file));
  const Recording r = read_pmc_perf(file);
  REQUIRE(r.device_events.size() == 3);
  CHECK(r.device_events[0].duration.count == 16'160);
  // On gfx942 a read is of 128 bytes (counted as a bubble too), 32 or else 64; a write of 64 or
  // else 32.
  auto c = counters_of(r, 0);
  const double read =
      128 * c["TCC_BUBBLE_sum"] +
      64 * (c["TCC_EA0_RDREQ_sum"] - c["TCC_BUBBLE_sum"] - c["TCC_EA0_RDREQ_32B_sum"]) +
      32 * c["TCC_EA0_RDREQ_32B_sum"];
  const double written =
      64 * c["TCC_EA0_WRREQ_64B_sum"] + 32 * (c["TCC_EA0_WRREQ_sum"] - c["TCC_EA0_WRREQ_64B_sum"]);
  CHECK(read == 8'404'480.0);  // 128 x 65536 + 64 x (65784 - 65536)
  CHECK(written == 8'388'608.0);
  CHECK(c["SQ_INSTS_VALU_MFMA_MOPS_BF16"] == 0.0);
  CHECK(c.count("XCC_Index") == 0);
  CHECK(c.count("Wave_Size_3") == 0);
}

TEST_CASE("The MI200's workload is read; its other tables are refused") {
  const std::filesystem::path folder = "traces/rocprof_compute/mi200_vcopy_dispatch0";
  if (const auto path = tests::corpus(folder / "pmc_perf.csv")) {
    const std::string text = core::read_text_file(*path);
    const Recording r = read_pmc_perf({*path, "pmc_perf.csv", text});
    REQUIRE(r.device_events.size() == 1);
    CHECK(r.device_events[0].duration.count == 20'160);  // 1411987252082105 - 1411987252061945
    CHECK(r.device_events[0].device == 2);
    CHECK(counters_of(r, 0)["TCC_EA_RDREQ_sum"] == 131'081.0);
  }
  for (const char* name : {"sysinfo.csv", "roofline.csv"}) {
    const auto path = tests::corpus(folder / name);
    if (!path) continue;
    const std::string text = core::read_text_file(*path);
    CHECK(recognizes_pmc_perf({*path, name, text}));
    CHECK_THROWS_WITH(read_pmc_perf({*path, name, text}), Contains("not a timeline"));
  }
  if (const auto path =
          tests::corpus("traces/rocprof_compute/mi300x_vcopy_dispatch0/sysinfo.csv")) {
    const std::string text = core::read_text_file(*path);
    CHECK_THROWS_WITH(read_pmc_perf({*path, "sysinfo.csv", text}), Contains("not a timeline"));
  }
}

}  // namespace
}  // namespace ridgeline::timeline
