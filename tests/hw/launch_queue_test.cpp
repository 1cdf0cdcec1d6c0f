#include "hw/launch_queue.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/random.hpp"
#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Nanoseconds;
using ridgeline::core::RandomStream;
using ridgeline::tests::error_of;
using ridgeline::tests::launch_in_us;

constexpr Nanoseconds us(std::int64_t n) { return {n * 1000}; }

std::vector<KernelTiming> run(const LaunchSpec& spec, LaunchMode mode,
                              const std::vector<Nanoseconds>& durations) {
  LaunchQueue queue(spec);
  queue.begin(mode, static_cast<std::int64_t>(durations.size()));
  std::vector<KernelTiming> out;
  for (const Nanoseconds duration : durations) out.push_back(queue.push(duration));
  return out;
}

TEST_CASE("The first kernel waits for its issue and the doorbell", "[hw][launch_queue]") {
  const auto timings = run(launch_in_us(5, 10, 3, 1024), LaunchMode::eager, {us(7)});
  CHECK(timings[0].issue_begin == us(0));
  CHECK(timings[0].issue_end == us(5));
  CHECK(timings[0].start == us(15));  // 5 + 10
  CHECK(timings[0].end == us(22));
  CHECK(timings[0].launch_gap == us(15));
  CHECK(timings[0].dispatch_gap == us(0));
}

TEST_CASE("With kernels longer than their issue the gap is the dispatch", "[hw][launch_queue]") {
  const auto timings =
      run(launch_in_us(2, 10, 3, 1024), LaunchMode::eager, std::vector(100, us(20)));
  for (std::size_t i = 1; i < timings.size(); ++i) {
    REQUIRE(timings[i].start - timings[i - 1].end == us(3));
    REQUIRE(timings[i].dispatch_gap == us(3));
    REQUIRE(timings[i].launch_gap == us(0));
  }
  CHECK(timings.back().end == us(12 + 100 * 20 + 99 * 3));
}

TEST_CASE("With kernels shorter than their issue the gap is the issue less the duration",
          "[hw][launch_queue]") {
  const auto timings =
      run(launch_in_us(20, 10, 3, 1024), LaunchMode::eager, std::vector(100, us(6)));
  for (std::size_t i = 1; i < timings.size(); ++i) {
    REQUIRE(timings[i].start - timings[i - 1].end == us(14));  // 20 - 6
    REQUIRE(timings[i].dispatch_gap == us(3));
    REQUIRE(timings[i].launch_gap == us(11));  // of the 14, what the device does not need itself
  }
  CHECK(timings.back().end == us(100 * 20 + 10 + 6));
}

TEST_CASE("A queue of depth one makes the host wait for every start", "[hw][launch_queue]") {
  const auto timings = run(launch_in_us(1, 2, 1, 1), LaunchMode::eager, std::vector(3, us(10)));
  CHECK((timings[0].start == us(3) && timings[0].end == us(13)));
  CHECK(timings[1].issue_begin == us(3));  // once the first has started
  CHECK((timings[1].start == us(14) && timings[1].end == us(24)));
  CHECK(timings[2].issue_begin == us(14));
  CHECK(timings[2].start == us(25));

  // Short kernels: issue 1 + doorbell 2 from the start before, where the device alone needs 1 + 1.
  const auto starved = run(launch_in_us(1, 2, 1, 1), LaunchMode::eager, std::vector(3, us(1)));
  CHECK((starved[0].start == us(3) && starved[1].start == us(6) && starved[2].start == us(9)));
  CHECK((starved[1].dispatch_gap == us(1) && starved[1].launch_gap == us(1)));
}

TEST_CASE("A host that waits for each kernel leaves the same gap after long ones and short ones",
          "[hw][launch_queue]") {
  LaunchSpec spec = launch_in_us(4, 8, 1, 1024);
  spec.blocking = true;
  const auto timings = run(spec, LaunchMode::eager, {us(6), us(100), us(6), us(30)});
  for (std::size_t i = 1; i < timings.size(); ++i) {
    CHECK(timings[i].issue_begin == timings[i - 1].end);
    CHECK(timings[i].start - timings[i - 1].end == us(12));  // 4 to issue and 8 for the doorbell
    CHECK((timings[i].dispatch_gap == us(1) && timings[i].launch_gap == us(11)));
  }
}

TEST_CASE("A queue that holds the whole step never makes the host wait", "[hw][launch_queue]") {
  const auto timings = run(launch_in_us(2, 10, 3, 50), LaunchMode::eager, std::vector(50, us(100)));
  CHECK(timings.back().issue_end == us(100));  // 50 x 2
  const auto waiting = run(launch_in_us(2, 10, 3, 49), LaunchMode::eager, std::vector(50, us(100)));
  CHECK(waiting.back().issue_begin ==
        us(98));  // its slot came free at the first start, 12: long ago
  const auto full = run(launch_in_us(2, 10, 3, 4), LaunchMode::eager, std::vector(50, us(100)));
  CHECK(full.back().issue_begin == full[45].start);
}

