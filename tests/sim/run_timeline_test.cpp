// A run seen as a profiler would: every nanosecond of its steps accounted for.

#include "sim/run_timeline.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "tests/sim/fixtures.hpp"

using namespace ridgeline;
using core::Instant;
using core::Nanoseconds;
using sim::RunResult;
using sim::RunTimeline;

namespace {

struct Kernel {
  std::int64_t step = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::string name;
  std::string role;
  std::int64_t correlation = 0;
  bool from_graph = false;
  double issued = 0.0;
  double hbm = 0.0;
  bool operator==(const Kernel&) const = default;
};
struct Call {
  std::int64_t step = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::string name;
  std::int64_t correlation = 0;
  bool operator==(const Call&) const = default;
};
struct Step {
  std::int64_t index = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t tokens = 0;
  std::int64_t kv_used = 0;  // in 1e-9 of the blocks
  std::vector<Kernel> kernels;
  std::vector<Call> calls;
  bool operator==(const Step&) const = default;
};

class Recorder : public timeline::SpanVisitor {
 public:
  void on_step(const timeline::StepSpan& s) override {
    steps.push_back(
        {s.index, s.start.ns, s.duration.count, s.decode_sequences + s.prefill_tokens, -1, {}, {}});
  }
  void on_kernel(const timeline::KernelSpan& k) override {
    steps.back().kernels.push_back({k.step, k.start.ns, k.duration.count, std::string(k.name),
                                    std::string(k.role), k.correlation, k.from_graph,
                                    k.issued.value(), (k.hbm_read + k.hbm_written).value()});
  }
  void on_runtime(const timeline::RuntimeSpan& r) override {
    steps.back().calls.push_back(
        {r.step, r.start.ns, r.duration.count, std::string(r.name), r.correlation});
  }
  void on_counters(const timeline::CounterSample& c) override {
    steps.back().kv_used = static_cast<std::int64_t>(c.kv_usage * 1e9 + 0.5);
  }
  std::vector<Step> steps;
};

std::vector<Step> spans(const RunTimeline& timeline, timeline::Window window = {}) {
  Recorder recorder;
  timeline.visit(window, recorder);
  return recorder.steps;
}

/// Runs of every kind: launches eager and in graphs, hosts beside and between, prompts in chunks,
/// preemptions, training.
std::vector<sim::Scenario> scenarios() {
  const std::vector<sim::Override> busy{{"engine.num_gpu_blocks_override", "16"},
                                        {"workload.arrivals.constant.rate", "5000 /s"},
                                        {"workload.output_tokens", "{uniform: {low: 1, high: 30}}"},
                                        {"engine.max_num_batched_tokens", "24"}};
  std::vector<sim::Scenario> out;
  for (const char* eager : {"true", "false"}) {
    for (const char* async : {"true", "false"}) {
      std::vector<sim::Override> overrides = busy;
      overrides.push_back({"engine.enforce_eager", eager});
      overrides.push_back({"engine.async_scheduling", async});
      out.push_back(tests::tiny(overrides));
    }
  }
  out.push_back(tests::tiny({{"stack.launch.queue_depth", "2"}, {"engine.enforce_eager", "true"}}));
  out.push_back(tests::tiny({{"workload.training", "{microbatch: 2, sequence: 16}"}}));
  out.push_back(
      tests::scenario("chat_8b", {{"workload.requests", "3"}, {"workload.output_tokens", "4"}}));
  out.push_back(tests::scenario("chat_8b", {{"workload.requests", "3"},
                                            {"workload.output_tokens", "4"},
                                            {"stack", "pytorch_eager"},
                                            {"engine.async_scheduling", "false"}}));
  out.push_back(tests::scenario("chat_8b", {{"workload.requests", "3"},
                                            {"workload.output_tokens", "4"},
                                            {"model", "gpt_oss_20b"},
                                            {"engine.tensor_parallel_size", "4"}}));
  for (const char* draft : {"ngram", "llama3_1b"}) {
    out.push_back(tests::scenario(
        "chat_8b", {{"workload.requests", "4"},
                    {"workload.output_tokens", "20"},
                    {"workload.shared_prefix", "{groups: 1, tokens: 100}"},
                    {"engine.speculative_config", "{model: " + std::string(draft) +
                                                      ", num_speculative_tokens: 3, acceptance: "
                                                      "0.6}"}}));
  }
  return out;
}

std::int64_t count_of(const hw::Ledger& ledger, hw::Cause cause) { return ledger[cause].count; }

}  // namespace

