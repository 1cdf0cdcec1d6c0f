// Does a Chrome trace become the events, calls, operators and counters that it tells of, exact to
// the nanosecond?

#include "timeline/readers/kineto.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/corpus.hpp"
#include "tests/readers/kineto_text.hpp"
#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {
namespace {

using namespace tests;
using Sizes = std::array<std::int64_t, 3>;
using Kind = HostCall::Kind;

}  // namespace

TEST_CASE("A time is a decimal number of microseconds, kept to the nanosecond", "[kineto]") {
  const std::map<std::string, std::int64_t> ns_of{
      {"4909913692199.694", 4909913692199694},  // sixteen digits: a double would give …693.8
      {"12", 12000},
      {"0.5", 500},
      {"12.0001", 12000},  // a tenth of a nanosecond is not kept
      {"12.0005", 12001},  // half of one rounds away from zero
      {"1.5e3", 1500000},
      {"1695835542.514261E+6", 1695835542514261000},
      {"15e-1", 1500},
      {R"("8306017670485")", 8306017670485000},
      {R"("8306017670485.25")", 8306017670485250},
  };
  for (const auto& [text, ns] : ns_of) {
    INFO(text);
    const Recording r = read(trace(kernel("\"ts\":" + text + ",\"dur\":\"2.5\"")));
    REQUIRE(r.device_events.size() == 1);
    CHECK(r.device_events[0].start.ns == ns);
    CHECK(r.device_events[0].duration.count == 2500);
  }
}

TEST_CASE("With a base, times count from it; without one the earliest event is time zero",
          "[kineto]") {
  const Recording with = read(trace(kernel(R"("ts":5,"dur":1)")));
  CHECK(with.base_unix_ns == 1000);
  CHECK(with.device_events[0].start.ns == 5000);

  // 2023 in microseconds since 1970, as Kineto wrote before it had a base.
  const Recording old = read("[" + kernel(R"("ts":1695835542514261,"dur":1)") + "," +
                             kernel(R"("ts":1695835542514263,"dur":1)") + "]");
  CHECK(old.base_unix_ns == 1695835542514261000);
  CHECK(old.device_events[0].start.ns == 0);
  CHECK(old.device_events[1].start.ns == 2000);

  const Recording since_boot = read("[" + kernel(R"("ts":8306017670485,"dur":1)") + "]");
  CHECK(since_boot.base_unix_ns == 0);
  CHECK(since_boot.device_events[0].start.ns == 0);
}

TEST_CASE("A kernel says where it ran, what launched it and how large it was", "[kineto]") {
  const Recording r = read(trace(kernel(
      R"("ts":1,"dur":2)",
      R"("External id":5,"device":9,"stream":3,"correlation":7,"kind":"Dispatch Kernel","grid":[4,2,1],"block":[512,1,1])")));
  const DeviceEvent& e = r.device_events.at(0);
  CHECK(e.kind == DeviceEvent::Kind::kernel);
  CHECK(r.name(e.name) == "k");
  CHECK(e.device == 9);
  CHECK(e.stream == 3);
  CHECK(e.correlation == 7);
  CHECK(e.external_id == 5);
  CHECK(e.workgroups == Sizes{4, 2, 1});
  CHECK(e.threads == std::array<std::int32_t, 3>{512, 1, 1});
  CHECK_FALSE(e.from_graph);
}

TEST_CASE("Without args the track says device and stream", "[kineto]") {
  const Recording r = read(
      trace(R"({"ph":"X","cat":"Kernel","name":"k","pid":"3","tid":"stream 20","ts":1,"dur":1})"));
  CHECK(r.device_events.at(0).device == 3);
  CHECK(r.device_events.at(0).stream == 20);
  CHECK(says(r, "no kernel has a correlation id: not tied to a launch"));
}

TEST_CASE("hipExtModuleLaunchKernel counts its grid in threads, hipLaunchKernel in workgroups",
          "[kineto]") {
  const std::string sizes =
      R"("device":2,"stream":1,"correlation":7,"grid":[2949120,1,1],"block":[256,1,1])";
  const std::string at = R"("ts":3,"dur":1)";
  // 2,949,120 threads of 256 are 11,520 workgroups.
  CHECK(
      read(trace(kernel(at, sizes) + "," + call("hipExtModuleLaunchKernel", R"("correlation":7)")))
          .device_events[0]
          .workgroups == Sizes{11520, 1, 1});
  CHECK(read(trace(kernel(at, sizes) + "," + call("hipLaunchKernel", R"("correlation":7)")))
            .device_events[0]
            .workgroups == Sizes{2949120, 1, 1});
  // A part of a workgroup is a workgroup.
  const std::string odd = R"("correlation":7,"grid":[257,1,1],"block":[256,1,1])";
  CHECK(read(trace(kernel(at, odd) + "," + call("hipExtModuleLaunchKernel", R"("correlation":7)")))
            .device_events[0]
            .workgroups == Sizes{2, 1, 1});
}

