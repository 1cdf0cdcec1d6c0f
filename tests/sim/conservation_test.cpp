// Over many random servers: nothing is lost, nothing is counted twice, and a run is the same
// whenever and wherever it is run.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "core/random.hpp"
#include "sim/run_directory.hpp"
#include "tests/sim/fixtures.hpp"
#include "tests/sim/same.hpp"

using namespace ridgeline;
using sim::Override;
using sim::RequestRecord;
using sim::RequestStatus;
using sim::RunResult;
using sim::Scenario;

namespace {

constexpr int kScenarios = 200;

/// Settings of the n-th random server.
class Draw {
 public:
  explicit Draw(int n) : random_(static_cast<std::uint64_t>(n), "conservation") {}
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return random_.uniform_int(next_++, low, high);
  }
  bool chance(double p) { return random_.uniform(next_++) < p; }
  std::string text(std::int64_t low, std::int64_t high) { return std::to_string(whole(low, high)); }
  std::string truth(double p) { return chance(p) ? "true" : "false"; }

 private:
  core::RandomStream random_;
  std::uint64_t next_ = 0;
};

/// A trace with pauses, bursts and ties.
std::filesystem::path write_trace(const tests::TemporaryFolder& folder, Draw& draw) {
  std::string csv = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  std::int64_t us = 0;
  for (int i = 0; i < 60; ++i) {
    us += draw.chance(0.4) ? 0 : draw.chance(0.1) ? draw.whole(0, 200'000) : draw.whole(0, 2'000);
    std::string fraction = std::to_string(us % 1'000'000);
    fraction.insert(0, 6 - fraction.size(), '0');
    csv += "2023-11-16 00:00:0" + std::to_string(us / 1'000'000) + "." + fraction + "," +
           draw.text(1, 70) + "," + draw.text(1, 40) + "\n";
  }
  return folder.write("trace.csv", csv);
}

Scenario random_scenario(int n, const tests::TemporaryFolder& folder) {
  Draw draw(n);
  std::vector<Override> o;
  o.push_back({"seed", std::to_string(n)});
  o.push_back({"engine.enforce_eager", draw.truth(0.5)});
  o.push_back({"engine.async_scheduling", draw.truth(0.5)});
  o.push_back({"engine.scheduler_reserve_full_isl", draw.truth(0.6)});
  o.push_back({"engine.num_gpu_blocks_override",
               draw.chance(0.7) ? draw.text(16, 40) : "500"});  // 16 blocks of 4: one sequence
  o.push_back({"engine.max_num_seqs", draw.text(1, 16)});
  const bool chunked = draw.chance(0.8);
  o.push_back({"engine.enable_chunked_prefill", chunked ? "true" : "false"});
  o.push_back({"engine.max_num_batched_tokens", chunked ? draw.text(16, 128) : draw.text(64, 128)});
  if (chunked && draw.chance(0.3))
    o.push_back({"engine.long_prefill_token_threshold", draw.text(1, 32)});
  if (draw.chance(0.3)) o.push_back({"engine.watermark", "0.1"});
  if (draw.chance(0.2)) o.push_back({"stack.launch.queue_depth", "4"});
  if (draw.chance(0.3)) {  // several small GPUs instead of one
    o.push_back(
        {"hw.interconnect",
         "{topology: full_mesh, gpus: 4, rate: 100 MB/s, libraries: {rccl: {fixed: 3 us}}}"});
    o.push_back({"engine.tensor_parallel_size", draw.chance(0.5) ? "2" : "4"});
    o.push_back({"engine.pipeline_parallel_size", draw.chance(0.7) ? "1" : "2"});
  }
  if (draw.chance(0.25)) {
    o.push_back({"workload.trace", write_trace(folder, draw).string()});
    return tests::tiny(o);
  }
  o.push_back({"workload.requests", draw.text(1, 80)});
  o.push_back({"workload.prompt_tokens",
               "{uniform: {low: 1, high: " + draw.text(1, 70) + "}}"});  // 64 and more are refused
  o.push_back({"workload.output_tokens", "{uniform: {low: 1, high: " + draw.text(1, 60) + "}}"});
  const std::string rate = draw.text(50, 5000);
  switch (draw.whole(0, 2)) {
    case 0:
      o.push_back({"workload.arrivals",
                   "{closed_loop: {concurrency: " + draw.text(1, 20) + ", think_time: " +
                       (draw.chance(0.5) ? "0 s" : draw.text(1, 3000) + " us") + "}}"});
      break;
    case 1:
      o.push_back({"workload.arrivals", "{gamma: {rate: " + rate + " /s, cv: 4}}"});
      break;
    default:
      o.push_back({"workload.arrivals", "{poisson: {rate: " + rate + " /s}}"});
  }
  return tests::tiny(o);
}

std::int64_t sampled(const RunResult& run) {
  std::int64_t sum = 0;
  for (const auto& step : run.steps) sum += step.sampled;
  return sum;
}

