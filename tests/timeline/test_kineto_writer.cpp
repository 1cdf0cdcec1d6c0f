// Does the written trace say what the readers of PyTorch's format demand, to the nanosecond? Every
// rule on a file parsed back.

#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "tests/timeline/made_up_timeline.hpp"
#include "timeline/writers/kineto.hpp"

namespace ridgeline::timeline {
namespace {

using Json = nlohmann::ordered_json;  // keeps the keys' order, which one rule is about
using Catch::Matchers::Contains;

constexpr std::string_view kGemm = "Cijk_Alik_Bljk_BBS_BH_MT256x32x64";
constexpr std::string_view kNorm = "void vllm::rms_norm_kernel<c10::BFloat16>()";

RuntimeSpan call_at(std::int64_t start, std::int64_t length, std::string_view name,
                    std::int64_t correlation) {
  return {core::Instant{start}, core::Nanoseconds{length}, name, -1, correlation};
}

/// Prefill, eager: a product of 3 blocks of 256 threads and a norm of 7 blocks of 64, each with its
/// call.
MadeUpStep eager_step() {
  MadeUpStep s;
  s.step = step_at(0, 1'000'000, 100'000);
  s.step.prefill_sequences = 2;
  s.step.prefill_tokens = 300;   // 100 + 200 new
  s.step.prefill_context = 350;  // 150 + 200 in all
  s.step.prefill_qq = 50'000.0;  // 100^2 + 200^2
  s.step.prefill_qk = 55'000.0;  // 100 x 150 + 200 x 200
  KernelSpan gemm = kernel_at(1'030'001, 20'002, kGemm, KernelClass::gemm);
  gemm.correlation = 11;
  gemm.grid = 3;
  gemm.block = 256;
  KernelSpan norm = kernel_at(1'052'007, 3'000, kNorm, KernelClass::norm);
  norm.correlation = 12;
  norm.grid = 7;
  norm.block = 64;
  s.kernels = {gemm, norm};
  s.calls = {call_at(1'010'000, 5'000, "hipLaunchKernel", 11),
             call_at(1'015'000, 4'500, "hipLaunchKernel", 12),
             call_at(1'020'000, 60'000, "hipStreamSynchronize", 13)};
  s.counters = {{core::Instant{1'000'000}, 2, 5, 0.625, 1}};
  return s;
}

/// Decode: a graph of two kernels that begin while it is still being submitted.
MadeUpStep graph_step() {
  MadeUpStep s;
  s.step = step_at(1, 1'100'000, 50'000);
  s.step.decode_sequences = 32;
  s.step.decode_context = 32'785;
  for (const std::int64_t start : {1'120'000, 1'130'500}) {
    KernelSpan k = kernel_at(start, 10'000, kNorm, KernelClass::norm);
    k.correlation = 14;
    k.from_graph = true;
    k.grid = 7;
    k.block = 64;
    s.kernels.push_back(k);
  }
  s.calls = {call_at(1'105'000, 20'000, "hipGraphLaunch", 14)};
  s.counters = {{core::Instant{1'100'000}, 32, 0, 0.75, 1}};
  return s;
}

std::string text_of(const SpanSource& source, const KinetoOptions& options = {},
                    Window window = {}) {
  std::ostringstream out;
  write_kineto(source, window, out, options);
  return out.str();
}

std::vector<Json> events_of(const Json& trace, const std::string& phase,
                            const std::string& category = "") {
  std::vector<Json> out;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == phase && (category.empty() || e.value("cat", "") == category)) out.push_back(e);
  }
  return out;
}

/// ts and dur have three decimals here, so rounding a double to whole ns is exact.
std::int64_t ns_of(const Json& micros) { return std::llround(micros.get<double>() * 1000.0); }

const MadeUpTimeline& both() {
  static const MadeUpTimeline timeline{{eager_step(), graph_step()}};
  return timeline;
}

TEST_CASE("The header has what readers look for, and traceName comes last") {
  const std::string text = text_of(both(), {.rank = 3, .world_size = 8, .trace_name = "a \"b\""});
  const Json trace = Json::parse(text);
  CHECK(trace["schemaVersion"] == 1);
  CHECK(trace["deviceProperties"][0]["name"] == "AMD Instinct MI300X");
  CHECK(trace["deviceProperties"][0]["totalGlobalMem"] == 206141652992);
  CHECK(trace["deviceProperties"][0]["numSms"] == 304);
  CHECK(trace["deviceProperties"][0]["warpSize"] == 64);
  CHECK(trace["deviceProperties"][0]["computeMajor"] == 9);  // gfx942 is 9.4
  CHECK(trace["deviceProperties"][0]["computeMinor"] == 4);
  CHECK(trace["distributedInfo"]["world_size"] == 8);
  CHECK(trace.contains("hip_runtime_version"));
  CHECK_FALSE(trace.contains("cuda_runtime_version"));
  CHECK(trace["baseTimeNanoseconds"] == 1767225600000000000);
  std::string last;
  for (const auto& [key, value] : trace.items()) last = key;
  CHECK(last == "traceName");
  CHECK(trace["traceName"] == "a \"b\"");
  CHECK_THAT(text,
             Contains(R"("rank": 3)"));  // with the space, or HolisticTraceAnalysis finds no rank
}

TEST_CASE("Times are decimals made from whole nanoseconds") {
  const std::string text = text_of(both());
  CHECK_THAT(text, Contains(R"("ts":1030.001,"dur":20.002)"));
  // Two months in, a double of microseconds still shows nanoseconds only because nothing was
  // computed in it.
  MadeUpStep late;
  late.step = step_at(0, 5'184'000'000'000'001, 9);
  CHECK_THAT(text_of(MadeUpTimeline{{late}}), Contains(R"("ts":5184000000000.001,"dur":0.009)"));
  MadeUpStep before;
  before.step = step_at(0, -500, 1000);
  CHECK_THAT(text_of(MadeUpTimeline{{before}}, {}, {core::Instant{-1000}, core::kNever}),
             Contains(R"("ts":-0.500,"dur":1.000)"));
}

TEST_CASE("Only the five metadata names appear, and every track is named") {
  const Json trace = Json::parse(text_of(both()));
  std::set<std::string> names;
  std::set<std::pair<std::int64_t, std::int64_t>> named_threads;
  for (const Json& e : events_of(trace, "M")) {
    names.insert(e["name"].get<std::string>());
    if (e["name"] == "thread_name")
      named_threads.insert({e["pid"].get<std::int64_t>(), e["tid"].get<std::int64_t>()});
  }
  CHECK(names == std::set<std::string>{"process_name", "process_labels", "process_sort_index",
                                       "thread_name", "thread_sort_index"});
  for (const Json& e : events_of(trace, "X")) {
    CHECK(named_threads.count({e["pid"].get<std::int64_t>(), e["tid"].get<std::int64_t>()}) == 1);
  }
}

TEST_CASE(
    "An eager kernel has its grid, block and External id; a graph's kernel has only the "
    "correlation") {
  const auto kernels = events_of(Json::parse(text_of(both())), "X", "kernel");
  REQUIRE(kernels.size() == 4);
  const Json& gemm = kernels[0]["args"];
  CHECK(gemm["kind"] == "Dispatch Kernel");
  CHECK(gemm["External id"] == 1);
  CHECK(gemm["grid"] == Json::array({768, 1, 1}));  // Tensile's launch counts threads: 3 x 256
  CHECK(gemm["block"] == Json::array({256, 1, 1}));
  CHECK(kernels[1]["args"]["grid"] == Json::array({7, 1, 1}));  // the others count blocks
  const Json& node = kernels[2]["args"];
  CHECK(node["kind"] == "Dispatch Task");
  CHECK(node["correlation"] == 14);
  CHECK_FALSE(node.contains("External id"));
  CHECK_FALSE(node.contains("grid"));
  for (const Json& k : kernels) {
    CHECK(k["args"]["stream"].get<int>() >= 1);
    CHECK(k["args"]["stream"] == k["tid"]);
    CHECK(k["args"]["device"] == k["pid"]);
  }
}

TEST_CASE("A call says what it launched, under the name that launches such a kernel") {
  const auto calls = events_of(Json::parse(text_of(both())), "X", "cuda_runtime");
  REQUIRE(calls.size() == 4);
  CHECK(calls[0]["name"] == "hipExtModuleLaunchKernel");
  CHECK(calls[0]["args"]["kernel"] == std::string(kGemm));
  CHECK(calls[0]["args"]["grid"] == Json::array({768, 1, 1}));
  CHECK(calls[0]["args"]["External id"] == 1);
  CHECK(calls[1]["name"] == "hipLaunchKernel");
  CHECK(calls[1]["args"]["correlation"] == 12);
  CHECK(calls[2]["name"] == "hipStreamSynchronize");
  CHECK_FALSE(calls[2]["args"].contains("kernel"));
  CHECK(calls[3]["name"] == "hipGraphLaunch");
  CHECK_FALSE(calls[3]["args"].contains("kernel"));
}

TEST_CASE("Every launch, of a graph too, has one flow from inside its call to its first kernel") {
  const Json trace = Json::parse(text_of(both()));
  const auto starts = events_of(trace, "s", "ac2g");
  const auto finishes = events_of(trace, "f", "ac2g");
  REQUIRE(starts.size() == 3);
  REQUIRE(finishes.size() == 3);
  const std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> expected{
      {11, {1'010'000, 1'030'001}},
      {12, {1'015'000, 1'052'007}},
      {14, {1'105'000, 1'120'000}}};  // call, first kernel
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [call, kernel] = expected.at(starts[i]["id"].get<std::int64_t>());
    CHECK(ns_of(starts[i]["ts"]) == call);
    CHECK(starts[i]["pid"] == 4242);
    CHECK(finishes[i]["id"] == starts[i]["id"]);
    CHECK(ns_of(finishes[i]["ts"]) == kernel);
    CHECK(finishes[i]["bp"] == "e");
    CHECK(finishes[i]["pid"] == 2);
    CHECK(finishes[i]["tid"] == 1);
  }
}

TEST_CASE("Steps are annotated in vLLM's detailed form on the host and over their kernels") {
  const Json trace = Json::parse(text_of(both()));
  const auto host = events_of(trace, "X", "user_annotation");
  const auto device = events_of(trace, "X", "gpu_user_annotation");
  REQUIRE(host.size() == 2);
  REQUIRE(device.size() == 2);
  CHECK(host[0]["name"] ==
        "execute_300_context_2(sq300sk350sqsq50000sqsk55000)_generation_0(sq0sk0sqsq0sqsk0)");
  CHECK(host[1]["name"] ==
        "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)");
  CHECK(ns_of(host[0]["ts"]) == 1'000'000);
  CHECK(ns_of(host[0]["dur"]) == 100'000);
  CHECK(device[0]["name"] == host[0]["name"]);
  CHECK(ns_of(device[0]["ts"]) == 1'030'001);
  CHECK(ns_of(device[0]["dur"]) == 25'006);  // 1052007 + 3000 - 1030001
  CHECK(ns_of(device[1]["dur"]) == 20'500);  // 1130500 + 10000 - 1120000
}

TEST_CASE("A training step is a ProfilerStep") {
  MadeUpStep s;
  s.step = step_at(7, 0, 1000);
  s.step.training = true;
  CHECK(events_of(Json::parse(text_of(MadeUpTimeline{{s}})), "X", "user_annotation")[0]["name"] ==
        "ProfilerStep#7");
}

TEST_CASE("The four counters are numbers at the start of every step") {
  const auto counters = events_of(Json::parse(text_of(both())), "C");
  REQUIRE(counters.size() == 8);
  std::map<std::string, double> first;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string name = counters[i]["name"];
    REQUIRE(counters[i]["args"][name].is_number());
    first[name] = counters[i]["args"][name];
    CHECK(ns_of(counters[i]["ts"]) == 1'000'000);
  }
  CHECK(first ==
        std::map<std::string, double>{
            {"kv_cache_usage", 0.625}, {"num_running", 2}, {"num_waiting", 5}, {"preemptions", 1}});
}

TEST_CASE("Slices on one track nest or are disjoint") {
  std::map<std::pair<std::int64_t, std::int64_t>,
           std::vector<std::pair<std::int64_t, std::int64_t>>>
      tracks;
  for (const Json& e : events_of(Json::parse(text_of(both())), "X")) {
    const std::int64_t start = ns_of(e["ts"]);
    tracks[{e["pid"].get<std::int64_t>(), e["tid"].get<std::int64_t>()}].emplace_back(
        start, start + ns_of(e["dur"]));
  }
  CHECK(tracks.size() == 2);
  for (const auto& [track, slices] : tracks) {
    for (const auto& a : slices) {
      for (const auto& b : slices) {
        const bool straddle = a.first < b.first && b.first < a.second && a.second < b.second;
        CHECK_FALSE(straddle);
      }
    }
  }
}

TEST_CASE("A window writes the steps that start in it, whole") {
  const Json trace = Json::parse(text_of(both(), {}, {core::Instant{1'100'000}, core::kNever}));
  CHECK(events_of(trace, "X", "user_annotation").size() == 1);
  CHECK(events_of(trace, "X", "kernel").size() == 2);
  CHECK(events_of(trace, "s").size() == 1);
}

TEST_CASE("A timeline of nothing is still a trace") {
  const Json trace = Json::parse(text_of(MadeUpTimeline{{}}));
  CHECK(events_of(trace, "X").empty());
}

TEST_CASE("Names with quotes, backslashes and broken UTF-8 are escaped") {
  MadeUpStep s;
  s.step = step_at(0, 0, 1000);
  s.kernels = {kernel_at(0, 10, "a\"b\\c\n"), kernel_at(20, 10, "bad \xff byte")};
  const auto kernels = events_of(Json::parse(text_of(MadeUpTimeline{{s}})), "X", "kernel");
  CHECK(kernels[0]["name"] == "a\"b\\c\n");
  CHECK(kernels[1]["name"] == "bad \xef\xbf\xbd byte");
}

TEST_CASE("A correlation that nobody knows makes no flow") {
  MadeUpStep s;
  s.step = step_at(0, 0, 1000);
  s.kernels = {kernel_at(100, 10, "k")};
  s.calls = {call_at(10, 5, "hipLaunchKernel", 0)};
  const Json trace = Json::parse(text_of(MadeUpTimeline{{s}}));
  CHECK(events_of(trace, "s").empty());
  CHECK(events_of(trace, "f").empty());
}

TEST_CASE("Streams are numbered from 1 in the order in which they appear") {
  MadeUpStep s;
  s.step = step_at(0, 0, 1000);
  s.kernels = {kernel_at(100, 10, "a"), kernel_at(105, 10, "b"), kernel_at(120, 10, "c")};
  s.kernels[0].stream = 0;
  s.kernels[1].stream = 7;
  s.kernels[2].stream = 0;
  const Json trace = Json::parse(text_of(MadeUpTimeline{{s}}));
  const auto kernels = events_of(trace, "X", "kernel");
  CHECK(kernels[0]["tid"] == 1);
  CHECK(kernels[1]["tid"] == 2);
  CHECK(kernels[2]["tid"] == 1);
  CHECK(events_of(trace, "X", "gpu_user_annotation").size() == 2);  // one a stream
}

TEST_CASE("On an NVIDIA device the calls, ids and versions are CUDA's") {
  const Json trace = Json::parse(text_of(MadeUpTimeline{{eager_step(), graph_step()}, "sm_90"}));
  CHECK(trace.contains("cuda_runtime_version"));
  CHECK_FALSE(trace.contains("hip_runtime_version"));
  CHECK(trace["deviceProperties"][0]["computeMajor"] == 9);
  CHECK(trace["deviceProperties"][0]["computeMinor"] == 0);
  const auto calls = events_of(trace, "X", "cuda_runtime");
  CHECK(calls[0]["name"] == "cudaLaunchKernel");
  CHECK(calls[0]["args"]["cbid"] == 211);
  CHECK(calls[3]["name"] == "cudaGraphLaunch");
  const auto kernels = events_of(trace, "X", "kernel");
  CHECK(kernels[0]["pid"] == 0);
  CHECK(kernels[0]["args"]["grid"] == Json::array({3, 1, 1}));
  CHECK_FALSE(kernels[0]["args"].contains("kind"));
}

TEST_CASE("Folded, a kernel that waited in the queue begins when the one before it ends") {
  const auto kernels =
      events_of(Json::parse(text_of(both(), {.fold_dispatch_gaps = true})), "X", "kernel");
  // The norm's call returned at 1019500, before the product ended at 1050003; so it was waiting.
  CHECK(ns_of(kernels[1]["ts"]) == 1'050'003);
  CHECK(ns_of(kernels[1]["dur"]) == 5'004);  // 1055007 - 1050003
  // The graph was launched after the norm ended: a real gap. Its second kernel followed the first,
  // ending at 1130000.
  CHECK(ns_of(kernels[2]["ts"]) == 1'120'000);
  CHECK(ns_of(kernels[3]["ts"]) == 1'130'000);
  CHECK(ns_of(kernels[3]["dur"]) == 10'500);
}

TEST_CASE("The same timeline gives the same bytes") { CHECK(text_of(both()) == text_of(both())); }

/// A folder of its own that goes away with the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("ridgeline_kineto_" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("A file is the stream's text, compressed when its name ends in gz") {
  const Folder folder;
  write_kineto_file(both(), {}, folder.path / "t.json");
  CHECK(bytes_of(folder.path / "t.json") == text_of(both()));
  write_kineto_file(both(), {}, folder.path / "t.json.gz");
  const std::string packed = bytes_of(folder.path / "t.json.gz");
  REQUIRE(packed.size() > 2);
  CHECK(packed.substr(0, 2) == "\x1f\x8b");  // gzip's magic
  CHECK(folder.files() == 2);                // nothing is left beside them
  const auto file = gzopen((folder.path / "t.json.gz").c_str(), "rb");
  std::string text(1U << 20U, '\0');
  text.resize(static_cast<std::size_t>(gzread(file, text.data(), 1U << 20U)));
  gzclose(file);
  CHECK(text == text_of(both()));
}

TEST_CASE("An error while writing leaves the old file and nothing else") {
  struct Failing final : SpanSource {
    [[nodiscard]] DeviceInfo device() const override { return {}; }
    [[nodiscard]] Window extent() const override { return {}; }
    void visit(Window, SpanVisitor& visitor) const override {
      visitor.on_step(step_at(0, 0, 100));
      throw core::SimulationError("halfway");
    }
  };
  const Folder folder;
  std::ofstream(folder.path / "t.json") << "old";
  CHECK_THROWS_AS(write_kineto_file(Failing{}, {}, folder.path / "t.json"), core::SimulationError);
  CHECK(bytes_of(folder.path / "t.json") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("A path that cannot be written is the user's error and names the path") {
  const Folder folder;
  CHECK_THROWS_WITH(write_kineto_file(both(), {}, folder.path / "missing" / "t.json"),
                    Contains("missing/t.json") && Contains("No such file"));
  CHECK_THROWS_AS(write_kineto_file(both(), {}, folder.path), core::ConfigError);
  CHECK_THROWS_AS(write_kineto_file(both(), {}, "/dev/full/t.json"), core::ConfigError);
  CHECK(folder.files() == 0);
}

}  // namespace
}  // namespace ridgeline::timeline