TEST_CASE("A kernel without a grid takes that of its launch", "[kineto]") {
  const Recording r = read(
      trace(kernel(R"("ts":3,"dur":1)") + "," +
            call("hipModuleLaunchKernel", R"("correlation":7,"grid":[32,1,1],"block":[64,1,1])")));
  CHECK(r.device_events[0].workgroups == Sizes{32, 1, 1});
  CHECK(r.device_events[0].threads[0] == 64);
}

TEST_CASE("A kernel comes from a graph if the file says so or a graph's launch started it",
          "[kineto]") {
  const std::string at = R"("ts":3,"dur":1)";
  CHECK(read(trace(kernel(at, R"("correlation":7,"kind":"Dispatch Task")")))
            .device_events[0]
            .from_graph);
  CHECK(read(trace(kernel(at, R"("correlation":7,"graph id":3,"graph node id":8)")))
            .device_events[0]
            .from_graph);
  CHECK_FALSE(
      read(trace(kernel(at, R"("correlation":7,"graph id":0)"))).device_events[0].from_graph);
  CHECK(read(trace(kernel(at) + "," + call("hipGraphLaunch", R"("correlation":7)")))
            .device_events[0]
            .from_graph);
}

TEST_CASE("A copy goes the way the runtime was asked for, whatever ROCm calls it", "[kineto]") {
  const auto copy_of = [](const std::string& kind) {
    return read(trace(
        R"j({"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoD (Device -> Device)","pid":2,"tid":0,"ts":3,"dur":1,"args":{"correlation":7,"kind":"DtoD","bytes":256}},)j" +
        call("hipMemcpyWithStream", R"("correlation":7,"bytes":"256","kind":)" + kind)));
  };
  const Recording r = copy_of(R"("2")");
  CHECK(r.device_events[0].kind == DeviceEvent::Kind::copy);
  CHECK(r.device_events[0].copy == CopyKind::device_to_host);
  CHECK(r.device_events[0].bytes == 256);
  CHECK(r.calls[0].kind == Kind::copy);
  CHECK(r.calls[0].copy == CopyKind::device_to_host);
  CHECK(r.calls[0].bytes == 256);
  CHECK(copy_of(R"("1")").device_events[0].copy == CopyKind::host_to_device);
  CHECK(copy_of("1").device_events[0].copy == CopyKind::host_to_device);
  CHECK(copy_of(R"("3")").device_events[0].copy == CopyKind::device_to_device);
  CHECK(copy_of(R"("4")").device_events[0].copy ==
        CopyKind::device_to_device);  // for the runtime to find out: the name is all there is
}

TEST_CASE("CUDA's copies and sets are told by their names", "[kineto]") {
  const auto event = [](const std::string& cat, const std::string& name) {
    return read(trace(R"({"ph":"X","cat":")" + cat + R"(","name":")" + name +
                      R"(","pid":0,"tid":7,"ts":3,"dur":1,"args":{"stream":7,"bytes":4}})"))
        .device_events.at(0);
  };
  CHECK(event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)").copy == CopyKind::host_to_device);
  CHECK(event("Memcpy", "Memcpy DtoH (Device -> Pageable)").copy == CopyKind::device_to_host);
  CHECK(event("gpu_memcpy", "Memcpy PtoP (Device -> Device)").copy == CopyKind::device_to_device);
  CHECK(event("gpu_memset", "Memset (Device)").kind == DeviceEvent::Kind::set);
  CHECK(event("Memset", "Memset (Device)").bytes == 4);
}

TEST_CASE("Calls are told apart by name, CUDA's and HIP's", "[kineto]") {
  const std::map<std::string, Kind> kinds{
      {"hipLaunchKernel", Kind::launch},
      {"hipExtModuleLaunchKernel", Kind::launch},
      {"cudaLaunchKernelExC", Kind::launch},
      {"cuLaunchKernel", Kind::launch},
      {"cuLaunchKernelEx", Kind::launch},
      {"cudaLaunchHostFunc", Kind::other},
      {"hipGraphLaunch", Kind::graph_launch},
      {"cudaGraphLaunch", Kind::graph_launch},
      {"hipMemcpyWithStream", Kind::copy},
      {"cudaMemcpyAsync", Kind::copy},
      {"hipDeviceSynchronize", Kind::synchronize},
      {"cudaEventSynchronize", Kind::synchronize},
      {"cuStreamSynchronize", Kind::synchronize},
      {"hipMalloc", Kind::allocate},
      {"cudaHostAlloc", Kind::allocate},
      {"cudaFree", Kind::allocate},
      {"hipGetDevicePropertiesR0600", Kind::other},
      {"cudaMemsetAsync", Kind::other},
  };
  for (const auto& [name, kind] : kinds) {
    INFO(name);
    const Recording r = read(trace(call(name, R"("correlation":7)")));
    CHECK(r.calls.at(0).kind == kind);
    CHECK(r.calls[0].process == 42);
    CHECK(r.calls[0].thread == 43);
    CHECK(r.cuda == name.starts_with("cu"));
  }
}