TEST_CASE("The kernels of a step lie inside it, one after the other, and make up its ledger",
          "[sim][timeline]") {
  for (const sim::Scenario& scenario : scenarios()) {
    const RunResult run = sim::run(scenario);
    const std::vector<Step> steps = spans(RunTimeline(run));
    REQUIRE(steps.size() == run.steps.size());
    std::int64_t outside = 0;
    std::int64_t overlapping = 0;
    std::int64_t unequal = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      const hw::Ledger& ledger = run.steps[i].ledger;
      std::int64_t at = step.start;
      std::int64_t busy = 0;
      std::int64_t gaps = 0;
      // The device's gap before the first kernel is a wait for its launch, from where the host
      // begins to issue.
      std::int64_t from = step.calls.front().start;
      for (const Kernel& k : step.kernels) {
        if (k.start < at) ++overlapping;
        at = k.start + k.duration;
        busy += k.duration;
        gaps += k.start - from;
        from = at;
      }
      if (step.kernels.front().start < step.start || at > step.start + step.duration) ++outside;
      const bool equal =
          step.start == run.steps[i].start.ns && step.duration == ledger.total().count &&
          busy == ledger.busy().count &&
          gaps == count_of(ledger, hw::Cause::dispatch) + count_of(ledger, hw::Cause::launch) &&
          step.duration - busy - gaps == count_of(ledger, hw::Cause::host);
      if (!equal) ++unequal;
    }
    INFO(scenario.name << ", " << scenario.stack.name << ", " << steps.size() << " steps");
    CHECK(outside == 0);
    CHECK(overlapping == 0);
    CHECK(unequal == 0);
  }
}

TEST_CASE(
    "Every kernel has the call that launched it, which was made before, and calls do not overlap",
    "[sim][timeline]") {
  for (const sim::Scenario& scenario : scenarios()) {
    const RunResult run = sim::run(scenario);
    std::int64_t orphans = 0;
    std::int64_t early = 0;
    std::int64_t overlapping = 0;
    std::int64_t last_correlation = 0;
    for (const Step& step : spans(RunTimeline(run))) {
      const bool graph = step.kernels.front().from_graph;
      if (step.calls.size() != (graph ? 1 : step.kernels.size())) ++orphans;
      for (std::size_t k = 0; k < step.kernels.size(); ++k) {
        const Call& call = step.calls[graph ? 0 : k];
        if (step.kernels[k].correlation != call.correlation || step.kernels[k].from_graph != graph)
          ++orphans;
        if (step.kernels[k].start < call.start + call.duration) ++early;
      }
      for (std::size_t c = 0; c < step.calls.size(); ++c) {
        if (c > 0 && step.calls[c].start < step.calls[c - 1].start + step.calls[c - 1].duration)
          ++overlapping;
        if (step.calls[c].start < step.start ||
            step.calls[c].start + step.calls[c].duration > step.start + step.duration)
          ++early;
        if (step.calls[c].correlation <= last_correlation) ++orphans;
        last_correlation = step.calls[c].correlation;
      }
    }
    INFO(scenario.stack.name);
    CHECK(orphans == 0);
    CHECK(early == 0);
    CHECK(overlapping == 0);
  }
}