TEST_CASE("A graph is one submission, after which its kernels wait for nobody",
          "[hw][launch_queue]") {
  LaunchSpec spec = launch_in_us(100, 2, 100, 1);  // none of which a graph pays but the doorbell
  spec.graph_submit = us(5);
  spec.graph_node = us(1);
  spec.graph_dispatch = us(1);
  const auto timings = run(spec, LaunchMode::graph, std::vector(3, us(4)));
  CHECK(timings[0].start == us(10));                                  // 5 + 3 x 1 + 2
  CHECK((timings[1].start == us(15) && timings[2].start == us(20)));  // 4 + 1 apart
  for (const KernelTiming& timing : timings) {
    CHECK(timing.issue_begin == us(0));
    CHECK(timing.issue_end == us(8));
  }
  CHECK((timings[1].launch_gap == us(0) && timings[2].launch_gap == us(0)));
  CHECK((timings[1].dispatch_gap == us(1) && timings[2].dispatch_gap == us(1)));
}

TEST_CASE("A queue begun again remembers nothing", "[hw][launch_queue]") {
  LaunchQueue queue(launch_in_us(2, 3, 1, 2));
  std::vector<Nanoseconds> ends;
  for (int round = 0; round < 2; ++round) {
    queue.begin(LaunchMode::eager, 5);
    for (int i = 0; i < 5; ++i) ends.push_back(queue.push(us(7)).end);
  }
  for (std::size_t i = 0; i < 5; ++i) CHECK(ends[i] == ends[i + 5]);
}

TEST_CASE("Random queues obey the recurrence, and their gaps add up", "[hw][launch_queue]") {
  const RandomStream random(1, "queues");
  std::uint64_t n = 0;
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return random.uniform_int(n++, low, high);
  };
  for (int round = 0; round < 500; ++round) {
    LaunchSpec spec{};
    spec.issue = {draw(0, 30)};
    spec.doorbell = {draw(0, 20)};
    spec.dispatch = {draw(0, 5)};
    spec.queue_depth = draw(1, 8);
    spec.blocking = draw(0, 4) == 0;
    std::vector<Nanoseconds> durations;
    for (std::int64_t i = draw(1, 60); i > 0; --i) durations.push_back({draw(0, 60)});
    const auto timings = run(spec, LaunchMode::eager, durations);
    std::int64_t host = 0;
    std::int64_t accounted = 0;
    for (std::size_t i = 0; i < durations.size(); ++i) {
      const auto depth = static_cast<std::size_t>(spec.queue_depth);
      if (i >= depth) host = std::max(host, timings[i - depth].start.count);
      if (i > 0 && spec.blocking) host = std::max(host, timings[i - 1].end.count);
      REQUIRE(timings[i].issue_begin.count == host);
      host += spec.issue.count;
      REQUIRE(timings[i].issue_end.count == host);
      std::int64_t start = host + spec.doorbell.count;
      if (i > 0) start = std::max(start, timings[i - 1].end.count + spec.dispatch.count);
      REQUIRE(timings[i].start.count == start);
      REQUIRE(timings[i].end - timings[i].start == durations[i]);
      accounted += (timings[i].dispatch_gap + timings[i].launch_gap + durations[i]).count;
      REQUIRE(accounted == timings[i].end.count);
    }
    spec.queue_depth += draw(1, 8);  // a deeper queue delays nothing
    const auto deeper = run(spec, LaunchMode::eager, durations);
    for (std::size_t i = 0; i < durations.size(); ++i) REQUIRE(deeper[i].end <= timings[i].end);
  }
}

TEST_CASE("Launch costs read as they are written, and implausible ones are refused",
          "[hw][launch_queue]") {
  const std::string good =
      "issue: 8 us\ndoorbell: 10 us\ndispatch: 3 us\nqueue_depth: 1024\nfloor: 2 us\n"
      "graph_submit: 0.8 us\ngraph_node: 15 ns\ngraph_dispatch: 0 us\ngraph_floor: 5 us\n";
  const auto read = [](const std::string& text) {
    const ridgeline::core::Node node = ridgeline::core::parse_yaml(text, "s.yaml");
    return read_launch(ridgeline::core::Reader(node));
  };
  LaunchSpec expected = launch_in_us(8, 10, 3, 1024);
  expected.floor = us(2);
  expected.graph_submit = {800};
  expected.graph_node = {15};
  expected.graph_floor = us(5);
  CHECK(read(good) == expected);
  const auto error = [&](std::string from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return error_of([&] { static_cast<void>(read(text)); });
  };
  CHECK(error("issue: 8 us", "issue: 8") ==
        "s.yaml:1:8: issue: expected a number with unit like '15 us', got '8'");
  CHECK(error("issue: 8 us", "issue: 2 s") ==
        "s.yaml:1:8: issue: expected a time of at most 1 s, got '2 s'");
  CHECK(error("depth: 1024", "depth: 0") ==
        "s.yaml:4:14: queue_depth: expected a whole number from 1 to 1048576, got '0'");
  CHECK(error("floor: 2 us\n", "") ==
        "s.yaml:1:1: floor: expected a number with unit like '15 us', got nothing (the key is "
        "missing)");
}

}  // namespace
