#include "sim/metrics.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/run_directory.hpp"

using namespace ridgeline;
using sim::Metrics;
using sim::RequestRecord;
using sim::RequestStatus;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

RequestRecord finished(std::int64_t arrival, std::int64_t scheduled, std::int64_t first,
                       std::int64_t last, std::int64_t tokens) {
  RequestRecord r;
  r.status = RequestStatus::finished;
  r.prompt_tokens = 10;
  r.asked_tokens = r.output_tokens = tokens;
  r.arrival = {arrival * kSecond};
  r.scheduled = {scheduled * kSecond};
  r.first_token = {first * kSecond};
  r.last_token = {last * kSecond};
  return r;
}

/// Two answered requests, one refused, one cut off.
sim::RunResult result() {
  sim::RunResult out;
  out.requests = {finished(2, 3, 4, 10, 4), finished(4, 4, 8, 8, 1), {}, {}};
  out.requests[2].status = RequestStatus::refused;
  out.requests[2].arrival = {kSecond};  // the first to arrive
  out.requests[3].status = RequestStatus::interrupted;
  out.requests[3].arrival = {9 * kSecond};
  out.requests[3].prompt_tokens = 1000;
  out.token_gaps = {{{1 * kSecond}, 2}, {{4 * kSecond}, 1}};  // 1 + 1 + 4 = the 6 s from 4 to 10
  out.memory.kv_blocks = 8;
  out.counters = {{1, 5, 2, 0}, {2, 0, 6, 1}, {1, 1, 4, 3}};
  out.preemptions = 3;
  return out;
}

}  // namespace

TEST_CASE("Requests are counted by how they ended, tokens of those that were answered",
          "[sim][metrics]") {
  const Metrics m = sim::measure(result());
  CHECK(m.requests == 4);
  CHECK(m.completed == 2);
  CHECK(m.refused == 1);
  CHECK(m.interrupted == 1);
  CHECK(m.preemptions == 3);
  CHECK(m.input_tokens == 20);
  CHECK(m.output_tokens == 5);
}

TEST_CASE("Duration runs from the first arrival to the last answer", "[sim][metrics]") {
  const Metrics m = sim::measure(result());
  CHECK(m.duration_seconds == 9.0);  // 1 to 10
  CHECK(m.per_second(18.0) == 2.0);
}

TEST_CASE("Latencies are the benchmark's", "[sim][metrics]") {
  const Metrics m = sim::measure(result());
  CHECK(m.ttft.count == 2);
  CHECK(m.ttft.mean == Approx(3.0));  // 4 - 2 and 8 - 4
  CHECK(m.ttft.std == Approx(1.0));
  CHECK(m.ttft.p50 == Approx(3.0));
  CHECK(m.e2e.mean == Approx(6.0));    // 8 and 4
  CHECK(m.queue.mean == Approx(0.5));  // 1 and 0
  CHECK(m.tpot.count == 1);            // of one token there is no time between tokens
  CHECK(m.tpot.mean == Approx(2.0));   // 6 s / 3
  CHECK(m.itl.count == 3);
  CHECK(m.itl.mean == Approx(2.0));  // (1 + 1 + 4) / 3
  CHECK(m.itl.p50 == Approx(1.0));
  CHECK(m.itl.max == Approx(4.0));
  CHECK(m.itl.std == Approx(std::sqrt(2.0)));  // (1 + 1 + 4) / 3
}

TEST_CASE("Peaks are the largest that any step began with", "[sim][metrics]") {
  const Metrics m = sim::measure(result());
  CHECK(m.peak_running == 2);
  CHECK(m.peak_waiting == 5);
  CHECK(m.peak_kv_usage == 0.75);  // 6 of 8
}

TEST_CASE("A run in which nothing was answered has no latency and no duration", "[sim][metrics]") {
  sim::RunResult nothing;
  CHECK(sim::measure(nothing).requests == 0);
  CHECK(sim::measure(nothing).per_second(10.0) == 0.0);
  nothing.requests.resize(1);
  const Metrics m = sim::measure(nothing);
  CHECK(m.interrupted == 1);
  CHECK(m.duration_seconds == 0.0);
  CHECK(m.ttft.count == 0);
}

TEST_CASE("The time of a token is over the gaps between tokens, not the tokens", "[sim][metrics]") {
  CHECK(finished(0, 0, 1, 7, 4).tpot().value() == Approx(2.0));
  CHECK(finished(0, 0, 1, 1, 1).tpot().value() == 0.0);
}

TEST_CASE("The result has the benchmark's names, times in ms", "[sim][metrics]") {
  sim::RunResult run = result();
  sim::StepRecord step;
  step.start = {2 * kSecond};
  step.ledger[hw::Cause::memory] = {3 * kSecond};
  run.steps = {step, step};
  run.steps[1].start = {7 * kSecond};
  const auto json = sim::result_json(run, sim::measure(run));
  CHECK(json["num_prompts"] == 4);
  CHECK(json["completed"] == 2);
  CHECK(json["failed"] == 2);
  CHECK(json["total_input_tokens"] == 20);
  CHECK(json["total_output_tokens"] == 5);
  CHECK(json["duration"] == 9.0);
  CHECK(json["request_throughput"].get<double>() == Approx(2.0 / 9.0));
  CHECK(json["output_throughput"].get<double>() == Approx(5.0 / 9.0));
  CHECK(json["total_token_throughput"].get<double>() == Approx(25.0 / 9.0));
  CHECK(json["mean_ttft_ms"].get<double>() == Approx(3000.0));
  CHECK(json["mean_tpot_ms"].get<double>() == Approx(2000.0));
  CHECK(json["p99_itl_ms"].get<double>() ==
        Approx(1000.0 + 0.98 * 3000.0));  // rank 0.99 x 2 = 1.98 between 1 s and 4 s
  CHECK(json["median_e2el_ms"].get<double>() == Approx(6000.0));
  const auto& own = json["ridgeline"];
  CHECK(own["refused"] == 1);
  CHECK(own["unfinished"] == 1);
  CHECK(own["steps_ns"] == 6 * kSecond);
  CHECK(own["ledger"]["memory_ns"] == 6 * kSecond);
  CHECK(own["ledger"]["host_ns"] == 0);
  CHECK(own["idle_ns"] == 2 * kSecond);  // from 5 to 7
}
