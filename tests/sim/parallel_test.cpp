// A model on several GPUs: what each holds, that they talk, and that the talk is accounted for.

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "sim/memory_plan.hpp"
#include "sim/run.hpp"
#include "sim/run_timeline.hpp"
#include "tests/sim/fixtures.hpp"
#include "tests/sim/same.hpp"

using namespace ridgeline;
using hw::Cause;
using sim::Override;
using sim::RequestRecord;
using sim::RunResult;
using sim::Scenario;

namespace {

/// Llama 70B in fp8 on so many MI300X, 40 requests.
Scenario llama_70b(const std::string& gpus, const std::vector<Override>& more = {}) {
  std::vector<Override> overrides{{"model", "{base: llama3_70b, quantization: fp8}"},
                                  {"engine.tensor_parallel_size", gpus},
                                  {"workload.requests", "40"}};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return tests::scenario("chat_8b", overrides);
}

std::string error(const std::vector<Override>& overrides) {
  return tests::error_of([&] { static_cast<void>(tests::scenario("chat_8b", overrides)); });
}

/// Time in collectives, as a profiler sees it.
class Collectives : public timeline::SpanVisitor {
 public:
  void on_kernel(const timeline::KernelSpan& kernel) override {
    if (kernel.role == "attention_reduce" || kernel.role == "ffn_reduce") ++reduces;
    if (kernel.role.find("reduce") != std::string_view::npos ||
        kernel.role.find("gather") != std::string_view::npos)
      time += kernel.duration;
  }
  core::Nanoseconds time{};
  std::int64_t reduces = 0;
};

void require_conserved(const RunResult& run) {
  for (const RequestRecord& r : run.requests) {
    INFO("request " << r.id);
    CHECK(r.status == sim::RequestStatus::finished);
    CHECK(r.queue() + r.preempted + r.until_first_token.total() + r.after_first_token.total() ==
          r.e2e());
    CHECK(r.until_first_token[Cause::communication].count > 0);
  }
}

}  // namespace

TEST_CASE("70B in fp8 on eight GPUs runs, talks in every step, and loses no nanosecond",
          "[sim][parallel]") {
  const Scenario scenario = llama_70b("8");
  const RunResult run = sim::run(scenario);
  require_conserved(run);
  core::Nanoseconds communication{};
  // What one GPU reads of its eighth in a step: all matrices of its 80 layers, a byte an element,
  // and its part of the head, two bytes an element.
  const double layers =
      80.0 * (2.0 * 8192.0 * 8192.0 + 2.0 * 8192.0 * 1024.0 + 3.0 * 8192.0 * 28672.0);
  const double floor = layers / 8.0 / scenario.gpu.hbm.bandwidth.value();
  for (const sim::StepRecord& step : run.steps) {
    REQUIRE(step.ledger[Cause::communication].count > 0);
    REQUIRE(step.ledger.total() == step.duration());
    REQUIRE(step.duration().seconds().value() >= floor);
    communication += step.ledger[Cause::communication];
  }
  Collectives seen;
  sim::RunTimeline(run).visit({}, seen);
  CHECK(seen.time == communication);
  CHECK(seen.reduces == 2 * 80 * static_cast<std::int64_t>(run.steps.size()));
  CHECK(tests::same(run, sim::run(scenario)));
}

TEST_CASE("Each of eight GPUs holds its part and has room for more sequences", "[sim][parallel]") {
  const Scenario scenario = llama_70b("8");
  const sim::MemoryPlan plan = sim::plan_memory(scenario);
  REQUIRE(plan.ledger.lines().front().what == "weights");
  CHECK(plan.ledger.lines().front().bytes == scenario.model.weight_bytes_per_gpu(8, 1, 1));
  // One of 8 KV heads: 80 layers x 2 x 128 x 2 B = 40,960 B a token, blocks of 16.
  CHECK(plan.block_bytes.value() == 16.0 * 40'960.0);
  const sim::MemoryPlan alone = sim::plan_memory(llama_70b("1"));
  CHECK(alone.block_bytes.value() == 8.0 * 16.0 * 40'960.0);
  CHECK(plan.kv_blocks > 8 * alone.kv_blocks);
}

TEST_CASE("More GPUs make a lone sequence faster, though less than they are more",
          "[sim][parallel]") {
  double before = 0.0;
  for (const char* gpus : {"1", "2", "4", "8"}) {
    const RunResult run =
        sim::run(llama_70b(gpus, {{"workload.requests", "1"}, {"workload.output_tokens", "50"}}));
    const double seconds = run.requests.front().e2e().seconds().value();
    INFO(gpus << " GPUs: " << seconds << " s");
    if (before > 0.0) {
      CHECK(seconds < before);
      CHECK(seconds > before / 2.0);
    }
    before = seconds;
  }
}

TEST_CASE("Mixtures of experts, latent attention and windows run on eight GPUs and add up",
          "[sim][parallel]") {
  for (const char* model : {"deepseek_v3", "gpt_oss_120b", "mixtral_8x7b", "qwen3_235b_a22b"}) {
    for (const char* experts : {"false", "true"}) {
      std::vector<Override> overrides{{"model", model},
                                      {"engine.tensor_parallel_size", "8"},
                                      {"engine.enable_expert_parallel", experts},
                                      {"workload.requests", "10"}};
      // 4 KV heads for 8 GPUs: each has a copy of one.
      INFO(model << ", whole experts " << experts);
      const RunResult run = sim::run(tests::scenario("chat_8b", overrides));
      require_conserved(run);
    }
  }
}

TEST_CASE("Stages of a pipeline hand over, and each caches its own layers", "[sim][parallel]") {
  const RunResult run = sim::run(llama_70b("2", {{"engine.pipeline_parallel_size", "4"}}));
  require_conserved(run);
  // 80 layers in 4 stages of 20, 4 of 8 KV heads: 20 x 2 x 4 x 128 x 2 B a token.
  CHECK(run.memory.block_bytes.value() == 16.0 * 40'960.0);
}

TEST_CASE("More GPUs than a node has are refused, and libraries that it lacks", "[sim][parallel]") {
  CHECK(error({{"model", "llama3_70b"}, {"engine.tensor_parallel_size", "16"}}) ==
        "--set engine.tensor_parallel_size=16: engine.tensor_parallel_size: expected at most "
        "hw.interconnect.gpus (8), got '16'");
  CHECK(error({{"hw", "gb10"}, {"engine.tensor_parallel_size", "2"}}) ==
        "--set engine.tensor_parallel_size=2: engine.tensor_parallel_size: expected at most "
        "hw.interconnect.gpus (1, no interconnect given), got '2'");
  CHECK(error({{"hw", "gb10"}, {"engine.pipeline_parallel_size", "2"}}) ==
        "--set engine.pipeline_parallel_size=2: engine.pipeline_parallel_size: expected at most "
        "hw.interconnect.gpus (1, no interconnect given), got '2'");
  CHECK(error({{"engine.tensor_parallel_size", "6"}}) ==
        "--set engine.tensor_parallel_size=6: engine.tensor_parallel_size: expected a divisor of "
        "model.heads (32), got '6'");
  CHECK(error({{"stack.lowering.collectives", "mpi"}, {"engine.tensor_parallel_size", "8"}}) ==
        "--set engine.tensor_parallel_size=8: engine.tensor_parallel_size: the stack's GPUs "
        "exchange data through 'mpi'; hw.interconnect.libraries of AMD Instinct MI300X has rccl, "
        "rccl_azure, quick, custom; set stack.lowering.collectives=rccl");
}
