// Do rocprofv3's tables become one recording, joined and to the nanosecond?

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "core/document.hpp"
#include "core/error.hpp"
#include "tests/corpus.hpp"
#include "timeline/readers/profiler_csv.hpp"
#include "timeline/readers/rocprofv3_csv.hpp"

namespace ridgeline::timeline {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

RecordingFile file_of(const std::string& text) { return {"made_up.csv", "made_up.csv", text}; }
Recording read_text(const std::string& text) { return read_rocprofv3_csv(file_of(text)); }

bool says(const Recording& r, const std::string& words) {
  for (const std::string& sentence : r.missing) {
    if (sentence.find(words) != std::string::npos) return true;
  }
  return false;
}

/// A folder with files, gone at the end of the test.
class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() / ("ridgeline_rocprofv3_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] RecordingFile file() const { return {path_, "folder", {}}; }

 private:
  fs::path path_;
};

const std::string kKernelHeader =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\","
    "\"Kernel_Name\",\"Correlation_Id\","
    "\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
    "\"Accum_VGPR_Count\",\"SGPR_Count\","
    "\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_"
    "Y\",\"Grid_Size_Z\"\n";
const std::string kCallHeader =
    "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\","
    "\"End_Timestamp\"\n";
const std::string kCounterHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Id\","
    "\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_"
    "VGPR_Count\",\"SGPR_Count\","
    "\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

TEST_CASE("A kernel trace is read by its header, sorted, from its earliest start") {
  const Recording r =
      read_text(kKernelHeader +
                "\"KERNEL_DISPATCH\",\"Agent 4\",1,7,42,2,11,\"second(int, "
                "int)\",2,1550151853052877,1550151853064037,0,0,8,0,16,64,1,1,1024,1000,1\n"
                "\"KERNEL_DISPATCH\",\"Agent "
                "4\",1,7,42,1,10,\"first<\"\"a\"\">\",1,1550151853029637,1550151853042437,0,0,8,0,"
                "16,256,1,1,256,1,1\n");
  REQUIRE(r.device_events.size() == 2);
  const DeviceEvent& first = r.device_events[0];
  CHECK(r.format == "rocprofv3 csv");
  CHECK(r.name(first.name) == "first<\"a\">");
  CHECK(first.start.ns == 0);
  CHECK(first.duration.count == 12'800);  // ...042437 - ...029637
  CHECK(first.device == 4);
  CHECK(first.stream == 7);
  CHECK(first.correlation == 1);
  CHECK_FALSE(first.from_graph);
  const DeviceEvent& second = r.device_events[1];
  CHECK(second.start.ns == 23'240);  // ...052877 - ...029637
  CHECK(second.workgroups ==
        std::array<std::int64_t, 3>{16, 1000, 1});  // 1024 threads in groups of 64
  CHECK(second.threads == std::array<std::int32_t, 3>{64, 1, 1});
  CHECK(says(r, "no runtime calls"));
}

TEST_CASE(
    "The older kernel trace, without streams and with agents as numbers, is read too; queues stand "
    "in for streams") {
  const Recording r = read_text(
      "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,"
      "Private_Segment_Size,Workgroup_Size_X,"
      "Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\r\n"
      "KERNEL_DISPATCH,2,3,10,\"k.kd\",9,1000,1400,0,64,1,1,130,1,1\r\n");
  REQUIRE(r.device_events.size() == 1);
  CHECK(r.device_events[0].device == 2);
  CHECK(r.device_events[0].stream == 3);
  CHECK(r.name(r.device_events[0].name) == "k");
  CHECK(r.device_events[0].workgroups[0] == 3);  // 130 threads need three groups of 64
}

TEST_CASE("Kernels of a kernel trace that share a correlation come from a graph") {
  const Recording r = read_text(
      "Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\na,5,1000,1100\nb,5,1100,1200\nc,6,"
      "1200,1300\n");
  REQUIRE(r.device_events.size() == 3);
  CHECK(r.device_events[0].from_graph);
  CHECK(r.device_events[1].from_graph);
  CHECK_FALSE(r.device_events[2].from_graph);
  CHECK(r.device_events[0].workgroups == std::array<std::int64_t, 3>{});
}

TEST_CASE(
    "Calls in a rocprofv3 trace say what they do; those of the marker domain are annotations") {
  const Recording r =
      read_text(kCallHeader +
                "\"HIP_RUNTIME_API_EXT\",\"hipGraphLaunch\",15,16,3,2000,2500\n"
                "\"HIP_RUNTIME_API_EXT\",\"hipExtModuleLaunchKernel\",15,16,4,3000,3100\n"
                "\"HIP_RUNTIME_API_EXT\",\"hipMemcpyWithStream\",15,16,5,3200,3300\n"
                "\"HIP_RUNTIME_API_EXT\",\"hipStreamSynchronize\",15,16,6,3400,3500\n"
                "\"HIP_RUNTIME_API_EXT\",\"hipMalloc\",15,16,7,3600,3700\n"
                "\"RCCL_API\",\"ncclAllReduce\",15,16,8,3800,3900\n"
                "\"MARKER_CORE_RANGE_API\",\"step, \"\"one\"\"\",15,17,9,1000,4000\n");
  using Kind = HostCall::Kind;
  REQUIRE(r.calls.size() == 6);
  const std::array<Kind, 6> kinds{Kind::graph_launch, Kind::launch,   Kind::copy,
                                  Kind::synchronize,  Kind::allocate, Kind::other};
  for (std::size_t i = 0; i < kinds.size(); ++i) CHECK(r.calls[i].kind == kinds[i]);
  CHECK(r.calls[0].start.ns == 1000);
  CHECK(r.calls[0].duration.count == 500);
  CHECK(r.calls[0].process == 15);
  CHECK(r.calls[0].thread == 16);
  CHECK(r.calls[0].correlation == 3);
  REQUIRE(r.annotations.size() == 1);
  CHECK(r.name(r.annotations[0].name) == "step, \"one\"");
  CHECK(r.annotations[0].duration.count == 3000);
  CHECK(r.annotations[0].thread == 17);
  CHECK(says(r, "no device events"));
}

TEST_CASE("A copy belongs to the GPU on its device end and says no size") {
  const Recording r = read_text(
      "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
      "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,\"Agent 0\",\"Agent 4\",1,100,200\n"
      "\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",0,\"Agent 5\",\"Agent 0\",2,300,400\n");
  REQUIRE(r.device_events.size() == 2);
  CHECK(r.device_events[0].kind == DeviceEvent::Kind::copy);
  CHECK(r.device_events[0].copy == CopyKind::host_to_device);
  CHECK(r.device_events[0].device == 4);
  CHECK(r.device_events[0].bytes == -1);
  CHECK(r.device_events[1].copy == CopyKind::device_to_host);
  CHECK(r.device_events[1].device == 5);
}

TEST_CASE("Counters alone make the kernels they belong to, once") {
  const std::string row = "1,1,\"Agent 2\",1,42,42,152064,10,\"Cijk\",256,65536,0,128,128,96,";
  const Recording r =
      read_text(kCounterHeader + row + "\"SQ_WAVES\",16384.000000,1000,1400\n" + row +
                "\"TCC_BUBBLE_sum\",2.5,1000,1400\n" + row + "\"GRBM_COUNT\",nan,1000,1400\n");
  REQUIRE(r.device_events.size() == 1);
  CHECK(r.device_events[0].workgroups[0] == 594);  // 152064 / 256
  REQUIRE(r.counters.size() == 2);                 // the third was not a number
  CHECK(r.name(r.counters[0].name) == "SQ_WAVES");
  CHECK(r.counters[0].value == 16384.0);
  CHECK(r.counters[0].event == 0);
  CHECK(r.counters[1].value == 2.5);
  CHECK(says(r, "gaps between kernels mean nothing"));
}

TEST_CASE("A folder is one recording: calls, kernels and counters of a process are joined") {
  const Folder folder;
  folder.put("host/42_kernel_trace.csv",
             kKernelHeader +
                 "\"KERNEL_DISPATCH\",\"Agent "
                 "4\",1,7,42,1,10,\"late\",6,3000,3100,0,0,8,0,16,64,1,1,64,1,1\n"
                 "\"KERNEL_DISPATCH\",\"Agent "
                 "4\",1,7,42,2,10,\"early\",5,2000,2100,0,0,8,0,16,64,1,1,64,1,1\n");
  folder.put("host/42_hip_api_trace.csv",
             kCallHeader + "\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",42,42,5,1000,1500\n");
  folder.put(
      "host/42_counter_collection.csv",
      kCounterHeader +
          "5,2,\"Agent 4\",1,42,42,64,10,\"early\",64,0,0,8,0,16,\"SQ_WAVES\",1.0,2000,2100\n");
  folder.put("host/42_kernel_stats.csv",
             "\"Name\",\"Calls\",\"TotalDurationNs\"\n\"late\",1,100\n");
  folder.put("host/42_agent_info.csv", "\"Node_Id\"\n0\n");
  CHECK(recognizes_rocprofv3_csv(folder.file()));
  const Recording r = read_rocprofv3_csv(folder.file());
  REQUIRE(r.device_events.size() == 2);
  REQUIRE(r.calls.size() == 1);
  CHECK(r.calls[0].start.ns == 0);
  CHECK(r.name(r.device_events[0].name) == "early");
  CHECK(r.device_events[0].start.ns == 1000);  // after the call, on one clock
  CHECK(r.device_events[0].correlation == r.calls[0].correlation);
  REQUIRE(r.counters.size() == 1);
  CHECK(r.counters[0].event == 0);  // although it stood second in its file
  CHECK(r.counters[0].time.ns == 1000);
}

TEST_CASE("The same correlation in two processes means two calls") {
  const Folder folder;
  for (const std::string process : {"41", "42"}) {
    folder.put(
        process + "_kernel_trace.csv",
        "Kernel_Name,Dispatch_Id,Correlation_Id,Start_Timestamp,End_Timestamp\nk,1,1,2000,2100\n");
    folder.put(process + "_hip_api_trace.csv", kCallHeader +
                                                   "\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\"," +
                                                   process + ",1,1,1000,1500\n");
  }
  const Recording r = read_rocprofv3_csv(folder.file());
  REQUIRE(r.device_events.size() == 2);
  CHECK(r.device_events[0].correlation != r.device_events[1].correlation);
  CHECK_FALSE(r.device_events[0].from_graph);
  CHECK(r.calls[0].correlation == r.device_events[0].correlation);
  CHECK(r.calls[1].correlation == r.device_events[1].correlation);
  CHECK(says(r, "2 processes"));
}

TEST_CASE("A last line of rocprofv3 that is cut off is left out and said") {
  const std::string good =
      "Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\na,5,1000,1100\n";
  for (const std::string tail : {"b", "\"b,6,1", "b,6,1200", "b,6,1200,", "b,6,1200,13"}) {
    INFO(tail);
    const Recording r = read_text(good + tail);
    CHECK(r.device_events.size() == 1);
  }
  CHECK(says(read_text(good + "b,6,12"), "cut off"));
  // A last line that is whole counts, with its line end or without.
  const Recording whole = read_text(good + "b,6,1200,1300");
  CHECK(whole.device_events.size() == 2);
  CHECK_FALSE(says(whole, "cut off"));
}

TEST_CASE("Rows of a kernel trace whose times cannot be are left out and counted") {
  const Recording r = read_text(
      "Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\na,1,1000,1100\nb,2,0,0\nc,3,900,"
      "800\n");
  CHECK(r.device_events.size() == 1);
  CHECK(says(r, "2 rows that have no time"));
}

TEST_CASE("Errors in a rocprofv3 table name the file, the line and the column") {
  CHECK_THROWS_WITH(read_text("Kernel_Name,Start_Timestamp,End_Timestamp\na,1,2\nb,one,2\nc,1,2\n"),
                    Contains("made_up.csv:3: Start_Timestamp: expected a whole number, got 'one'"));
  CHECK_THROWS_WITH(read_text("Kernel_Name,Start_Timestamp,End_Timestamp\na,1\nb,1,2\n"),
                    Contains("made_up.csv:2: expected 3 fields"));
  CHECK_THROWS_WITH(read_text("\"Name\",\"Calls\",\"TotalDurationNs\"\n\"a\",1,2\n"),
                    Contains("statistics, not a timeline"));
  CHECK_THROWS_AS(read_text(kKernelHeader), core::ConfigError);  // no rows
  // Counters of ROCm 6.2 have no times.
  CHECK_THROWS_WITH(
      read_text("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,SQ_WAVES,3\n"),
      Contains("without their times"));
}

TEST_CASE("A table that is not rocprofv3's is not recognised") {
  CHECK_FALSE(recognizes_rocprofv3_csv(file_of("TIMESTAMP,ContextTokens,GeneratedTokens\n")));
  CHECK_FALSE(recognizes_rocprofv3_csv(file_of("{\"traceEvents\":[]}")));
  CHECK_FALSE(recognizes_rocprofv3_csv(file_of("")));
  CHECK_FALSE(recognizes_rocprofv3_csv(
      file_of("Dispatch_ID,GPU_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n")));  // rocprofv2
  CHECK(recognizes_rocprofv3_csv(
      file_of("\"Name\",\"Calls\",\"TotalDurationNs\"\n")));  // to say what it is
}

TEST_CASE("Quoted fields hold commas, quotes and line ends, and lines are still counted") {
  ProfilerCsv csv("t",
                  "\xEF\xBB\xBF"
                  "a,b\r\n\"x\ny\",1\n\n\"p\"\"q\"\"\",oops\nlast,2\n");
  std::vector<std::string> seen;
  CHECK_THROWS_WITH(csv.for_each_row([&] {
    seen.emplace_back(csv.text(std::size_t{0}));
    static_cast<void>(csv.count(1));
  }),
                    Contains("t:5: b: expected a whole number, got 'oops'"));
  CHECK(seen == std::vector<std::string>{"x\ny", "p\"q\""});
}

TEST_CASE("The samples of rocprofv3's documentation are read whole") {
  struct Sample {
    const char* name;
    std::size_t device_events;
    std::size_t calls;
    std::size_t counters;
  };
  constexpr std::array<Sample, 9> kSamples{{{"kernel_trace.csv", 9, 0, 0},
                                            {"kernel_trace_truncated.csv", 4, 0, 0},
                                            {"counter_collection.csv", 4, 0, 4},
                                            {"memory_copy_trace.csv", 4, 0, 0},
                                            {"memory_allocation_trace.csv", 0, 4, 0},
                                            {"hip_trace.csv", 0, 17, 0},
                                            {"hip_runtime_trace.csv", 0, 8, 0},
                                            {"hsa_api_trace.csv", 0, 10, 0},
                                            {"rccl_trace.csv", 0, 21, 0}}};
  for (const Sample& sample : kSamples) {
    const auto path = tests::corpus(fs::path("traces/rocprofv3_csv") / sample.name);
    if (!path) continue;
    INFO(sample.name);
    const std::string text = core::read_text_file(*path);
    const RecordingFile file{*path, sample.name, text};
    REQUIRE(recognizes_rocprofv3_csv(file));
    const Recording r = read_rocprofv3_csv(file);
    CHECK(r.device_events.size() == sample.device_events);
    CHECK(r.calls.size() == sample.calls);
    CHECK(r.counters.size() == sample.counters);
    CHECK_FALSE(says(r, "cut off"));
    CHECK_FALSE(says(r, "no time"));
  }
}

TEST_CASE(
    "Of the samples of rocprofv3's documentation, scratch and rocpd's are calls, markers need "
    "more, statistics are refused") {
  const auto open = [](const char* name, std::string& text) -> std::optional<RecordingFile> {
    const auto path = tests::corpus(fs::path("traces/rocprofv3_csv") / name);
    if (!path) return std::nullopt;
    text = core::read_text_file(*path);
    return RecordingFile{*path, name, text};
  };
  std::string text;
  if (const auto file = open("scratch_memory_trace.csv", text)) {
    const Recording r = read_rocprofv3_csv(*file);
    REQUIRE(r.calls.size() == 2);
    CHECK(r.calls[0].kind == HostCall::Kind::allocate);
    CHECK(r.calls[0].duration.count == 30'987'438);  // 1124926554133606 - 1124926523146168
  }
  if (const auto file = open("rocpd-to-csv.csv", text)) {
    const Recording r = read_rocprofv3_csv(*file);
    CHECK(r.calls.size() == 13);
    CHECK(r.calls[0].correlation == 1);
  }
  if (const auto file = open("marker_api_trace.csv", text))
    CHECK_THROWS_WITH(read_rocprofv3_csv(*file), Contains("neither device events"));
  if (const auto file = open("hip_api_stats.csv", text))
    CHECK_THROWS_WITH(read_rocprofv3_csv(*file), Contains("not a timeline"));
  if (const auto file = open("hip_domain_stats.csv", text))
    CHECK_THROWS_WITH(read_rocprofv3_csv(*file), Contains("not a timeline"));
}

}  // namespace
}  // namespace ridgeline::timeline