TEST_CASE("An operator has its id and the shapes of its tensors", "[kineto]") {
  const Recording r = read(trace(kernel(R"("ts":3,"dur":1)") + R"(,
      {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":42,"tid":43,"ts":1,"dur":9,"args":{"External id":5,"Input type":["c10::BFloat16","Scalar"],"Input Dims":[[4,8],[],[8,2]]}},
      {"ph":"X","cat":"cpu_op","name":"aten::cat","pid":42,"tid":43,"ts":2,"dur":1,"args":{"External id":6,"Input Dims":[[[3],[4,1]],[]]}},
      {"ph":"X","cat":"cpu_op","name":"aten::t","pid":42,"tid":43,"ts":3,"dur":1,"args":{"External id":7}},
      {"ph":"X","cat":"cpu_op","name":"nothing","pid":42,"tid":43,"ts":4,"dur":1})"));
  REQUIRE(r.operators.size() == 3);
  CHECK(r.name(r.operators[0].name) == "aten::mm");
  CHECK(r.operators[0].external_id == 5);
  CHECK(r.operators[0].thread == 43);
  CHECK(r.operators[0].shapes == std::vector<std::vector<std::int64_t>>{{4, 8}, {}, {8, 2}});
  CHECK(r.name(r.operators[0].dtype) == "c10::BFloat16");
  CHECK(r.operators[1].shapes ==
        std::vector<std::vector<std::int64_t>>{{3}, {4, 1}, {}});  // a list of tensors, laid out
  CHECK(r.operators[2].shapes.empty());
}

TEST_CASE("Annotations and the server's counters are kept, stacks and instants are not",
          "[kineto]") {
  const Recording r = read(trace(kernel(R"("ts":3,"dur":1)") + R"(,
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":42,"tid":43,"ts":1,"dur":9},
      {"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":2,"tid":1,"ts":3,"dur":1},
      {"ph":"X","cat":"python_function","name":"f","pid":42,"tid":43,"ts":1,"dur":9},
      {"ph":"i","cat":"cpu_instant_event","name":"[memory]","s":"t","pid":42,"tid":43,"ts":1,"args":{"Bytes":4}},
      {"ph":"C","cat":"server","name":"kv_cache_usage","pid":42,"ts":2,"args":{"kv_cache_usage":0.62}},
      {"ph":"C","name":"queue","pid":42,"ts":3,"args":{"running":3,"waiting":"4","odd":NaN}})"));
  REQUIRE(r.annotations.size() == 2);
  CHECK_FALSE(r.annotations[0].on_device);
  CHECK(r.annotations[0].thread == 43);
  CHECK(r.annotations[1].on_device);
  REQUIRE(r.counters.size() == 3);
  CHECK(r.name(r.counters[0].name) == "kv_cache_usage");
  CHECK(r.counters[0].value == 0.62);
  CHECK(r.counters[0].time.ns == 2000);
  CHECK(r.counters[0].event == -1);
  CHECK(r.name(r.counters[1].name) == "queue.running");
  CHECK(r.counters[2].value == 4.0);
}

TEST_CASE("The header names devices, profiler and rank, before the events or after", "[kineto]") {
  const std::string header =
      R"("deviceProperties":[{"id":0,"name":"AMD Instinct MI300X","numSms":304,"warpSize":64,"totalGlobalMem":206141652992,"computeMajor":9,"computeMinor":4}],
      "distributedInfo":{"backend":"nccl","rank": 3,"world_size":8},"roctracer_version":4.1,"with_stack":1)";
  const std::string events = "\"traceEvents\":[" + kernel(R"("ts":1,"dur":1)") + "]";
  for (const std::string& text :
       {"{" + header + "," + events + "}", "{" + events + "," + header + "}"}) {
    const Recording r = read(text);
    REQUIRE(r.devices.size() == 1);
    CHECK(r.devices[0].name == "AMD Instinct MI300X");
    CHECK(r.devices[0].architecture == "gfx94");
    CHECK(r.devices[0].compute_units == 304);
    CHECK(r.devices[0].wave_size == 64);
    CHECK(r.devices[0].memory.value() == 206141652992.0);
    CHECK(r.rank == 3);
    CHECK(r.world_size == 8);
    CHECK(r.profiler == "roctracer 4.1");
    CHECK(r.with_stack);
    CHECK_FALSE(r.cuda);
  }
  const Recording h100 = read(trace(
      kernel(R"("ts":1,"dur":1)"),
      R"("cupti_version":22,"deviceProperties":[{"name":"NVIDIA H100 80GB HBM3","warpSize":32,"computeMajor":9,"computeMinor":0}],)"));
  CHECK(h100.cuda);
  CHECK(h100.profiler == "CUPTI 22");
  CHECK(h100.devices[0].architecture == "sm_90");
}

TEST_CASE(
    "A row of rpd2tracing is the device's if its process is named for a GPU, and an arrow ties it "
    "to its call",
    "[kineto]") {
  const Recording r = read(R"([ {}
,{"name": "process_name", "ph": "M", "pid":"2","args":{"name":"GPU2"}}
,{"pid":"2","tid":"0","name":"CopyHostToDevice","ts":"110","dur":"5","ph":"X","args":{"desc":"CopyHostToDevice"}}
,{"pid":"2","tid":"0","name":"Cijk","ts":"120","dur":"7","ph":"X","args":{"desc":"KernelExecution"}}
,{"pid":"2","tid":"0","name":"FillBuffer","ts":"130","dur":"7","ph":"X","args":{"desc":"FillBuffer"}}
,{"pid":"9","tid":"9","name":"hipLaunchKernel","ts":"100","dur":"4","ph":"X","args":{"desc":""}}
,{"pid":"9","tid":"9","name":"OpTable::writeRows","ts":"105","dur":"4","ph":"X","args":{"desc":""}}
,{"pid":"9","tid":"9","cat":"api_op","name":"api_op","ts":"102","id":"1","ph":"s"}
,{"pid":"2","tid":"0","cat":"api_op","name":"api_op","ts":"120","id":"1","ph":"f","bp":"e"}
,{"pid":"2","name":"Idle","ph":"C","ts":100,"args":{"idle":1}}
])");
  REQUIRE(r.device_events.size() == 3);
  CHECK(r.device_events[0].copy == CopyKind::host_to_device);
  CHECK(r.device_events[0].correlation == 0);
  CHECK(r.device_events[1].kind == DeviceEvent::Kind::kernel);
  CHECK(r.device_events[1].device == 2);
  CHECK(r.device_events[1].start.ns == 20000);  // 100 us is time zero
  CHECK(r.device_events[1].correlation == 1);
  CHECK(r.device_events[2].kind == DeviceEvent::Kind::set);
  REQUIRE(r.calls.size() == 1);  // the profiler's own work is not a call of the runtime
  CHECK(r.calls[0].kind == Kind::launch);
  CHECK(r.calls[0].correlation == 1);
  CHECK(r.counters.size() == 1);
}

TEST_CASE("Every real trace has as many kernels as the corpus's index says", "[kineto][corpus]") {
  const auto index = ridgeline::tests::corpus("traces/index.tsv");
  if (!index) return;
  std::ifstream in(*index);
  std::string line;
  int files = 0;
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    if (cells.size() < 8 || cells[0].find(".json") == std::string::npos) continue;
    INFO(cells[0]);
    const Recording r = read_recording(index->parent_path() / cells[0]);
    const auto kernels =
        std::count_if(r.device_events.begin(), r.device_events.end(),
                      [](const DeviceEvent& e) { return e.kind == DeviceEvent::Kind::kernel; });
    CHECK(kernels == std::stoll(cells[7]));
    ++files;
  }
  CHECK(files == 15);
}