/// Sentences about a request that do not hold of it.
std::string complaints(const RequestRecord& r, std::size_t index, std::int64_t max_model_len) {
  std::string out;
  const auto holds = [&out](bool claim, const char* sentence) {
    if (!claim) out += std::string(sentence) + "; ";
  };
  const std::int64_t until = r.until_first_token.total().count;
  const std::int64_t after = r.after_first_token.total().count;
  holds(r.id == index, "requests stand by id");
  holds(r.status != RequestStatus::interrupted, "every request is answered or refused");
  holds((r.status == RequestStatus::refused) == (r.prompt_tokens >= max_model_len),
        "refused are those whose prompt leaves no room");
  const std::int64_t due = r.status == RequestStatus::refused
                               ? 0
                               : std::min(r.asked_tokens, max_model_len - r.prompt_tokens);
  holds(r.output_tokens == due, "it got what it asked for, cut at max_model_len");
  holds(r.arrival <= r.scheduled && r.scheduled <= r.first_token && r.first_token <= r.last_token,
        "its instants are in order");
  holds(r.queue().count + r.preempted.count + until + after == r.e2e().count,
        "queue, preemptions and ledgers are its time");
  holds(r.queue().count + until <= r.ttft().count &&
            r.ttft().count <= r.queue().count + until + r.preempted.count,
        "its time to first token is queue, ledger and preemptions before");
  holds(r.preemptions > 0 || (r.preempted.count == 0 && r.queue().count + until == r.ttft().count),
        "without preemption that is all");
  holds(r.output_tokens != 1 || after == 0, "a single token has nothing after it");
  for (const auto* ledger : {&r.until_first_token, &r.after_first_token}) {
    for (const auto part : ledger->by_cause)
      holds(part.count >= 0, "no part of a ledger is negative");
  }
  return out;
}

}  // namespace

TEST_CASE("Every request is accounted for, to the token and to the nanosecond",
          "[sim][conservation]") {
  const tests::TemporaryFolder folder;
  int with_preemptions = 0;
  int with_refusals = 0;
  for (int n = 0; n < kScenarios; ++n) {
    const Scenario scenario = random_scenario(n, folder);
    const RunResult run = sim::run(scenario);
    INFO("scenario " << n << "\n" << core::to_yaml(scenario.document));
    const auto* generated = std::get_if<workloads::GeneratedWorkload>(&scenario.workload);
    CHECK(static_cast<std::int64_t>(run.requests.size()) ==
          (generated != nullptr ? generated->requests : 60));
    std::int64_t outputs = 0;
    std::int64_t gaps = 0;
    std::int64_t decodes = 0;
    std::int64_t prompts = 0;
    std::int64_t preemptions = 0;
    std::int64_t between = 0;
    bool refusals = false;
    for (std::size_t i = 0; i < run.requests.size(); ++i) {
      const RequestRecord& r = run.requests[i];
      CHECK(complaints(r, i, scenario.engine.max_model_len) == "");
      preemptions += r.preemptions;
      outputs += r.output_tokens;
      refusals = refusals || r.status == RequestStatus::refused;
      if (r.status != RequestStatus::finished) continue;
      gaps += r.output_tokens - 1;
      decodes += r.output_tokens - 1;
      prompts += r.prompt_tokens;
      between += (r.last_token - r.first_token).count;
    }
    CHECK(sampled(run) == outputs);
    CHECK(run.preemptions == preemptions);
    std::int64_t counted = 0;
    std::int64_t gap_time = 0;
    for (const auto& gap : run.token_gaps) {
      counted += static_cast<std::int64_t>(gap.count);
      gap_time += gap.gap.count * static_cast<std::int64_t>(gap.count);
    }
    CHECK(counted == gaps);
    CHECK(gap_time ==
          between);  // all gaps of a request are the time from its first token to its last
    std::int64_t prefilled = 0;
    std::int64_t decoded = 0;
    for (const auto& step : run.steps) {
      prefilled += step.prefill_tokens;
      decoded += step.decode_sequences;
    }
    // Every token but a request's last is computed once; after a preemption, again.
    CHECK(prefilled + decoded >= prompts + decodes);
    if (preemptions == 0) {
      CHECK(prefilled == prompts);
      CHECK(decoded == decodes);
    }
    with_preemptions += preemptions > 0 ? 1 : 0;
    with_refusals += refusals ? 1 : 0;
  }
  CHECK(with_preemptions >= 10);  // the random servers are tight enough to show something
  CHECK(with_refusals >= 3);
}

