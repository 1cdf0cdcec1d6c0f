// Runs so small that a person can follow them.

#include "sim/run.hpp"

#include <catch2/catch.hpp>

#include <set>

#include "sim/metrics.hpp"
#include "sim/step_model.hpp"
#include "tests/sim/fixtures.hpp"
#include "tests/sim/same.hpp"

using namespace ridgeline;
using sim::RequestStatus;
using sim::RunResult;
using tests::tiny;

namespace {

core::Nanoseconds time_of(const sim::Scenario& scenario, const workloads::StepShape& shape) {
  sim::StepModel model(scenario);
  return model.run(model.prepare(shape)).duration();
}

}  // namespace

TEST_CASE("One request alone takes its prefill and a decode step for every further token",
          "[sim][run]") {
  const sim::Scenario s =
      tiny({{"workload.requests", "1"}});  // 10 tokens in, 5 out, arriving at 10 ms
  const RunResult run = sim::run(s);
  REQUIRE(run.requests.size() == 1);
  const auto& r = run.requests[0];
  workloads::StepShape prefill;
  prefill.add_prefill(10, 10, true);
  CHECK(r.arrival == core::Instant{10'000'000});
  CHECK(r.queue().count == 0);
  CHECK(r.ttft() == time_of(s, prefill));
  core::Nanoseconds decodes{};
  for (const std::int64_t context : {11, 12, 13, 14}) {  // the last token is never computed
    workloads::StepShape decode;
    decode.add_decode(context);
    decodes += time_of(s, decode);
  }
  CHECK(r.last_token - r.first_token == decodes);
  CHECK(run.steps.size() == 5);
  CHECK(run.counters.size() == 5);
}

