#include "whatif/interventions.hpp"

#include <catch2/catch.hpp>

#include "diagnosis/fixes/table.hpp"
#include "sim/metrics.hpp"
#include "sim/run.hpp"
#include "tests/sim/fixtures.hpp"

using namespace ridgeline;

namespace {

sim::Scenario server(const std::vector<sim::Override>& changes) {
  std::vector<sim::Override> overrides{{"workload.requests", "32"},
                                       {"workload.arrivals", "{closed_loop: {concurrency: 16}}"},
                                       {"workload.prompt_tokens", "500"},
                                       {"workload.output_tokens", "60"}};
  overrides.insert(overrides.end(), changes.begin(), changes.end());
  return sim::load_scenario("chat_8b", overrides, tests::shipped());
}

std::optional<sim::Scenario> after(const char* fix, const sim::Scenario& scenario) {
  return whatif::changed_by(whatif::intervention(fix), scenario, tests::shipped());
}

double seconds(const sim::Scenario& scenario) {
  return sim::measure(sim::run(scenario)).duration_seconds;
}

}  // namespace

TEST_CASE("There is an intervention for every fix, in the order of the diagnosis' table",
          "[whatif][interventions]") {
  std::vector<std::string> names;
  for (const whatif::Intervention& i : whatif::interventions()) {
    names.emplace_back(i.fix);
    CHECK_FALSE(i.how.empty());
  }
  CHECK(names == diagnosis::fix_names());
  CHECK_THROWS_AS(whatif::intervention("prayer"), core::InvariantError);
}

TEST_CASE("A fix undoes just the fault that it is for", "[whatif][interventions]") {
  const sim::Scenario healthy = server({});
  const auto undoes = [&](const char* fix, const std::vector<sim::Override>& fault) {
    INFO(fix);
    const auto fixed = after(fix, server(fault));
    REQUIRE(fixed);
    CHECK(fixed->stack == healthy.stack);
    CHECK(fixed->engine == healthy.engine);
    CHECK_FALSE(after(fix, healthy));  // there is nothing to change
  };
  undoes("graph_capture", {{"engine.enforce_eager", "true"}});
  undoes("finer_graph_sizes", {{"engine.cudagraph_capture_sizes", "[1, 512]"}});
  undoes("asynchronous_host", {{"engine.async_scheduling", "false"}});
  undoes("fused_attention", {{"stack.lowering.prefill_attention", "materialised"}});
  undoes("remove_casts", {{"stack.lowering.norm_casts", "true"}});
  undoes("kv_split", {{"stack.lowering.kv_split", "false"}});
  undoes("gemm_tuning",
         {{"stack.efficiency.tuned_gemms", "false"}, {"stack.efficiency.compute.gemm", "0.5"}});
  undoes("compile_fusion",
         {{"stack.lowering.fused_add_norm", "false"}, {"stack.lowering.norm_casts", "true"}});
}

TEST_CASE("Fewer bits change the model, once", "[whatif][interventions]") {
  const sim::Scenario wide = server({});
  const auto narrow = after("weight_quantization_4bit", wide);
  REQUIRE(narrow);
  CHECK(narrow->model.weights == hw::Dtype::int4);
  CHECK(narrow->model.math == hw::Dtype::bf16);
  CHECK_FALSE(after("weight_quantization_4bit", *narrow));
  const auto bytes = after("weight_quantization_8bit", wide);
  REQUIRE(bytes);
  CHECK((bytes->model.weights == hw::Dtype::int8 && bytes->model.math == hw::Dtype::bf16));
  // A model whose formats are given apart keeps giving them so.
  const auto apart = after("fp8_w8a8", server({{"model.math", "bf16"}}));
  REQUIRE(apart);
  CHECK((apart->model.weights == hw::Dtype::fp8 && apart->model.math == hw::Dtype::fp8));
  CHECK(after("fp8_kv_cache", wide)->engine.kv_cache_dtype == hw::Dtype::fp8);
}

