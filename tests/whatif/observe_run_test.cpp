#include <catch2/catch.hpp>

#include "diagnosis/model_facts.hpp"
#include "sim/run_directory.hpp"
#include "tests/sim/fixtures.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/told_evidence.hpp"

using namespace ridgeline;
using diagnosis::Arrivals;
using diagnosis::Evidence;
using whatif::StepChoice;

namespace {

Evidence observe(const sim::RunResult& run) {
  return whatif::observe_run(run, sim::measure(run), whatif::telling_part(run));
}

sim::RunResult chat(const std::vector<sim::Override>& more = {}) {
  std::vector<sim::Override> overrides{{"workload.requests", "200"}};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return sim::run(tests::scenario("chat_8b", overrides));
}

}  // namespace

TEST_CASE("Evidence of a chat service has what a profiler, its clients and its set-up would tell",
          "[whatif][observe]") {
  const sim::RunResult run = chat();
  const sim::Metrics m = sim::measure(run);
  const Evidence e = observe(run);
  CHECK(e.title == "chat_8b");
  REQUIRE(e.machine.hbm_bandwidth);
  CHECK(e.machine.hbm_bandwidth->best == 5.3e12);
  REQUIRE(e.model.parameters);
  CHECK(e.model.parameters->best == 8030261248.0);
  CHECK(e.model.weight_bytes->best == 2 * 8030261248.0);
  CHECK(e.model.kv_cache_dtype == hw::Dtype::bf16);
  CHECK(e.serving.arrivals == Arrivals::open);
  REQUIRE(e.serving.prompt_tokens);
  REQUIRE(e.measured.itl);
  CHECK(e.measured.itl->best == m.itl.mean);
  CHECK(e.measured.throughput_per_sequence->best == Approx(1.0 / m.itl.mean));
  CHECK(e.measured.ttft->best == m.ttft.p50);
  // All its tokens over the time from its first step to the end of its last.
  CHECK(e.measured.throughput->best ==
        Approx(static_cast<double>(m.output_tokens) /
               (run.end() - run.steps.front().start).seconds().value()));
  REQUIRE(e.profile.hbm_fraction);
  CHECK(e.profile.hbm_fraction->best > 0.0);
  CHECK(e.profile.hbm_fraction->best < 1.0);
  REQUIRE(e.profile.idle_fraction);
  CHECK(e.profile.idle_fraction->best >= 0.0);
  CHECK(e.profile.idle_fraction->best < 1.0);
}

TEST_CASE("Of a model on four GPUs the ceiling is that of four, and nothing beats it",
          "[whatif][observe]") {
  // Where every step is alike, so that a mean step is every step.
  const sim::RunResult run = chat({{"workload.arrivals", "{closed_loop: {concurrency: 8}}"},
                                   {"workload.output_tokens", "200"},
                                   {"engine.tensor_parallel_size", "4"}});
  const Evidence e = observe(run);
  REQUIRE(e.machine.devices);
  CHECK(e.machine.devices->best == 4.0);
  CHECK_FALSE(observe(chat()).machine.devices);  // one GPU needs no number
  REQUIRE(e.measured.step_time);
  // The weights at the bandwidth of four.
  CHECK(e.measured.step_time->best > e.model.weight_bytes->best / (4.0 * 5.3e12));
  CHECK(e.profile.kernel_time.at(diagnosis::KernelGroup::collective).best > 0.0);
  CHECK(e.profile.hbm_fraction->best < 1.0);
}

TEST_CASE("How requests meet is read from the workload", "[whatif][observe]") {
  CHECK(
      observe(chat({{"workload.arrivals", "{closed_loop: {concurrency: 1}}"}})).serving.arrivals ==
      Arrivals::one_at_a_time);
  CHECK(
      observe(chat({{"workload.arrivals", "{closed_loop: {concurrency: 8}}"}})).serving.arrivals ==
      Arrivals::saturated);
  CHECK(observe(chat()).serving.arrivals == Arrivals::open);
  const Evidence training =
      observe(sim::run(tests::tiny({{"workload.training", "{microbatch: 2, sequence: 16}"}})));
  CHECK_FALSE(training.serving.arrivals);
  CHECK(training.serving.microbatch->best == 2.0);
  CHECK(training.serving.sequence_tokens->best == 16.0);
  CHECK_FALSE(training.measured.ttft);
}

TEST_CASE("The telling part is pure decode where that took most of the time", "[whatif][observe]") {
  CHECK(whatif::telling_part(chat({{"workload.arrivals", "{closed_loop: {concurrency: 1}}"}}))
            .steps == StepChoice::decode);
  CHECK(whatif::telling_part(chat({{"workload.output_tokens", "1"}})).steps == StepChoice::all);
  const sim::RunResult nothing;
  CHECK(whatif::telling_part(nothing).steps == StepChoice::all);
}