TEST_CASE("Decode steps come from graphs, others and eager engines launch each kernel",
          "[sim][timeline]") {
  const RunResult graph = sim::run(tests::tiny());
  for (const Step& step : spans(RunTimeline(graph))) {
    const bool decode = graph.steps[static_cast<std::size_t>(step.index)].prefill_sequences == 0;
    CHECK(step.kernels.front().from_graph == decode);
    CHECK(step.calls.front().name == (decode ? "hipGraphLaunch" : "hipLaunchKernel"));
  }
  const RunResult eager = sim::run(tests::tiny({{"engine.enforce_eager", "true"}}));
  for (const Step& step : spans(RunTimeline(eager))) CHECK_FALSE(step.kernels.front().from_graph);
}

TEST_CASE("Looking twice shows the same", "[sim][timeline]") {
  for (const sim::Scenario& scenario : scenarios()) {
    const RunResult run = sim::run(scenario);
    const RunTimeline timeline(run);
    CHECK(spans(timeline) == spans(timeline));
  }
}

TEST_CASE("A window shows the same part of the whole: the steps that start in it",
          "[sim][timeline]") {
  for (const sim::Scenario& scenario : scenarios()) {
    const RunResult run = sim::run(scenario);
    const RunTimeline timeline(run);
    const std::vector<Step> all = spans(timeline);
    const auto part = [&](timeline::Window window) {
      std::vector<Step> out;
      for (const Step& step : all) {
        if (window.holds({step.start})) out.push_back(step);
      }
      return out;
    };
    const std::int64_t end = run.end().ns;
    const std::vector<timeline::Window> windows{{{0}, {end / 2}},
                                                {{end / 3}, {end / 3 * 2}},
                                                {{end}, core::kNever},
                                                {{end / 2}, {end / 2}},
                                                {{all.back().start}, core::kNever},
                                                {{all.front().start}, {all.front().start + 1}}};
    for (const auto& window : windows) {
      INFO(window.begin.ns << " to " << window.end.ns);
      CHECK(spans(timeline, window) == part(window));
    }
  }
}

TEST_CASE("A sample of steps shows just those", "[sim][timeline]") {
  const RunResult run = sim::run(tests::tiny());
  const std::vector<Step> all = spans(RunTimeline(run));
  const RunTimeline sample(run, {1, 4, 7});
  CHECK(spans(sample) == std::vector<Step>{all[1], all[4], all[7]});
  CHECK(sample.extent().begin == run.steps[1].start);
  CHECK(sample.extent().end == run.steps[7].end());
  CHECK(spans(sample, {run.steps[2].start, run.steps[7].start}) == std::vector<Step>{all[4]});
}

TEST_CASE("A timeline reaches from the first step to the end of the last", "[sim][timeline]") {
  const RunResult run = sim::run(tests::tiny());
  CHECK(RunTimeline(run).extent().begin ==
        Instant{10'000'000});  // the first request arrives after 1 / 100 s
  CHECK(RunTimeline(run).extent().end == run.end());
  RunResult nothing;  // stopped before its first step
  nothing.scenario = run.scenario;
  CHECK(RunTimeline(nothing).extent().begin == RunTimeline(nothing).extent().end);
  CHECK(spans(RunTimeline(nothing)).empty());
}

TEST_CASE("The device is the scenario's", "[sim][timeline]") {
  const RunResult run = sim::run(tests::scenario("chat_8b", {{"workload.requests", "1"}}));
  const timeline::DeviceInfo device = RunTimeline(run).device();
  CHECK(device.name == "AMD Instinct MI300X");
  CHECK(device.architecture == "gfx942");
  CHECK(device.compute_units == 304);
  CHECK(device.memory == core::Bytes{206.1e9});
}

TEST_CASE("A step's counters say how full the cache was", "[sim][timeline]") {
  const RunResult run =
      sim::run(tests::tiny({{"engine.num_gpu_blocks_override", "16"}, {"workload.requests", "1"}}));
  const std::vector<Step> steps = spans(RunTimeline(run));
  CHECK(steps[0].kv_used == 0);
  CHECK(steps[1].kv_used == 187'500'000);  // 3 blocks of 16
  CHECK(steps[0].tokens == 10);
  CHECK(steps[1].tokens == 1);
}