TEST_CASE("SGLang's decode step: one graph of 544 kernels, a copy that blocks the host for 463 ms",
          "[kineto][corpus]") {
  const auto path = ridgeline::tests::corpus(
      "traces/tracelens/mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz");
  if (!path) return;
  const Recording r = read_recording(*path);
  CHECK(std::count_if(r.device_events.begin(), r.device_events.end(),
                      [](const DeviceEvent& e) { return e.from_graph; }) == 544);
  const auto blocked = std::max_element(
      r.calls.begin(), r.calls.end(),
      [](const HostCall& a, const HostCall& b) { return a.duration < b.duration; });
  CHECK(r.name(blocked->name) == "hipMemcpyWithStream");
  CHECK(blocked->duration.count == 463063750);
  CHECK(blocked->copy == CopyKind::device_to_host);
  const auto copy =
      std::find_if(r.device_events.begin(), r.device_events.end(),
                   [&](const DeviceEvent& e) { return e.correlation == blocked->correlation; });
  REQUIRE(copy != r.device_events.end());
  CHECK(copy->duration.count == 4526);
  CHECK(r.base_unix_ns == 1775078550000000000);
  CHECK(r.profiler == "roctracer 4.1");
  CHECK(r.with_stack);
}

}  // namespace ridgeline::timeline
