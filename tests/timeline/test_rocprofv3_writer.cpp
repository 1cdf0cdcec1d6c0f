// Do the files say what rocprofv3's would: do they read back as the spans they were written from,
// and do the counters give the work and the bytes back?

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "core/document.hpp"
#include "core/error.hpp"
#include "tests/timeline/made_up_timeline.hpp"
#include "timeline/readers/rocprofv3_csv.hpp"
#include "timeline/readers/rocprofv3_json.hpp"
#include "timeline/writers/rocprofv3.hpp"

namespace ridgeline::timeline {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kGemm = "Cijk_Alik_Bljk_BBS_BH_MT256x32x64_MI16x16x1_SN";
constexpr std::string_view kFp8Gemm = "Cijk_Alik_Bljk_F8BS_BH_MT256x32x64_MI16x16x1_SN";
constexpr std::string_view kNorm = "void norm<\"a\", float>(float*, int)";

class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() /
              ("ridgeline_rocprofv3_writer_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] Recording read() const { return read_rocprofv3_csv({path_, "folder", {}}); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

KernelSpan kernel(std::int64_t start, std::int64_t length, std::string_view name, KernelClass cls,
                  std::int64_t correlation) {
  KernelSpan k = kernel_at(start, length, name, cls);
  k.correlation = correlation;
  k.grid = 7;
  k.block = 256;
  return k;
}

/// An eager step of a product and a norm, then a graph of two kernels.
std::vector<MadeUpStep> two_steps() {
  MadeUpStep eager;
  eager.step = step_at(0, 1'000'000, 100'000);
  eager.kernels = {kernel(1'030'001, 20'002, kGemm, KernelClass::gemm, 11),
                   kernel(1'052'007, 3'001, kNorm, KernelClass::norm, 12)};
  eager.kernels[0].issued = core::Flop{512.0 * 1000.0};
  eager.kernels[0].hbm_read = core::Bytes{1000.0 * 128.0 + 64.0 + 32.0};
  eager.kernels[0].hbm_written = core::Bytes{4096.0};
  eager.kernels[1].issued = core::Flop{6400.0};
  eager.kernels[1].hbm_read = core::Bytes{1001.0};
  eager.kernels[1].hbm_written = core::Bytes{33.0};
  eager.calls = {
      {core::Instant{1'000'000}, core::Nanoseconds{5'000}, "hipExtModuleLaunchKernel", 0, 11},
      {core::Instant{1'015'000}, core::Nanoseconds{4'501}, "hipLaunchKernel", 0, 12}};
  MadeUpStep graph;
  graph.step = step_at(1, 1'100'000, 50'000);
  graph.kernels = {kernel(1'120'000, 10'000, kFp8Gemm, KernelClass::gemm, 13),
                   kernel(1'130'500, 9'999, kNorm, KernelClass::norm, 13)};
  graph.kernels[0].issued = core::Flop{256.0};
  graph.kernels[0].hbm_read = core::Bytes{1e9 / 7.0};
  graph.kernels[1].stream = 3;
  for (KernelSpan& k : graph.kernels) k.from_graph = true;
  graph.calls = {{core::Instant{1'105'000}, core::Nanoseconds{12'345}, "hipGraphLaunch", 1, 13}};
  return {eager, graph};
}

std::map<std::string, double> counters_of(const Recording& r, std::int64_t event) {
  std::map<std::string, double> out;
  for (const CounterValue& c : r.counters) {
    if (c.event == event) out[std::string(r.name(c.name))] = c.value;
  }
  return out;
}

/// Bytes and operations by the formulas of AMD's counter definitions.
double read_bytes(std::map<std::string, double> c) {
  return 128 * c["TCC_BUBBLE_sum"] +
         64 * (c["TCC_EA0_RDREQ_sum"] - c["TCC_BUBBLE_sum"] - c["TCC_EA0_RDREQ_32B_sum"]) +
         32 * c["TCC_EA0_RDREQ_32B_sum"];
}
double written_bytes(std::map<std::string, double> c) {
  return 64 * c["TCC_EA0_WRREQ_64B_sum"] +
         32 * (c["TCC_EA0_WRREQ_sum"] - c["TCC_EA0_WRREQ_64B_sum"]);
}
double flop(std::map<std::string, double> c) {
  double mops = 0.0;
  for (const char* type : {"BF16", "F16", "F8", "F6F4", "I8", "F32", "F64"})
    mops += c[std::string("SQ_INSTS_VALU_MFMA_MOPS_") + type];
  return 512 * mops + 64 * c["SQ_INSTS_VALU_ADD_F32"];
}

TEST_CASE(
    "rocprofv3's CSV files read back as the spans they were written from, to the nanosecond") {
  const MadeUpTimeline timeline(two_steps());
  const Folder folder;
  write_rocprofv3_csv(timeline, {}, folder.path());
  CHECK(fs::exists(folder.path() / "4242_kernel_trace.csv"));
  CHECK(fs::exists(folder.path() / "4242_hip_api_trace.csv"));
  CHECK(fs::exists(folder.path() / "4242_counter_collection.csv"));
  CHECK(folder.files() == 3);  // and no copies
  const Recording r = folder.read();
  REQUIRE(r.device_events.size() == 4);
  REQUIRE(r.calls.size() == 3);
  const std::int64_t base = 1'000'000;  // the first call begins it all
  std::vector<KernelSpan> kernels;
  std::vector<RuntimeSpan> calls;
  for (const MadeUpStep& s : two_steps()) {
    kernels.insert(kernels.end(), s.kernels.begin(), s.kernels.end());
    calls.insert(calls.end(), s.calls.begin(), s.calls.end());
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const DeviceEvent& e = r.device_events[i];
    CHECK(e.start.ns == kernels[i].start.ns - base);
    CHECK(e.duration == kernels[i].duration);
    CHECK(r.name(e.name) == kernels[i].name);
    CHECK(e.stream == kernels[i].stream);
    CHECK(e.device == 2);
    CHECK(e.correlation == kernels[i].correlation);
    CHECK(e.from_graph == kernels[i].from_graph);
    CHECK(e.workgroups == std::array<std::int64_t, 3>{7, 1, 1});
    CHECK(e.threads == std::array<std::int32_t, 3>{256, 1, 1});
    const auto counters = counters_of(r, static_cast<std::int64_t>(i));
    CHECK(read_bytes(counters) == kernels[i].hbm_read.value());
    CHECK(written_bytes(counters) == kernels[i].hbm_written.value());
    CHECK(flop(counters) == kernels[i].issued.value());
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CHECK(r.calls[i].start.ns == calls[i].start.ns - base);
    CHECK(r.calls[i].duration == calls[i].duration);
    CHECK(r.name(r.calls[i].name) == calls[i].name);
    CHECK(r.calls[i].correlation == calls[i].correlation);
    CHECK(r.calls[i].process == 4242);
  }
}

TEST_CASE("Counters are the requests and instructions that a device would count") {
  const Folder folder;
  write_rocprofv3_csv(MadeUpTimeline(two_steps()), {}, folder.path());
  const Recording r = folder.read();
  auto gemm = counters_of(r, 0);
  CHECK(gemm["SQ_INSTS_VALU_MFMA_MOPS_BF16"] == 1000.0);  // 512000 / 512
  CHECK(gemm["SQ_INSTS_VALU_MFMA_MOPS_F8"] == 0.0);
  CHECK(gemm["TCC_BUBBLE_sum"] == 1000.0);                        // 1000 x 128 bytes
  CHECK(gemm["TCC_EA0_RDREQ_32B_sum"] == 1.0);                    // and one of 32
  CHECK(gemm["TCC_EA0_RDREQ_sum"] == 1002.0);                     // and one of 64
  CHECK(gemm["TCC_EA0_WRREQ_64B_sum"] == 64.0);                   // 4096 / 64
  CHECK(counters_of(r, 1)["SQ_INSTS_VALU_ADD_F32"] == 100.0);     // 6400 / 64
  CHECK(counters_of(r, 2)["SQ_INSTS_VALU_MFMA_MOPS_F8"] == 0.5);  // 256 / 512
  // A run collects the same counters of every kernel, and only those that are of use.
  CHECK(counters_of(r, 1).size() == 8);  // BF16, F8, ADD and the five of memory
  CHECK(counters_of(r, 0).count("SQ_INSTS_VALU_MFMA_MOPS_F16") == 0);
}

TEST_CASE("Copies go into a file of their own, and an old one does not outlive its timeline") {
  std::vector<MadeUpStep> steps = two_steps();
  steps[0].kernels.push_back(
      kernel(1'060'000, 500, "Memcpy DtoH (Device -> Host)", KernelClass::copy, 14));
  const Folder folder;
  const fs::path prefix = folder.path() / "out";
  write_rocprofv3_csv(MadeUpTimeline(steps), {}, prefix);
  CHECK(fs::exists(folder.path() / "out_memory_copy_trace.csv"));
  const Recording r = folder.read();
  REQUIRE(r.device_events.size() == 5);
  CHECK(r.device_events[2].kind == DeviceEvent::Kind::copy);
  CHECK(r.device_events[2].copy == CopyKind::device_to_host);
  CHECK(r.device_events[2].device == 2);
  CHECK(r.device_events[2].start.ns == 60'000);
  write_rocprofv3_csv(MadeUpTimeline(two_steps()), {}, prefix);
  CHECK_FALSE(fs::exists(folder.path() / "out_memory_copy_trace.csv"));
}

TEST_CASE("Without counters there is no file of counters") {
  std::vector<MadeUpStep> steps = two_steps();
  for (MadeUpStep& s : steps) {
    for (KernelSpan& k : s.kernels)
      k.issued = core::Flop{}, k.hbm_read = k.hbm_written = core::Bytes{};
  }
  const Folder folder;
  write_rocprofv3_csv(MadeUpTimeline(steps), {}, folder.path());
  CHECK(folder.files() == 2);
  // Nor for a device whose counters have other names.
  write_rocprofv3_csv(MadeUpTimeline(two_steps(), "gfx90a"), {}, folder.path());
  CHECK(folder.files() == 2);
}

TEST_CASE("A window holds the steps that start in it") {
  const Folder folder;
  write_rocprofv3_csv(MadeUpTimeline(two_steps()), {core::Instant{1'100'000}, core::kNever},
                      folder.path());
  CHECK(folder.read().device_events.size() == 2);
}

TEST_CASE(
    "A source that fails leaves no file behind, and neither does a device of another vendor") {
  class Failing final : public SpanSource {
   public:
    [[nodiscard]] DeviceInfo device() const override { return {"MI300X", "gfx942", 304, 64, {}}; }
    [[nodiscard]] Window extent() const override { return {}; }
    void visit(Window, SpanVisitor& visitor) const override {
      visitor.on_kernel(kernel(10, 10, kGemm, KernelClass::gemm, 1));
      if (++visits_ > 1) throw std::runtime_error("lost");  // when the files are open
    }

   private:
    mutable int visits_ = 0;
  };
  const Folder folder;
  CHECK_THROWS_WITH(write_rocprofv3_csv(Failing(), {}, folder.path()), "lost");
  CHECK_THROWS_WITH(write_rocprofv3_json(Failing(), {}, folder.path() / "out.json"), "lost");
  CHECK_THROWS_WITH(write_rocprofv3_csv(MadeUpTimeline(two_steps(), "sm_90"), {}, folder.path()),
                    Contains("AMD devices"));
  CHECK_THROWS_AS(
      write_rocprofv3_json(MadeUpTimeline(two_steps(), "sm_90"), {}, folder.path() / "out.json"),
      core::ConfigError);
  CHECK(folder.files() == 0);
  CHECK_THROWS_AS(
      write_rocprofv3_csv(MadeUpTimeline(two_steps()), {}, folder.path() / "none" / "out"),
      core::ConfigError);
}

TEST_CASE(
    "rocprofv3's JSON is the tool's: records name kinds, operations, symbols and counters by "
    "number") {
  std::vector<MadeUpStep> steps = two_steps();
  steps[0].kernels.push_back(
      kernel(1'060'000, 500, "Memcpy HtoD (Host -> Device)", KernelClass::copy, 14));
  const Folder folder;
  const fs::path path = folder.path() / "out_results.json";
  write_rocprofv3_json(MadeUpTimeline(steps), {}, path);
  const json document = json::parse(core::read_text_file(path));
  const json& tool = document["rocprofiler-sdk-tool"][0];
  constexpr std::int64_t kBase = 1'000'000'000'000;
  CHECK(tool["metadata"]["pid"] == 4242);
  CHECK(tool["metadata"]["init_time"] == kBase + 1'000'000);
  CHECK(tool["metadata"]["fini_time"] == kBase + 1'140'499);
  CHECK(tool["agents"][1]["name"] == "gfx942");
  CHECK(tool["agents"][1]["cu_count"] == 304);
  const auto operation_of = [&](const json& record) {
    return tool["strings"]["buffer_records"][record["kind"].get<std::size_t>()]["operations"]
               [record["operation"].get<std::size_t>()];
  };
  const auto kind_of = [&](const json& record) {
    return tool["strings"]["buffer_records"][record["kind"].get<std::size_t>()]["kind"];
  };

  const json& dispatches = tool["buffer_records"]["kernel_dispatch"];
  REQUIRE(dispatches.size() == 4);
  CHECK(kind_of(dispatches[0]) == "KERNEL_DISPATCH");
  CHECK(operation_of(dispatches[0]) == "KERNEL_DISPATCH_COMPLETE");
  CHECK(dispatches[0]["start_timestamp"] == kBase + 1'030'001);
  CHECK(dispatches[0]["end_timestamp"] == kBase + 1'050'003);
  CHECK(dispatches[0]["correlation_id"]["internal"] == 11);
  CHECK(dispatches[0]["dispatch_info"]["grid_size"]["x"] == 7 * 256);  // threads
  CHECK(dispatches[0]["dispatch_info"]["workgroup_size"]["x"] == 256);
  CHECK(dispatches[3]["stream_id"]["handle"] == 3);
  CHECK(dispatches[3]["dispatch_info"]["dispatch_id"] == 4);
  const std::array<std::string_view, 4> names{kGemm, kNorm, kFp8Gemm, kNorm};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto id = dispatches[i]["dispatch_info"]["kernel_id"].get<std::size_t>();
    CHECK(tool["kernel_symbols"][id]["kernel_id"] == id);
    CHECK(tool["kernel_symbols"][id]["formatted_kernel_name"] == std::string(names[i]));
  }
  const json& calls = tool["buffer_records"]["hip_api"];
  REQUIRE(calls.size() == 3);
  CHECK(operation_of(calls[2]) == "hipGraphLaunch");
  CHECK(calls[2]["correlation_id"]["internal"] == 13);
  CHECK(calls[2]["end_timestamp"] == kBase + 1'105'000 + 12'345);
  REQUIRE(tool["buffer_records"]["memory_copy"].size() == 1);
  CHECK(operation_of(tool["buffer_records"]["memory_copy"][0]) == "MEMORY_COPY_HOST_TO_DEVICE");

  const json& counted = tool["callback_records"]["counter_collection"];
  REQUIRE(counted.size() == 4);
  std::map<std::string, double> values;
  for (const json& record : counted[0]["records"]) {
    for (const json& counter : tool["counters"]) {
      if (counter["id"]["handle"] == record["counter_id"]["handle"])
        values[counter["name"].get<std::string>()] = record["value"].get<double>();
    }
  }
  CHECK(read_bytes(values) == 128'096.0);
  CHECK(written_bytes(values) == 4096.0);
  CHECK(flop(values) == 512'000.0);
  CHECK(counted[0]["dispatch_data"]["dispatch_info"]["dispatch_id"] == 1);
  CHECK(counted[0]["dispatch_data"]["start_timestamp"] == kBase + 1'030'001);
}

TEST_CASE("rocprofv3's JSON reads back as its CSV does, to the nanosecond and the count") {
  const MadeUpTimeline timeline(two_steps());
  const Folder folder;
  const fs::path path = folder.path() / "out_results.json";
  write_rocprofv3_json(timeline, {}, path);
  const std::string text = core::read_text_file(path);
  REQUIRE(recognizes_rocprofv3_json({path, "out_results.json", text}));
  const Recording from_json = read_rocprofv3_json({path, "out_results.json", text});
  write_rocprofv3_csv(timeline, {}, folder.path());
  const Recording from_csv = folder.read();
  REQUIRE(from_json.device_events.size() == from_csv.device_events.size());
  for (std::size_t i = 0; i < from_csv.device_events.size(); ++i) {
    const DeviceEvent& a = from_json.device_events[i];
    const DeviceEvent& b = from_csv.device_events[i];
    CHECK(a.start == b.start);
    CHECK(a.duration == b.duration);
    CHECK(from_json.name(a.name) == from_csv.name(b.name));
    CHECK(a.correlation == b.correlation);
    CHECK(a.stream == b.stream);
    CHECK(a.workgroups == b.workgroups);
    CHECK(a.threads == b.threads);
    CHECK(counters_of(from_json, static_cast<std::int64_t>(i)) ==
          counters_of(from_csv, static_cast<std::int64_t>(i)));
  }
  REQUIRE(from_json.calls.size() == from_csv.calls.size());
  for (std::size_t i = 0; i < from_csv.calls.size(); ++i) {
    CHECK(from_json.calls[i].start == from_csv.calls[i].start);
    CHECK(from_json.calls[i].correlation == from_csv.calls[i].correlation);
    CHECK(from_json.name(from_json.calls[i].name) == from_csv.name(from_csv.calls[i].name));
  }
}

TEST_CASE("An empty window is an empty document of rocprofv3's, and still JSON") {
  const Folder folder;
  write_rocprofv3_json(MadeUpTimeline({}), {}, folder.path() / "out.json");
  const json document = json::parse(core::read_text_file(folder.path() / "out.json"));
  CHECK(document["rocprofiler-sdk-tool"][0]["buffer_records"]["kernel_dispatch"].empty());
}

}  // namespace
}  // namespace ridgeline::timeline