TEST_CASE("Steps follow one another, and the server rests only when nobody waits",
          "[sim][conservation]") {
  const tests::TemporaryFolder folder;
  for (int n = 0; n < kScenarios; ++n) {
    const Scenario scenario = random_scenario(n, folder);
    const RunResult run = sim::run(scenario);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      const auto& step = run.steps[i];
      const auto& counters = run.counters[i];
      const core::Instant before = i == 0 ? core::Instant{} : run.steps[i - 1].end();
      if (step.duration().count <= 0 || step.start < before) ++wrong;
      if (step.decode_sequences + step.prefill_tokens > scenario.engine.max_num_batched_tokens)
        ++wrong;
      if (step.decode_sequences + step.prefill_sequences > scenario.engine.max_num_seqs) ++wrong;
      if (counters.kv_blocks_used > run.memory.kv_blocks ||
          counters.running > scenario.engine.max_num_seqs)
        ++wrong;
      if (counters.running + counters.waiting == 0) ++wrong;
      if (step.start == before || i == 0) continue;
      // After a rest: every earlier request is done, and one arrives just now.
      const bool arrives =
          std::any_of(run.requests.begin(), run.requests.end(), [&](const RequestRecord& r) {
            return r.scheduled == step.start && r.arrival == step.start;
          });
      const bool unfinished =
          std::any_of(run.requests.begin(), run.requests.end(), [&](const RequestRecord& r) {
            return r.arrival < step.start && r.last_token > step.start;
          });
      if (!arrives || unfinished || counters.kv_blocks_used != 0) ++wrong;
    }
    INFO("scenario " << n);
    CHECK(wrong == 0);
    CHECK(run.steps.size() == run.counters.size());
  }
}

TEST_CASE("Who has arrived when a step begins, and is not done, runs or waits",
          "[sim][conservation]") {
  const tests::TemporaryFolder folder;
  for (int n = 0; n < kScenarios; ++n) {
    const RunResult run = sim::run(random_scenario(n, folder));
    std::int64_t unseen = 0;
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      const core::Instant start = run.steps[i].start;
      const auto here =
          std::count_if(run.requests.begin(), run.requests.end(), [&](const RequestRecord& r) {
            return r.status == RequestStatus::finished && r.arrival <= start &&
                   r.last_token > start;
          });
      if (here != run.counters[i].running + run.counters[i].waiting) ++unseen;
    }
    INFO("scenario " << n);
    CHECK(unseen == 0);
  }
}

TEST_CASE("Who came first is worked on first", "[sim][conservation]") {
  const tests::TemporaryFolder folder;
  for (int n = 0; n < kScenarios; ++n) {
    const RunResult run = sim::run(random_scenario(n, folder));
    std::int64_t overtaken = 0;
    core::Instant last;
    for (const RequestRecord& r : run.requests) {
      if (r.status != RequestStatus::finished) continue;
      if (r.scheduled < last) ++overtaken;
      last = std::max(last, r.scheduled);
    }
    INFO("scenario " << n);
    CHECK(overtaken == 0);
  }
}

TEST_CASE("A run repeats bit for bit, whatever ran before it", "[sim][conservation]") {
  const tests::TemporaryFolder folder;
  const Scenario other = tests::scenario("chat_8b", {{"workload.requests", "5"}});
  for (int n = 0; n < kScenarios; ++n) {
    const Scenario scenario = random_scenario(n, folder);
    const RunResult first = sim::run(scenario);
    const RunResult second = sim::run(scenario);
    static_cast<void>(sim::run(n % 2 == 0 ? other : random_scenario(n + 1000, folder)));
    const RunResult third = sim::run(random_scenario(n, folder));
    INFO("scenario " << n);
    CHECK(tests::same(first, second));
    CHECK(tests::same(first, third));
  }
}

TEST_CASE("A run is the same in another process", "[sim][conservation]") {
  const char* program = std::getenv("RIDGELINE");
  if (program == nullptr || *program == '\0') {
    std::cout << "skipped: RIDGELINE does not name the program\n";
    return;
  }
  const tests::TemporaryFolder folder;
  const std::filesystem::path configs = std::filesystem::path(RIDGELINE_SOURCE_DIR) / "configs";
  for (int n = 0; n < 5; ++n) {
    const Scenario scenario = random_scenario(n, folder);
    const std::filesystem::path file =
        folder.write("scenario.yaml", core::to_yaml(scenario.document));
    for (const char* name : {"a", "b"}) {
      const std::string command = "RIDGELINE_CONFIGS='" + configs.string() + "' '" + program +
                                  "' run '" + file.string() + "' --quiet --out '" +
                                  (folder.path() / name).string() + "' >/dev/null";
      REQUIRE(std::system(command.c_str()) == 0);
    }
    sim::write_run_directory(sim::run(scenario), folder.path() / "here");
    for (const char* part : {"steps.bin", "requests.csv", "result.json", "scenario.yaml"}) {
      INFO(n << " " << part);
      const std::string here = core::read_text_file(folder.path() / "here" / part);
      CHECK(core::read_text_file(folder.path() / "a" / part) == here);
      CHECK(core::read_text_file(folder.path() / "b" / part) == here);
    }
  }
}