TEST_CASE("More of what a server has", "[whatif][interventions]") {
  const sim::Scenario one = server({});
  CHECK(after("more_tensor_parallelism", one)->engine.parallelism.tensor == 2);
  CHECK_FALSE(after("less_tensor_parallelism", one));
  CHECK_FALSE(after("faster_links", one));
  const sim::Scenario two = *after("more_tensor_parallelism", one);
  const auto copies = after("less_tensor_parallelism", two);
  CHECK((copies->engine.parallelism.tensor == 1 && copies->engine.data_parallel_size == 2));
  CHECK(after("faster_links", two)->gpu.node.rate.value() == 2.0 * two.gpu.node.rate.value());

  const sim::Scenario cramped =
      server({{"engine.num_gpu_blocks_override", "200"}, {"engine.max_model_len", "1024"}});
  const auto roomy = after("more_kv_memory", cramped);
  CHECK(sim::plan_memory(*roomy).kv_blocks > 100 * 200);
  CHECK_FALSE(after("more_kv_memory", *roomy));

  const auto* workload = std::get_if<workloads::GeneratedWorkload>(&one.workload);
  const auto larger = after("larger_batch", one);
  const auto* more = std::get_if<workloads::GeneratedWorkload>(&larger->workload);
  CHECK(more->requests == 2 * workload->requests);
  CHECK_FALSE(after("larger_batch", server({{"workload.arrivals.closed_loop.concurrency", "1"}})));
  const auto busy = after("more_load", server({{"workload.arrivals", "{poisson: {rate: 3 /s}}"}}));
  CHECK(*workloads::rate_of(std::get<workloads::GeneratedWorkload>(busy->workload).arrivals) ==
        6.0);
}

TEST_CASE("Kernels half of the way to their floor make a server faster, not twice as fast",
          "[whatif][interventions]") {
  const sim::Scenario now = server({});
  const double gain = seconds(now) / seconds(*after("faster_kernels", now));
  CHECK(gain > 1.1);
  CHECK(gain < 2.0);
}

TEST_CASE("Prefixes are cached where prompts begin alike and nobody caches them",
          "[whatif][interventions]") {
  const sim::Override alike{"workload.shared_prefix", "{groups: 2, tokens: 400}"};
  const sim::Override off{"engine.enable_prefix_caching", "false"};
  CHECK_FALSE(after("prefix_cache", server({})));
  CHECK_FALSE(after("prefix_cache", server({alike})));
  CHECK_FALSE(after("prefix_cache", server({off})));
  const sim::Scenario now = server({alike, off});
  const auto cached = after("prefix_cache", now);
  REQUIRE(cached);
  CHECK(seconds(*cached) < seconds(now));
}

TEST_CASE("Speculation drafts with one layer of the model, then with more drafts or fewer",
          "[whatif][interventions]") {
  for (const char* model : {"llama3_8b", "mixtral_8x7b", "deepseek_v3", "gpt2", "gemma2_9b"}) {
    INFO(model);
    const auto drafts = after("speculative_decoding", server({{"model", model},
                                                              {"engine.tensor_parallel_size", "4"},
                                                              {"engine.max_model_len", "1024"}}));
    REQUIRE(drafts);
    CHECK(drafts->engine.speculative_config->draft->layers == 1);
  }
  const sim::Scenario now = server({{"workload.arrivals.closed_loop.concurrency", "1"}});
  const auto drafts = after("speculative_decoding", now);
  // (1 - 0.7^5) / 0.3 = 2.77 tokens a step, less what drafts cost.
  const double gain = seconds(now) / seconds(*drafts);
  CHECK(gain > 1.3);
  CHECK(gain < 2.77);
  CHECK_FALSE(after("speculative_decoding", *drafts));
  CHECK(after("shorter_drafts", *drafts)->engine.speculative_config->num_speculative_tokens == 2);
  CHECK(after("longer_drafts", *drafts)->engine.speculative_config->num_speculative_tokens == 8);
  CHECK_FALSE(after("shorter_drafts", now));
  CHECK_FALSE(after("longer_drafts", now));
}

TEST_CASE("What no scenario can express says why", "[whatif][interventions]") {
  for (const char* fix :
       {"disaggregated_prefill", "faster_device", "weights_on_device", "prepared_requests"}) {
    CHECK(whatif::intervention(fix).overrides == nullptr);
    CHECK_FALSE(after(fix, server({})));
  }
}
