// Does each gate fail on the trace that it is there for, and pass on others?

#include <catch2/catch.hpp>

#include "tests/understand/made_up_recording.hpp"
#include "timeline/integrity.hpp"

namespace ridgeline::timeline {
namespace {

Gate gate(const Recording& r, std::string_view name) {
  for (const Gate& g : check_integrity(r, find_steps(r))) {
    if (g.name == name) return g;
  }
  throw std::runtime_error("no such gate");
}

/// `replays` graph launches 1 ms apart, of which the first `recorded` have kernels.
Recording& replays(MadeUp& made, int replays, int recorded) {
  for (int i = 0; i < replays; ++i) {
    made.call(i * 1000.0, 50, HostCall::Kind::graph_launch, "hipGraphLaunch", i + 1);
    if (i >= recorded) continue;
    for (int k = 0; k < 3; ++k) made.kernel(i * 1000.0 + 60 + 10 * k, 10, "Cijk_a", i + 1);
  }
  return made.finish();
}

TEST_CASE("Dropped graph replays make idle time unbelievable") {
  MadeUp made;
  const Recording& r = replays(made, 10, 4);  // 4 / 10 < 0.5
  const Gate g = gate(r, "graph_replays");
  CHECK_FALSE(g.passed);
  CHECK(g.value == 0.4);
  CHECK_THAT(g.sentence, Catch::Contains("only 4 of 10 graph replays"));
  CHECK_FALSE(believable(check_integrity(r, find_steps(r))));
}

TEST_CASE("One unrecorded replay of many, or of one, is no reason for doubt") {
  MadeUp many;
  CHECK(gate(replays(many, 10, 9), "graph_replays").passed);
  MadeUp one;
  one.kernel(0, 1, "Cijk_a");
  CHECK(gate(replays(one, 1, 0), "graph_replays").passed);
}

TEST_CASE("A capture run is named as one") {
  MadeUp made;
  made.call(0, 1, HostCall::Kind::other, "hipStreamBeginCapture", 1);
  for (int i = 0; i < 20; ++i) made.launch(10 + i, 1, 100 + i);
  made.kernel(50, 5, "Cijk_a", 100);
  const Gate g = gate(made.finish(), "launches_ran");
  CHECK_FALSE(g.passed);
  CHECK(g.value == 0.95);  // 19 of 20
  CHECK_THAT(g.sentence, Catch::Contains("captured into a graph, not run"));
}

TEST_CASE("Overlap within a stream counts from a millisecond that matters") {
  MadeUp small;
  small.kernel(0, 100'000, "Cijk_a");
  small.kernel(98'500, 100'000, "Cijk_a");  // 1.5 ms of 200: 0.75 %
  CHECK(gate(small.finish(), "stream_overlap").passed);
  MadeUp large;
  large.kernel(0, 10'000, "Cijk_a");
  large.kernel(8'000, 10'000, "Cijk_a");  // 2 ms of 20: 10 %
  CHECK_FALSE(gate(large.finish(), "stream_overlap").passed);
  MadeUp streams;
  streams.kernel(0, 10'000, "Cijk_a");
  streams.kernel(0, 10'000, "nccl").stream = 2;  // two streams may
  CHECK(gate(streams.finish(), "stream_overlap").passed);
}

TEST_CASE("Kernels that start before their launch show two clocks") {
  MadeUp made;
  made.launch(100, 5, 1);
  made.kernel(40, 10, "Cijk_a", 1);
  const Gate g = gate(made.finish(), "clock_base");
  CHECK_FALSE(g.passed);
  CHECK_THAT(g.sentence, Catch::Contains("by up to 60.0 us"));
}

TEST_CASE("Kernels without launches leave the host's part untold, and no more") {
  MadeUp made;
  for (int i = 0; i < 10; ++i) made.kernel(i * 10.0, 10, "Cijk_a");
  const Recording& r = made.finish();
  CHECK_FALSE(gate(r, "linked").passed);
  CHECK(believable(check_integrity(r, find_steps(r))));
}

TEST_CASE("Stacks and slow launches are warned of") {
  MadeUp made;
  made.launch(0, 25, 1);
  made.kernel(30, 10, "Cijk_a", 1);
  const Gate slow = gate(made.finish(), "profiler_overhead");
  CHECK_FALSE(slow.passed);
  CHECK(slow.value == 25.0);
  CHECK_FALSE(slow.decisive);
}

TEST_CASE("Queued work that waits for nothing recorded is told") {
  MadeUp made;
  made.launch(0, 5, 1);
  made.kernel(5'005, 1'000, "Cijk_a", 1);  // queued at 5 us: waited 5 ms
  made.kernel(0, 1, "Cijk_b", 0);
  const Gate g = gate(made.finish(), "unrecorded_work");
  CHECK_FALSE(g.passed);
  CHECK_THAT(g.sentence, Catch::Contains("waited 5.000 ms"));
}

TEST_CASE("A truncated file is told in its reader's words") {
  MadeUp made;
  made.kernel(0, 1, "Cijk_a");
  made.recording.missing = {"no correlation ids", "the file is truncated after event 1,204"};
  const Gate g = gate(made.finish(), "complete");
  CHECK_FALSE(g.passed);
  CHECK(g.sentence == "the file is truncated after event 1,204");
}

TEST_CASE("Calls without any device event say nothing of the device") {
  MadeUp made;
  made.launch(0, 5, 1);
  const Recording& r = made.finish();
  CHECK_FALSE(gate(r, "device_events").passed);
  CHECK_FALSE(believable(check_integrity(r, find_steps(r))));
}

}  // namespace
}  // namespace ridgeline::timeline
