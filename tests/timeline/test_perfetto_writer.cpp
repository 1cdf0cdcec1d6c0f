// Is the trace one that Perfetto understands: packets in order, slices that nest, flows whose ends
// exist, every track announced?

#include <perfetto.pb.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "core/error.hpp"
#include "tests/timeline/made_up_timeline.hpp"
#include "timeline/writers/perfetto.hpp"

namespace ridgeline::timeline {
namespace {

using perfetto::TrackDescriptor;
using perfetto::TrackEvent;

/// An eager step of two kernels, then a graph of three on two streams, of which one overlaps
/// another of its stream.
std::vector<MadeUpStep> two_steps() {
  MadeUpStep eager;
  eager.step = step_at(0, 1'000, 1'000);
  eager.step.prefill_sequences = 2;
  eager.step.prefill_tokens = 300;
  eager.kernels = {kernel_at(1'300, 200, "gemm"),
                   kernel_at(1'500, 0, "empty")};  // the second abuts and has no length
  eager.kernels[0].correlation = 11;
  eager.kernels[0].grid = 7;
  eager.kernels[0].block = 256;
  eager.kernels[0].role = "q_proj";
  eager.kernels[1].correlation = 12;
  eager.calls = {{core::Instant{1'010}, core::Nanoseconds{50}, "hipLaunchKernel", 0, 11},
                 {core::Instant{1'060}, core::Nanoseconds{50}, "hipLaunchKernel", 0, 12},
                 {core::Instant{1'110}, core::Nanoseconds{600}, "hipStreamSynchronize", 0, 13}};
  eager.counters = {{core::Instant{1'000}, 2, 5, 0.625, 1}};
  MadeUpStep graph;
  graph.step = step_at(1, 2'000, 500);
  graph.step.decode_sequences = 32;
  graph.kernels = {kernel_at(2'100, 100, "a"), kernel_at(2'150, 100, "b"),
                   kernel_at(2'120, 700, "c")};  // the last outlives its step
  graph.kernels[2].stream = 4;
  for (KernelSpan& k : graph.kernels) k.correlation = 14;
  graph.calls = {{core::Instant{2'010}, core::Nanoseconds{120}, "hipGraphLaunch", 1, 14}};
  graph.counters = {{core::Instant{2'000}, 32, 0, 0.75, 1}};
  MadeUpStep after;
  after.step = step_at(2, 2'500, 100);
  return {eager, graph, after};
}

perfetto::Trace trace_of(const SpanSource& source, Window window = {}) {
  std::ostringstream out;
  write_perfetto(source, window, out);
  perfetto::Trace trace;
  REQUIRE(trace.ParseFromString(out.str()));
  return trace;
}

struct Slice {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  TrackEvent event;
};

/// The slices by track, as a reader makes them of begins and ends. Checks that no end comes without
/// its begin and none is left open.
std::map<std::uint64_t, std::vector<Slice>> slices_of(const perfetto::Trace& trace) {
  std::map<std::uint64_t, std::vector<Slice>> done;
  std::map<std::uint64_t, std::vector<Slice>> open;
  for (const auto& packet : trace.packet()) {
    const TrackEvent& event = packet.track_event();
    if (event.type() == TrackEvent::TYPE_SLICE_BEGIN)
      open[event.track_uuid()].push_back({packet.timestamp(), 0, event});
    if (event.type() == TrackEvent::TYPE_SLICE_END) {
      std::vector<Slice>& stack = open[event.track_uuid()];
      REQUIRE_FALSE(stack.empty());
      stack.back().end = packet.timestamp();
      done[event.track_uuid()].push_back(stack.back());
      stack.pop_back();
    }
  }
  for (const auto& [track, stack] : open) CHECK(stack.empty());
  return done;
}

Slice slice_named(const perfetto::Trace& trace, const std::string& name) {
  for (const auto& [track, slices] : slices_of(trace)) {
    for (const Slice& s : slices) {
      if (s.event.name() == name) return s;
    }
  }
  FAIL("no slice named " << name);
  return {};
}

std::map<std::uint64_t, TrackDescriptor> tracks_of(const perfetto::Trace& trace) {
  std::map<std::uint64_t, TrackDescriptor> out;
  for (const auto& packet : trace.packet()) {
    if (!packet.has_track_descriptor()) continue;
    CHECK(out.count(packet.track_descriptor().uuid()) == 0);  // announced once
    out[packet.track_descriptor().uuid()] = packet.track_descriptor();
  }
  return out;
}

std::map<std::string, std::int64_t> numbers_of(const TrackEvent& event) {
  std::map<std::string, std::int64_t> out;
  for (const auto& a : event.debug_annotations()) {
    if (a.has_int_value()) out[a.name()] = a.int_value();
  }
  return out;
}

TEST_CASE(
    "Perfetto packets are in the order of their time, of one sequence, and tracks come before "
    "their events") {
  const perfetto::Trace trace = trace_of(MadeUpTimeline(two_steps()));
  std::uint64_t last = 0;
  std::set<std::uint64_t> announced;
  bool first = true;
  for (const auto& packet : trace.packet()) {
    CHECK(packet.trusted_packet_sequence_id() == 1);
    CHECK(packet.sequence_flags() ==
          (first ? 1U : 0U));  // nothing before this trace is to be remembered
    first = false;
    if (packet.has_track_descriptor()) announced.insert(packet.track_descriptor().uuid());
    if (!packet.has_track_event()) continue;
    CHECK(packet.timestamp() >= last);
    last = packet.timestamp();
    CHECK(announced.count(packet.track_event().track_uuid()) == 1);
  }
  CHECK(last == 2'820);  // the end of the kernel that outlives its step: 2120 + 700
}

TEST_CASE("Every span is a slice of its length, and slices of a track do not overlap") {
  const perfetto::Trace trace = trace_of(MadeUpTimeline(two_steps()));
  std::size_t count = 0;
  for (const auto& [track, slices] : slices_of(trace)) {
    count += slices.size();
    for (std::size_t i = 1; i < slices.size(); ++i) CHECK(slices[i].begin >= slices[i - 1].end);
  }
  CHECK(count == 3 + 5 + 4);  // steps, kernels, calls
  CHECK(slice_named(trace, "gemm").begin == 1'300);
  CHECK(slice_named(trace, "gemm").end == 1'500);
  CHECK(slice_named(trace, "empty").begin == 1'500);
  CHECK(slice_named(trace, "empty").end == 1'500);
  CHECK(slice_named(trace, "step 0: 2 prefill (300 tokens), 0 decode").end == 2'000);
  CHECK(slice_named(trace, "step 1: 0 prefill (0 tokens), 32 decode").begin == 2'000);
}

TEST_CASE(
    "Streams are threads of the GPU's process, calls a thread of the host's; an overlap gets a "
    "further track") {
  const perfetto::Trace trace = trace_of(MadeUpTimeline(two_steps()));
  auto tracks = tracks_of(trace);
  const auto track_of = [&](const std::string& name) {
    return tracks[slice_named(trace, name).event.track_uuid()];
  };
  const TrackDescriptor stream = track_of("gemm");
  CHECK(stream.name() == "stream 1");
  CHECK(stream.has_thread());
  CHECK(track_of("a").uuid() == stream.uuid());
  CHECK(track_of("b").name() == "stream 1");  // begins before a ends
  CHECK(track_of("b").uuid() != stream.uuid());
  CHECK_FALSE(track_of("b").has_thread());  // a thread has one track
  CHECK(track_of("c").name() == "stream 4");
  CHECK(track_of("c").thread().tid() != stream.thread().tid());
  const TrackDescriptor gpu = tracks[stream.parent_uuid()];
  CHECK(gpu.process().process_name() == "GPU 0 AMD Instinct MI300X");
  CHECK(gpu.process().pid() == stream.thread().pid());
  CHECK(track_of("b").parent_uuid() == gpu.uuid());
  const TrackDescriptor host = tracks[track_of("hipGraphLaunch").parent_uuid()];
  CHECK(host.process().pid() == 4242);
  CHECK(host.process().pid() != gpu.process().pid());
  CHECK(track_of("hipGraphLaunch").thread().tid() == 4242);
  CHECK(track_of("step 0: 2 prefill (300 tokens), 0 decode").parent_uuid() == host.uuid());
  // Numbers of threads are of one space in Perfetto, and 0 is the idle one.
  std::set<std::int32_t> threads;
  for (const auto& [uuid, track] : tracks) {
    if (!track.has_thread()) continue;
    CHECK(track.thread().tid() > 0);
    CHECK(threads.insert(track.thread().tid()).second);
  }
}

TEST_CASE(
    "A flow goes from each launch to the first kernel that it launched, and from nowhere else") {
  const perfetto::Trace trace = trace_of(MadeUpTimeline(two_steps()));
  std::map<std::uint64_t, std::vector<std::string>> flows;
  for (const auto& packet : trace.packet()) {
    for (const std::uint64_t id : packet.track_event().flow_ids())
      flows[id].push_back(packet.track_event().name());
  }
  const std::map<std::uint64_t, std::vector<std::string>> expected{
      {11, {"hipLaunchKernel", "gemm"}},
      {12, {"hipLaunchKernel", "empty"}},
      {14, {"hipGraphLaunch", "a"}}};
  CHECK(flows == expected);
}

TEST_CASE("A kernel carries its correlation, step, grid and role") {
  const perfetto::Trace trace = trace_of(MadeUpTimeline(two_steps()));
  const TrackEvent gemm = slice_named(trace, "gemm").event;
  CHECK(numbers_of(gemm) == std::map<std::string, std::int64_t>{
                                {"correlation", 11}, {"step", 0}, {"grid", 7}, {"block", 256}});
  CHECK(gemm.categories(0) == "kernel");
  CHECK(gemm.debug_annotations(4).name() == "role");
  CHECK(gemm.debug_annotations(4).string_value() == "q_proj");
  CHECK(numbers_of(slice_named(trace, "c").event) ==
        std::map<std::string, std::int64_t>{{"correlation", 14}, {"step", 1}});
  CHECK(numbers_of(slice_named(trace, "hipGraphLaunch").event)["step"] == 1);
}

TEST_CASE("The server's counters are counter tracks of the host's process") {
  const perfetto::Trace trace = trace_of(MadeUpTimeline(two_steps()));
  auto tracks = tracks_of(trace);
  std::map<std::string, std::vector<double>> values;
  for (const auto& packet : trace.packet()) {
    const TrackEvent& event = packet.track_event();
    if (event.type() != TrackEvent::TYPE_COUNTER) continue;
    const TrackDescriptor& track = tracks[event.track_uuid()];
    CHECK(track.has_counter());
    CHECK(tracks[track.parent_uuid()].process().pid() == 4242);
    values[track.name()].push_back(event.has_double_counter_value()
                                       ? event.double_counter_value()
                                       : static_cast<double>(event.counter_value()));
  }
  const std::map<std::string, std::vector<double>> expected{{"kv_cache_usage", {0.625, 0.75}},
                                                            {"num_running", {2, 32}},
                                                            {"num_waiting", {5, 0}},
                                                            {"preemptions", {1, 1}}};
  CHECK(values == expected);
}

TEST_CASE("Field numbers are Perfetto's") {
  perfetto::TracePacket packet;
  packet.set_timestamp(1);
  packet.mutable_track_descriptor()->set_uuid(2);
  // timestamp = 8: key 8 x 8 + 0 = 0x40. track_descriptor = 60: key 60 x 8 + 2 = 482 = 0xE2 0x03,
  // two bytes long; uuid = 1: 0x08.
  CHECK(packet.SerializeAsString() == std::string("\x40\x01\xE2\x03\x02\x08\x02", 7));
  TrackEvent event;
  event.add_flow_ids(3);
  // flow_ids = 47, eight bytes fixed: key 47 x 8 + 1 = 377 = 0xF9 0x02, unpacked.
  CHECK(event.SerializeAsString() == std::string("\xF9\x02\x03\0\0\0\0\0\0\0", 10));
  event.Clear();
  event.set_double_counter_value(0.0);
  CHECK(event.SerializeAsString() ==
        std::string("\xE1\x02\0\0\0\0\0\0\0\0", 10));  // 44 x 8 + 1 = 353
}

TEST_CASE("A timeline that begins before zero is shifted, for Perfetto's times have no sign") {
  MadeUpStep early;
  early.step = step_at(0, -500, 100);
  early.kernels = {kernel_at(-450, 20, "k")};
  const perfetto::Trace trace =
      trace_of(MadeUpTimeline({early}), {core::Instant{-1000}, core::kNever});
  CHECK(slice_named(trace, "k").begin == 50);
  CHECK(slice_named(trace, "k").end == 70);
}

TEST_CASE(
    "An empty timeline is a trace of two processes, and a window holds the steps that start in "
    "it") {
  CHECK(tracks_of(trace_of(MadeUpTimeline({}))).size() == 2);
  const perfetto::Trace trace =
      trace_of(MadeUpTimeline(two_steps()), {core::Instant{2'000}, core::Instant{2'500}});
  std::size_t count = 0;
  for (const auto& [track, slices] : slices_of(trace)) count += slices.size();
  CHECK(count == 1 + 3 + 1);  // the second step, its kernels and its call
}

TEST_CASE("A Perfetto file is there whole or not at all") {
  const auto path = std::filesystem::temp_directory_path() /
                    ("ridgeline_" + std::to_string(::getpid()) + ".pftrace");
  write_perfetto_file(MadeUpTimeline(two_steps()), {}, path);
  perfetto::Trace trace;
  CHECK(trace.ParseFromString(core::read_text_file(path)));
  CHECK(trace.packet_size() > 20);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(write_perfetto_file(MadeUpTimeline(two_steps()), {}, path / "none"),
                  core::ConfigError);
}

}  // namespace
}  // namespace ridgeline::timeline
