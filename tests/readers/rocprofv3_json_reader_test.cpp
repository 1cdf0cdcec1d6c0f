// Does rocprofv3's JSON become kernels, copies, calls and counters, named and joined?

#include "timeline/readers/rocprofv3_json.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "core/error.hpp"

namespace ridgeline::timeline {
namespace {

using Sizes = std::array<std::int64_t, 3>;

Recording read(const std::string& text) {
  const RecordingFile file{"t.json", "t.json", text};
  REQUIRE(recognizes_rocprofv3_json(file));
  return read_rocprofv3_json(file);
}

const std::string kNames = R"j("metadata":{"pid":42,"init_time":1,"command":["python3"]},
  "agents":[{"id":{"handle":77},"type":1,"node_id":0,"name":"CPU"},
            {"id":{"handle":9000000000000001},"type":2,"node_id":4,"name":"gfx942","product_name":"AMD Instinct MI300X","cu_count":304,"wave_front_size":64}],
  "counters":[{"id":{"handle":5},"name":"SQ_WAVES"},{"id":{"handle":6},"name":"GRBM_GUI_ACTIVE"}],
  "strings":{"buffer_records":[{"kind":"NONE","operations":[]},
                               {"kind":"HIP_RUNTIME_API","operations":["hipNone","hipLaunchKernel","hipGraphLaunch"]},
                               {"kind":"MEMORY_COPY","operations":["MEMORY_COPY_NONE","MEMORY_COPY_HOST_TO_DEVICE"]},
                               {"kind":"MARKER_CORE_RANGE_API","operations":["roctxThreadRangeA"]}],
             "marker_api":[{"key":31,"value":"step 1"}]},
  "kernel_symbols":[{"kernel_id":10,"kernel_name":"_Zk.kd","truncated_kernel_name":"k","formatted_kernel_name":"k(int)"}])j";

std::string dispatch(int id, int correlation, const std::string& times) {
  return R"({"kind":11,"operation":2,"thread_id":43,"correlation_id":{"internal":)" +
         std::to_string(correlation) + R"(,"external":8},)" + times +
         R"(,"dispatch_info":{"agent_id":{"handle":9000000000000001},"queue_id":{"handle":1},"kernel_id":10,"dispatch_id":)" +
         std::to_string(id) +
         R"(,"workgroup_size":{"x":256,"y":1,"z":1},"grid_size":{"x":152064,"y":1,"z":1}},"stream_id":{"handle":3}})";
}

const std::string kRecords =
    R"("buffer_records":{"kernel_dispatch":[)" +
    dispatch(1, 21, R"("start_timestamp":5000,"end_timestamp":5400)") + "," +
    dispatch(2, 22, R"("start_timestamp":5500,"end_timestamp":5600)") + R"(],
  "hip_api":[{"kind":1,"operation":1,"thread_id":43,"correlation_id":{"internal":21,"external":0},"start_timestamp":4000,"end_timestamp":4100},
             {"kind":1,"operation":2,"thread_id":43,"correlation_id":{"internal":22,"external":0},"start_timestamp":4200,"end_timestamp":4300}],
  "marker_api":[{"kind":3,"operation":0,"thread_id":43,"correlation_id":{"internal":31,"external":0},"start_timestamp":3900,"end_timestamp":4400}],
  "memory_copy":[{"kind":2,"operation":1,"thread_id":43,"correlation_id":{"internal":23,"external":0},"start_timestamp":6000,"end_timestamp":6010,
                  "src_agent_id":{"handle":77},"dst_agent_id":{"handle":9000000000000001},"bytes":64}]})";

std::string file_of(const std::string& members) {
  return R"({"rocprofiler-sdk-tool":[{)" + members + "}]}";
}

bool says(const Recording& r, const std::string& sentence) {
  return std::find(r.missing.begin(), r.missing.end(), sentence) != r.missing.end();
}

}  // namespace

TEST_CASE("rocprofv3's JSON names kernels by symbol and counts grids in threads",
          "[rocprofv3_json]") {
  // Names may follow the records that use them.
  for (const std::string& text :
       {file_of(kNames + "," + kRecords), file_of(kRecords + "," + kNames)}) {
    const Recording r = read(text);
    REQUIRE(r.device_events.size() == 3);
    const DeviceEvent& e = r.device_events[0];
    CHECK(r.name(e.name) == "k(int)");
    CHECK(e.start.ns == 1100);  // the marker at 3,900 ns is time zero
    CHECK(e.duration.count == 400);
    CHECK(e.device == 4);
    CHECK(e.stream == 3);
    CHECK(e.correlation == 21);
    CHECK(e.external_id == 8);
    CHECK(e.workgroups == Sizes{594, 1, 1});  // 152,064 / 256
    CHECK(e.threads[0] == 256);
    CHECK_FALSE(e.from_graph);
    CHECK(r.device_events[1].from_graph);  // hipGraphLaunch started it

    const DeviceEvent& copy = r.device_events[2];
    CHECK(copy.kind == DeviceEvent::Kind::copy);
    CHECK(copy.copy == CopyKind::host_to_device);
    CHECK(copy.device == 4);
    CHECK(copy.bytes == 64);

    REQUIRE(r.calls.size() == 2);
    CHECK(r.name(r.calls[0].name) == "hipLaunchKernel");
    CHECK(r.calls[0].kind == HostCall::Kind::launch);
    CHECK(r.calls[0].process == 42);
    CHECK(r.calls[0].thread == 43);
    CHECK(r.calls[1].kind == HostCall::Kind::graph_launch);

    REQUIRE(r.annotations.size() == 1);
    CHECK(r.name(r.annotations[0].name) == "step 1");
    CHECK(r.annotations[0].duration.count == 500);

    REQUIRE(r.devices.size() == 1);
    CHECK(r.devices[0].name == "AMD Instinct MI300X");
    CHECK(r.devices[0].architecture == "gfx942");
    CHECK(r.devices[0].compute_units == 304);
  }
}

