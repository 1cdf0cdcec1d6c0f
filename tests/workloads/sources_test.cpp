#include <catch2/catch.hpp>

#include "tests/workloads/fixtures.hpp"
#include "workloads/sources/closed_loop_source.hpp"
#include "workloads/sources/trace_source.hpp"

namespace {

using namespace ridgeline::workloads;  // NOLINT: a test of this one folder
using ridgeline::core::Instant;
using ridgeline::core::InvariantError;

ClosedLoopSource closed_loop(ClosedLoop loop, std::int64_t requests) {
  return {loop, requests, Lengths(UniformLength{1, 1000}, TokenKind::prompt, 1),
          Lengths(FixedLength{9}, TokenKind::output, 1)};
}

TEST_CASE("A trace gives its requests in order and then no more", "[workloads][sources]") {
  TraceSource source({{0, {0}, 10, 1}, {1, {7}, 20, 2}}, 1.0);
  CHECK_FALSE(source.reacts());
  CHECK(source.next_arrival() == Instant{0});
  CHECK(source.take() == Request{0, {0}, 10, 1});
  CHECK(source.next_arrival() == Instant{7});
  CHECK(source.take() == Request{1, {7}, 20, 2});
  CHECK_FALSE(source.next_arrival());
  CHECK_THROWS_AS(source.take(), InvariantError);
}

TEST_CASE("A time scale multiplies arrivals; a scale of one changes no nanosecond",
          "[workloads][sources]") {
  constexpr std::int64_t kOdd =
      (std::int64_t{1} << 53) + 1;  // the first whole number that a double cannot hold
  TraceSource half({{0, {0}, 1, 1}, {1, {1000}, 1, 1}}, 0.5);
  half.take();
  CHECK(half.next_arrival() == Instant{500});
  const TraceSource same({{0, {kOdd}, 1, 1}}, 1.0);
  CHECK(same.next_arrival() == Instant{kOdd});
}

TEST_CASE("Clients of a closed loop all ask at zero, then each only after an answer",
          "[workloads][sources]") {
  auto source = closed_loop({.concurrency = 2, .think_time = {100}}, 4);
  CHECK(source.reacts());
  CHECK(source.take().arrival == Instant{0});
  CHECK(source.take().arrival == Instant{0});
  CHECK_FALSE(source.next_arrival());  // both clients wait
  CHECK_THROWS_AS(source.take(), InvariantError);
  source.on_finished({50});
  CHECK(source.next_arrival() == Instant{150});  // 50 + 100
  source.on_finished({60});
  const Request third = source.take();
  CHECK(third.id == 2);
  CHECK(third.arrival == Instant{150});
  CHECK(source.take().arrival == Instant{160});
  source.on_finished({300});  // the fourth of four was the last
  CHECK_FALSE(source.next_arrival());
}

TEST_CASE("A closed loop wider than its requests sends them all at zero", "[workloads][sources]") {
  auto source = closed_loop({.concurrency = 10}, 3);
  const auto requests = ridgeline::tests::drain(source);
  REQUIRE(requests.size() == 3);
  CHECK(requests[2].arrival == Instant{0});
  source.on_finished({1});
  CHECK_FALSE(source.next_arrival());
}

TEST_CASE("A closed loop numbers requests by arrival, whichever answer is reported first",
          "[workloads][sources]") {
  const auto ids_and_times = [](std::vector<Instant> finishes) {
    auto source = closed_loop({.concurrency = 3}, 6);
    for (int i = 0; i < 3; ++i) source.take();
    for (const Instant when : finishes) source.on_finished(when);
    return ridgeline::tests::drain(source);
  };
  const auto requests = ids_and_times({{30}, {10}, {20}});
  REQUIRE(requests.size() == 3);
  CHECK(requests[0].id == 3);
  CHECK(requests[0].arrival == Instant{10});
  CHECK(requests[2].arrival == Instant{30});
  CHECK(requests == ids_and_times({{10}, {20}, {30}}));
}

TEST_CASE("No more than the concurrency is ever in flight", "[workloads][sources]") {
  constexpr std::int64_t kClients = 5;
  auto source = closed_loop({.concurrency = kClients, .think_time = {3}}, 200);
  // A server that takes prompt_tokens nanoseconds for each request, any number at once.
  std::vector<Instant> finishes;
  std::size_t most = 0;
  std::size_t taken = 0;
  while (true) {
    const auto arrival = source.next_arrival();
    const auto first = std::min_element(finishes.begin(), finishes.end());
    if (arrival && (first == finishes.end() || *arrival <= *first)) {
      const Request request = source.take();
      CHECK(request.id == taken++);
      finishes.push_back(request.arrival + ridgeline::core::Nanoseconds{request.prompt_tokens});
      most = std::max(most, finishes.size());
    } else if (first != finishes.end()) {
      const Instant when = *first;
      finishes.erase(first);
      source.on_finished(when);
    } else {
      break;
    }
  }
  CHECK(most == kClients);
  CHECK(taken == 200);
}

}  // namespace