TEST_CASE("Proposals are passed on; no timeline shows those", "[whatif][observe]") {
  const sim::RunResult run = chat();
  const Evidence e = whatif::observe_run(run, sim::measure(run), {}, {"fp8_w8a8"});
  CHECK(e.proposals == std::vector<std::string>{"fp8_w8a8"});
}

TEST_CASE("A run without a step of the chosen kind cannot be diagnosed, and says so",
          "[whatif][observe]") {
  const sim::RunResult run = chat(
      {{"workload.output_tokens", "1"}, {"workload.arrivals", "{closed_loop: {concurrency: 1}}"}});
  CHECK(tests::text_of<core::SimulationError>([&] {
          static_cast<void>(
              whatif::observe_run(run, sim::measure(run), {.steps = StepChoice::decode}));
        }) ==
        "the run has no step of the kind that was asked for, so there is nothing to diagnose");
}

TEST_CASE("A run read back from its directory is diagnosed as the run itself",
          "[whatif][observe]") {
  const tests::TemporaryFolder folder;
  const sim::RunResult run = chat();
  sim::write_run_directory(run, folder.path() / "run");
  const Evidence now = observe(run);
  const Evidence later = observe(sim::read_run_directory(folder.path() / "run", tests::shipped()));
  CHECK(later.measured.ttft->best == now.measured.ttft->best);
  CHECK(later.measured.throughput->best == now.measured.throughput->best);
  CHECK(later.profile.hbm_fraction->best == now.profile.hbm_fraction->best);
  REQUIRE(now.measured.itl);
  REQUIRE(later.measured.itl);
  CHECK(later.measured.itl->best == Approx(now.measured.itl->best));
}

TEST_CASE("The facts of a model hold the KV cache of a token, latent or not", "[whatif][observe]") {
  for (const std::string& name : tests::shipped().names("models")) {
    const workloads::ModelSpec model =
        tests::scenario("chat_8b", {{"model", name}, {"engine.max_model_len", "1024"}}).model;
    const diagnosis::Model m = diagnosis::model_facts(model, hw::Dtype::fp8);
    INFO(name);
    CHECK(2.0 * m.layers->best * m.kv_heads->best * m.head_dim->best ==
          Approx(model.kv_bytes_per_token(hw::Dtype::fp8).value()));  // a byte each
  }
}

TEST_CASE("Typed evidence may name any shipped machine and model", "[whatif][observe]") {
  const tests::TemporaryFolder folder;
  for (const std::string& model : tests::shipped().names("models")) {
    const auto file = folder.write(
        "e.yaml", "machine: mi300x\nmodel: " + model + "\nmeasured: {throughput: 100 /s}\n");
    const Evidence e = whatif::load_evidence_file(file, tests::shipped());
    INFO(model);
    REQUIRE(e.model.parameters);
    CHECK(e.model.parameters->best > 1e8);
  }
}

TEST_CASE("A request that is queued for an instant is not seen waiting", "[whatif][observe]") {
  const auto waiting = [](const char* arrivals) {
    return observe(chat({{"workload.arrivals", arrivals}})).serving.waiting->best;
  };
  CHECK(waiting("{poisson: {rate: 0.05 /s}}") == 0.0);
  CHECK(waiting("{poisson: {rate: 200 /s}}") == 0.0);  // admitted as they come
  const Evidence queued = observe(chat(
      {{"workload.arrivals", "{closed_loop: {concurrency: 64}}"}, {"engine.max_num_seqs", "16"}}));
  CHECK(queued.serving.waiting->best == 48.0);  // 64 clients, 16 of them served
}

TEST_CASE("Quantized activations are held against the rate of their own dtype",
          "[whatif][observe]") {
  const std::vector<sim::Override> prompts{{"workload.arrivals", "{closed_loop: {concurrency: 1}}"},
                                           {"workload.requests", "4"},
                                           {"workload.prompt_tokens", "8000"},
                                           {"workload.output_tokens", "1"}};
  auto fp8 = prompts;
  fp8.emplace_back("model.quantization", "fp8");
  auto awq = prompts;
  awq.emplace_back("model.quantization", "awq");
  const Evidence a = observe(chat(fp8));
  CHECK(a.model.activation_dtype == hw::Dtype::fp8);
  CHECK(a.profile.flop_fraction->best < 0.6);  // of fp8's peak, which is twice bf16's
  CHECK(observe(chat(awq)).model.activation_dtype == hw::Dtype::bf16);
}