TEST_CASE("A counter's instances add up, and belong to the kernel of their dispatch",
          "[rocprofv3_json]") {
  const std::string counted =
      R"("callback_records":{"counter_collection":[{"thread_id":43,"dispatch_data":{"correlation_id":{"internal":22,"external":0},
      "start_timestamp":5500,"end_timestamp":5600,"dispatch_info":{"agent_id":{"handle":9000000000000001},"queue_id":{"handle":1},"kernel_id":10,"dispatch_id":2,
      "workgroup_size":{"x":256,"y":1,"z":1},"grid_size":{"x":512,"y":1,"z":1}}},
      "records":[{"counter_id":{"handle":5},"value":10.0},{"counter_id":{"handle":5},"value":2.5},{"counter_id":{"handle":6},"value":7}]}]})";
  const Recording traced = read(file_of(kNames + "," + counted + "," + kRecords));
  CHECK(traced.device_events.size() == 3);
  REQUIRE(traced.counters.size() == 2);
  CHECK(traced.name(traced.counters[0].name) == "SQ_WAVES");
  CHECK(traced.counters[0].value == 12.5);
  CHECK(traced.counters[0].event == 1);
  CHECK(traced.counters[1].value == 7.0);

  const Recording alone = read(file_of(kNames + "," + counted));  // recorded without a kernel trace
  REQUIRE(alone.device_events.size() == 1);
  CHECK(alone.name(alone.device_events[0].name) == "k(int)");
  CHECK(alone.device_events[0].workgroups == Sizes{2, 1, 1});
  CHECK(alone.counters.at(0).event == 0);
}

TEST_CASE("Rows of rocprofv3's JSON without possible times are left out and counted",
          "[rocprofv3_json]") {
  const std::string records = R"("buffer_records":{"kernel_dispatch":[)" +
                              dispatch(1, 21, R"("start_timestamp":0,"end_timestamp":0)") + "," +
                              dispatch(2, 22, R"("start_timestamp":9,"end_timestamp":8)") + "," +
                              dispatch(3, 23, R"("start_timestamp":10,"end_timestamp":12)") + "]}";
  const Recording r = read(file_of(kNames + "," + records));
  CHECK(r.device_events.size() == 1);
  CHECK(says(r, "2 rows that have no time, or end before they start, are left out"));
}

TEST_CASE("rocprofv3's JSON that is cut is read up to its last whole record", "[rocprofv3_json]") {
  const std::string whole = file_of(kNames + "," + kRecords);
  const std::size_t second =
      whole.find(R"({"kind":11,"operation":2,"thread_id":43,"correlation_id":{"internal":22)");
  const Recording r = read(whole.substr(0, second + 50));
  CHECK(r.device_events.size() == 1);
  CHECK(r.name(r.device_events[0].name) == "k(int)");
  CHECK(std::any_of(r.missing.begin(), r.missing.end(), [&](const std::string& s) {
    return s.starts_with("the file is damaged after record ") &&
           s.ends_with("(byte " + std::to_string(second) + "); the rest is lost");
  }));
  // {"rocprofiler-sdk-tool":[{"metadata": is 37 bytes long.
  CHECK_THROWS_WITH(read(whole.substr(0, 60)),
                    "t.json: the JSON is damaged before its first kernel or call (byte 37)");
  CHECK_THROWS_AS(read(file_of(kNames)), core::ConfigError);
}

TEST_CASE("Two processes of one file keep their names apart", "[rocprofv3_json]") {
  const std::string other =
      R"("kernel_symbols":[{"kernel_id":10,"kernel_name":"other.kd"}],"buffer_records":{"kernel_dispatch":[)" +
      dispatch(1, 1, R"("start_timestamp":7000,"end_timestamp":7001)") + "]}";
  const Recording r =
      read(R"({"rocprofiler-sdk-tool":[{)" + kNames + "," + kRecords + "},{" + other + "}]}");
  REQUIRE(r.device_events.size() == 4);
  CHECK(r.name(r.device_events[0].name) == "k(int)");
  CHECK(r.name(r.device_events[3].name) == "other");
}

}  // namespace ridgeline::timeline