TEST_CASE("A request that arrives during a step waits for its end", "[sim][run]") {
  const sim::Scenario s = tiny({{"workload.requests", "2"},
                                {"workload.arrivals.constant.rate", "100000 /s"},  // 10 us apart
                                {"engine.async_scheduling", "false"}});
  const RunResult run = sim::run(s);
  CHECK(run.requests[1].arrival == core::Instant{20'000});
  CHECK(run.requests[1].scheduled == run.steps[0].end());
  CHECK(run.steps[1].start == run.steps[0].end());
  CHECK(run.steps[1].decode_sequences == 1);
  CHECK(run.steps[1].prefill_sequences == 1);
}

TEST_CASE("With asynchronous scheduling it also waits for the step that was planned meanwhile",
          "[sim][run]") {
  const sim::Scenario s =
      tiny({{"workload.requests", "2"}, {"workload.arrivals.constant.rate", "100000 /s"}});
  const RunResult run = sim::run(s);
  CHECK(run.requests[1].scheduled == run.steps[0].end());  // planned when it was seen
  CHECK(run.steps[1].prefill_sequences == 0);              // planned when step 0 began
  CHECK(run.steps[1].decode_sequences == 1);
  CHECK(run.steps[2].decode_sequences == 1);
  CHECK(run.steps[2].prefill_sequences == 1);
  CHECK(run.requests[1].first_token == run.steps[2].end());
}

TEST_CASE("With asynchronous scheduling a place is free one step after its request has finished",
          "[sim][run]") {
  for (const bool async : {false, true}) {
    INFO(async);
    const RunResult run = sim::run(tiny({{"workload.requests", "2"},
                                         {"workload.arrivals.constant.rate", "100000 /s"},
                                         {"engine.max_num_seqs", "1"},
                                         {"engine.async_scheduling", async ? "true" : "false"}}));
    CHECK(run.steps.size() == 10);  // a prefill and 4 decodes each, and none too many
    CHECK(run.requests[0].last_token == run.steps[4].end());
    CHECK(run.requests[1].scheduled == run.steps[4].end());  // alone, nothing else was planned
    CHECK(run.requests[1].first_token == run.steps[5].end());
  }
}

TEST_CASE("Between requests the server is idle", "[sim][run]") {
  const RunResult run =
      sim::run(tiny({{"workload.requests", "2"}, {"workload.arrivals.constant.rate", "1 /s"}}));
  CHECK(run.requests[1].scheduled == core::Instant{2'000'000'000});
  CHECK(run.steps[5].start == core::Instant{2'000'000'000});
}

TEST_CASE(
    "A prompt that leaves no room for an answer is refused, an answer that outgrows the model is "
    "cut",
    "[sim][run]") {
  const RunResult run = sim::run(tiny(
      {{"workload.prompt_tokens", "{uniform: {low: 60, high: 70}}"}, {"workload.requests", "50"}}));
  std::int64_t refused = 0;
  for (const auto& r : run.requests) {
    CHECK((r.status == RequestStatus::refused) == (r.prompt_tokens >= 64));  // max_model_len is 64
    if (r.status != RequestStatus::refused) continue;
    CHECK(r.output_tokens == 0);
    CHECK(r.e2e().count == 0);
    ++refused;
  }
  CHECK(run.notes ==
        std::vector<std::string>{
            std::to_string(refused) +
            " of 50 requests refused: a prompt of engine.max_model_len (64) tokens or more"});
  const RunResult cut = sim::run(tiny({{"workload.prompt_tokens", "62"}}));
  for (const auto& r : cut.requests) {
    CHECK(r.status == RequestStatus::finished);
    CHECK(r.output_tokens == 2);  // 64 - 62 of the 5
    CHECK(r.asked_tokens == 5);
  }
}

TEST_CASE("A run that refuses all its requests is an error", "[sim][run]") {
  CHECK(tests::text_of<core::SimulationError>([] {
          static_cast<void>(sim::run(tiny({{"workload.prompt_tokens", "64"}})));
        }) ==
        "all 10 requests are refused: the shortest prompt has 64 tokens, and engine.max_model_len "
        "= 64 leaves no room for an answer");
}

TEST_CASE("Clients whose requests are refused ask again, until all have been", "[sim][run]") {
  const RunResult run = sim::run(tiny({{"workload.prompt_tokens", "{uniform: {low: 60, high: 70}}"},
                                       {"workload.arrivals", "{closed_loop: {concurrency: 3}}"},
                                       {"workload.requests", "50"}}));
  CHECK(run.requests.size() == 50);
  const sim::Metrics m = sim::measure(run);
  CHECK(m.completed + m.refused == 50);
  CHECK(m.refused > 0);
  CHECK(m.completed > 0);
}

TEST_CASE("Prompts are chunked to the step's budget", "[sim][run]") {
  const RunResult run = sim::run(tiny({{"workload.requests", "1"},
                                       {"workload.prompt_tokens", "50"},
                                       {"engine.max_num_batched_tokens", "20"}}));
  REQUIRE(run.steps.size() == 3 + 4);  // 20 + 20 + 10, then 4 more tokens
  CHECK(run.steps[0].prefill_tokens == 20);
  CHECK(run.steps[0].sampled == 0);
  CHECK(run.steps[1].prefill_context == 40);
  CHECK(run.steps[2].prefill_tokens == 10);
  CHECK(run.steps[2].sampled == 1);
  CHECK(run.requests[0].first_token == run.steps[2].end());
}

TEST_CASE("Counters are the state before the step", "[sim][run]") {
  const RunResult run = sim::run(tiny({{"workload.requests", "1"}}));
  CHECK(run.counters[0] == sim::CounterRecord{0, 1, 0, 0});
  CHECK(run.counters[1] == sim::CounterRecord{1, 0, 3, 0});  // 10 tokens are 3 blocks
  CHECK(run.counters[4] == sim::CounterRecord{1, 0, 4, 0});  // 13
}

TEST_CASE("A run can be stopped, and says what it did until then", "[sim][run]") {
  const sim::Scenario s =
      tiny({{"workload.requests", "1000"}, {"workload.arrivals.constant.rate", "2000 /s"}});
  std::size_t calls = 0;
  sim::RunOptions options;
  options.progress = [&](std::size_t answered, std::size_t in_all, core::Instant now) {
    ++calls;
    return answered <= in_all && in_all == 1000 && now > core::Instant{} && calls < 3;
  };
  const RunResult run = sim::run(s, options);
  CHECK(calls == 3);
  CHECK(run.interrupted);
  const RunResult whole = sim::run(s);
  CHECK_FALSE(whole.interrupted);
  REQUIRE(run.steps.size() < whole.steps.size());
  CHECK(std::equal(run.steps.begin(), run.steps.end(), whole.steps.begin()));
  std::size_t interrupted = 0;
  for (const auto& r : run.requests) {
    if (r.status == RequestStatus::finished) {
      CHECK(r == whole.requests[r.id]);
    } else {
      ++interrupted;
    }
  }
  CHECK(interrupted > 0);
}

TEST_CASE("Whether somebody watches changes nothing", "[sim][run]") {
  sim::RunOptions options;
  options.progress = [](std::size_t, std::size_t, core::Instant) { return true; };
  const sim::Scenario s = tiny({{"workload.requests", "400"}});
  CHECK(tests::same(sim::run(s, options), sim::run(s)));
}

TEST_CASE("A training step is one step without requests", "[sim][run]") {
  const RunResult run = sim::run(tiny({{"workload.training", "{microbatch: 2, sequence: 16}"}}));
  CHECK(run.steps.size() == 1);
  CHECK(run.counters.size() == 1);
  CHECK(run.requests.empty());
  CHECK(run.end().ns > 0);
}

TEST_CASE("What cannot run is told before anything runs", "[sim][run]") {
  CHECK_THROWS_AS(sim::run(tiny({{"hw.hbm.capacity", "100 kB"}})), core::SimulationError);
  CHECK(sim::run(tiny()).requests.size() == 10);
}

TEST_CASE("All copies together answer every request once", "[sim][run]") {
  const std::vector<sim::Override> one{{"workload.requests", "50"},
                                       {"workload.prompt_tokens", "{uniform: {low: 1, high: 50}}"}};
  const auto prompts_of = [](const RunResult& run) {
    std::multiset<std::int64_t> out;
    for (const auto& r : run.requests) out.insert(r.prompt_tokens);
    return out;
  };
  auto three = one;
  three.push_back({"engine.data_parallel_size", "3"});
  const RunResult alone = sim::run_all_copies(tiny(one));
  CHECK(prompts_of(alone) == prompts_of(sim::run(tiny(one))));
  const RunResult all = sim::run_all_copies(tiny(three));
  CHECK(all.requests.size() == 50);
  CHECK(prompts_of(all) == prompts_of(alone));
  CHECK(sim::measure(all).completed == 50);
  SECTION("also when a front end gathers them") {
    three.push_back({"workload.gather", "{interval: 30 ms, at_most: 4}"});
    CHECK(prompts_of(sim::run_all_copies(tiny(three))) == prompts_of(alone));
  }
  SECTION("clients of a closed loop are divided, and each copy's ask for lengths of their own") {
    three.push_back({"workload.arrivals", "{closed_loop: {concurrency: 6}}"});
    const RunResult first = sim::run(tiny(three));
    const RunResult second = sim::run(tiny(three), {.progress = {}, .copy = 1});
    CHECK(first.requests.size() == 17);  // 50 are 17, 17 and 16
    CHECK(sim::run_all_copies(tiny(three)).requests.size() == 50);
    three.push_back({"workload.arrivals", "{closed_loop: {concurrency: 2}}"});
    CHECK(sim::run_all_copies(tiny(three)).requests.size() == 34);  // two clients have two copies
    CHECK(prompts_of(first) != prompts_of(second));
  }
}

TEST_CASE("A gathered request's time to first token counts from when it was sent", "[sim][run]") {
  const std::vector<sim::Override> two{{"workload.requests", "2"},
                                       {"workload.gather", "{interval: 30 ms, at_most: 4}"}};
  const RunResult run = sim::run(tiny(two));  // sent at 10 and 20 ms, handed on at 50
  REQUIRE(run.requests.size() == 2);
  CHECK(run.requests[0].arrival == core::Instant{10'000'000});
  CHECK(run.requests[0].scheduled == core::Instant{50'000'000});
  CHECK(run.requests[0].queue() == core::Nanoseconds{40'000'000});
  CHECK(run.steps[0].start == core::Instant{50'000'000});
  CHECK(run.steps[0].prefill_sequences == 2);
  REQUIRE(run.notes.size() == 1);
  CHECK(
      run.notes[0] ==
      "requests are gathered: the front end hands them on 35 ms after they were sent, on average, "
      "which is part of their queue");
}
