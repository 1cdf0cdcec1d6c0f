#include "sim/engine_spec.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/fixtures.hpp"

using namespace ridgeline;
using sim::EngineSpec;
using Sizes = std::vector<std::int64_t>;

namespace {

workloads::ModelSpec model() {
  workloads::ModelSpec m;
  m.layers = 6;
  m.heads = 12;
  m.kv_heads = 4;
  m.max_position = 4096;
  m.activations = hw::Dtype::fp16;
  return m;
}

EngineSpec engine(const std::string& yaml) {
  const core::Node node = core::parse_yaml(yaml, "e.yaml");
  const core::Reader in(node, "engine");
  EngineSpec spec = sim::read_engine_spec(in, model());
  in.finish();
  return spec;
}

std::string error(const std::string& yaml) {
  return tests::error_of([&] { static_cast<void>(engine(yaml)); });
}

}  // namespace

TEST_CASE("Defaults are vLLM's for a large GPU", "[sim][engine]") {
  const EngineSpec e = engine("{}");
  CHECK(e.scheduler == "vllm_v1");
  CHECK(e.max_num_seqs == 1024);
  CHECK(e.max_num_batched_tokens == 8192);
  CHECK(e.block_size == 16);
  CHECK(e.gpu_memory_utilization == 0.9);
  CHECK(e.enable_chunked_prefill);
  CHECK_FALSE(e.enforce_eager);
  CHECK(e.async_scheduling);
  CHECK(e.long_prefill_token_threshold == 0);
  CHECK(e.scheduler_reserve_full_isl);
  CHECK(e.watermark == 0.0);
  CHECK_FALSE(e.num_gpu_blocks_override);
  CHECK(e.enable_prefix_caching);
  CHECK(e.parallelism == workloads::Parallelism{1, 1, false});
  CHECK(e.data_parallel_size == 1);
  SECTION("and the model says the rest") {
    CHECK(e.max_model_len == 4096);
    CHECK(e.kv_cache_dtype == hw::Dtype::fp16);
  }
}

TEST_CASE("Defaults of a V0 engine are V0's", "[sim][engine]") {
  const EngineSpec e = engine("{scheduler: vllm_v0}");
  CHECK(e.max_num_seqs == 256);
  CHECK_FALSE(e.enable_chunked_prefill);
  CHECK(e.max_num_batched_tokens == 4096);  // the model's positions: a prompt is computed whole
  CHECK(e.cudagraph_capture_sizes.back() == 256);
  CHECK(e.watermark == 0.01);
  CHECK_FALSE(e.enable_prefix_caching);
  CHECK(e.prefill_free_kv == 0.0);
  SECTION("short contexts keep a budget of 2,048") {
    CHECK(engine("{scheduler: vllm_v0, max_model_len: 512}").max_num_batched_tokens == 2048);
  }
  SECTION("what is written holds") {
    const EngineSpec own = engine(
        "{scheduler: vllm_v0, max_num_seqs: 768, max_num_batched_tokens: 65536, watermark: 0.2, "
        "enable_prefix_caching: true, prefill_free_kv: 31 %}");
    CHECK(own.max_num_seqs == 768);
    CHECK(own.max_num_batched_tokens == 65536);
    CHECK(own.watermark == 0.2);
    CHECK(own.enable_prefix_caching);
    CHECK(own.prefill_free_kv == 0.31);
  }
  CHECK(error("{prefill_free_kv: 31 %}") ==
        "e.yaml:1:19: engine.prefill_free_kv: scheduler vllm_v1 knows nothing of it; set "
        "engine.scheduler=vllm_v0");
  CHECK(error("{num_scheduler_steps: 8}") ==
        "e.yaml:1:23: engine.num_scheduler_steps: scheduler vllm_v1 knows nothing of it; set "
        "engine.scheduler=vllm_v0");
  CHECK(engine("{prefill_free_kv: 0, num_scheduler_steps: 1}").scheduler == "vllm_v1");
}

TEST_CASE("The stack names the scheduler where the engine does not", "[sim][engine]") {
  CHECK(tests::tiny({{"stack.scheduler", "vllm_v0"}}).engine.scheduler == "vllm_v0");
  CHECK(tests::tiny({{"stack.scheduler", "vllm_v0"}, {"engine.scheduler", "vllm_v1"}})
            .engine.scheduler == "vllm_v1");
}

TEST_CASE("Every setting is read", "[sim][engine]") {
  const EngineSpec e = engine(
      "{scheduler: vllm_v1, max_num_seqs: 7, max_num_batched_tokens: 70, max_model_len: 50, "
      "block_size: 32, "
      "gpu_memory_utilization: 80 %, kv_cache_dtype: fp8, enable_chunked_prefill: false, "
      "enforce_eager: true, async_scheduling: false, "
      "long_prefill_token_threshold: 9, scheduler_reserve_full_isl: false, watermark: 0.1, "
      "num_gpu_blocks_override: 33, "
      "cudagraph_capture_sizes: [16, 1, 4], enable_prefix_caching: false, tensor_parallel_size: 4, "
      "pipeline_parallel_size: 3, enable_expert_parallel: true, data_parallel_size: 2}");
  EngineSpec expected;
  expected.max_num_seqs = 7;
  expected.max_num_batched_tokens = 70;
  expected.max_model_len = 50;
  expected.block_size = 32;
  expected.gpu_memory_utilization = 0.8;
  expected.kv_cache_dtype = hw::Dtype::fp8;
  expected.enable_chunked_prefill = false;
  expected.enforce_eager = true;
  expected.async_scheduling = false;
  expected.long_prefill_token_threshold = 9;
  expected.scheduler_reserve_full_isl = false;
  expected.watermark = 0.1;
  expected.num_gpu_blocks_override = 33;
  expected.cudagraph_capture_sizes = {1, 4, 16};  // ascending, as typed or not
  expected.enable_prefix_caching = false;
  expected.parallelism = {4, 3, true};
  expected.data_parallel_size = 2;
  CHECK(e == expected);
}

TEST_CASE("A KV cache dtype of auto is the activations'", "[sim][engine]") {
  CHECK(engine("{kv_cache_dtype: auto}").kv_cache_dtype == hw::Dtype::fp16);
}

TEST_CASE("No more sequences than tokens fit in a step", "[sim][engine]") {
  CHECK(engine("{max_num_batched_tokens: 256}").max_num_seqs == 256);
  CHECK(
      error("{max_num_batched_tokens: 256, max_num_seqs: 300}") ==
      "e.yaml:1:45: engine.max_num_seqs: expected at most max_num_batched_tokens (256), got '300'");
}

TEST_CASE("Captured sizes are 1, 2, 4, then by 8 up to 256, then by 16", "[sim][engine]") {
  const Sizes sizes = engine("{}").cudagraph_capture_sizes;
  CHECK(Sizes(sizes.begin(), sizes.begin() + 6) == Sizes{1, 2, 4, 8, 16, 24});
  CHECK(sizes.back() == 512);  // min(2 x 1024, 512)
  // 1, 2, 4; 8, 16 ... 256: 32 of them; 272, 288 ... 512: 16 of them.
  CHECK(sizes.size() == 3 + 32 + 16);
  const auto at_256 = std::find(sizes.begin(), sizes.end(), 256);
  REQUIRE(at_256 != sizes.end());
  CHECK(*(at_256 - 1) == 248);
  CHECK(*(at_256 + 1) == 272);
}

TEST_CASE("Nothing is captured beyond twice max_num_seqs, nor beyond the token budget",
          "[sim][engine]") {
  CHECK(engine("{max_num_seqs: 1}").cudagraph_capture_sizes == Sizes{1, 2});
  CHECK(engine("{max_num_seqs: 10}").cudagraph_capture_sizes == Sizes{1, 2, 4, 8, 16});
  CHECK(engine("{max_num_batched_tokens: 9}").cudagraph_capture_sizes == Sizes{1, 2, 4, 8});
}

TEST_CASE("A batch is padded to the next captured size, and a larger one is not captured",
          "[sim][engine]") {
  EngineSpec e;
  e.cudagraph_capture_sizes = {1, 2, 4, 8};
  CHECK(e.graph_size_for(1) == 1);
  CHECK(e.graph_size_for(3) == 4);
  CHECK(e.graph_size_for(8) == 8);
  CHECK_FALSE(e.graph_size_for(9));
  e.cudagraph_capture_sizes.clear();
  CHECK_FALSE(e.graph_size_for(1));
}

TEST_CASE("An empty list of sizes captures nothing", "[sim][engine]") {
  CHECK(engine("{cudagraph_capture_sizes: []}").cudagraph_capture_sizes.empty());
}

TEST_CASE("A setting that cannot be is named with its place", "[sim][engine]") {
  CHECK(error("{max_num_seqs: 0}") ==
        "e.yaml:1:16: engine.max_num_seqs: expected a whole number from 1 to 65536, got '0'");
  CHECK(error("{max_num_seqs: 1.5}") ==
        "e.yaml:1:16: engine.max_num_seqs: expected a whole number from 1 to 65536, got '1.5'");
  CHECK(error("{max_model_len: 1}") ==
        "e.yaml:1:17: engine.max_model_len: expected a whole number from 2 to 1073741824, got '1'");
  CHECK(error("{block_size: 0}") ==
        "e.yaml:1:14: engine.block_size: expected a whole number from 1 to 4096, got '0'");
  CHECK(error("{watermark: 0.6}") ==
        "e.yaml:1:13: engine.watermark: expected a fraction between 0 and 0.5, got '0.6'");
  CHECK(error("{gpu_memory_utilization: 0}") ==
        "e.yaml:1:26: engine.gpu_memory_utilization: expected a fraction between 0.01 and 1, got "
        "'0'");
  CHECK(error("{enforce_eager: yes}") ==
        "e.yaml:1:17: engine.enforce_eager: expected true or false, got 'yes'");
  CHECK(error("{num_gpu_blocks_override: 0}") ==
        "e.yaml:1:27: engine.num_gpu_blocks_override: expected a whole number from 1 to 134217728, "
        "got '0'");
  CHECK(error("{cudagraph_capture_sizes: [8, 1.5]}") ==
        "e.yaml:1:27: engine.cudagraph_capture_sizes: expected whole numbers from 1 to 65536, got "
        "'1.5'");
  CHECK(error("{cudagraph_capture_sizes: 8}") ==
        "e.yaml:1:27: engine.cudagraph_capture_sizes: expected a list of whole numbers, got '8'");
}

TEST_CASE("A model is split where it can be split", "[sim][engine]") {
  // 12 heads, 6 layers.
  for (const char* size : {"1", "2", "3", "4", "6", "12"})
    CHECK(error("{tensor_parallel_size: " + std::string(size) + "}").empty());
  CHECK(
      error("{tensor_parallel_size: 8}") ==
      "e.yaml:1:24: engine.tensor_parallel_size: expected a divisor of model.heads (12), got '8'");
  CHECK(error("{tensor_parallel_size: 24}") ==
        "e.yaml:1:24: engine.tensor_parallel_size: expected a divisor of model.heads (12), got "
        "'24'");
  CHECK(error("{tensor_parallel_size: 0}") ==
        "e.yaml:1:24: engine.tensor_parallel_size: expected a whole number from 1 to 1024, got "
        "'0'");
  CHECK(error("{pipeline_parallel_size: 6}").empty());
  CHECK(error("{pipeline_parallel_size: 7}") ==
        "e.yaml:1:26: engine.pipeline_parallel_size: expected at most model.layers (6), got '7'");
  CHECK(error("{pipeline_parallel_size: 1.5}") ==
        "e.yaml:1:26: engine.pipeline_parallel_size: expected a whole number from 1 to 1024, got "
        "'1.5'");
  CHECK(error("{enable_expert_parallel: 8}") ==
        "e.yaml:1:26: engine.enable_expert_parallel: expected true or false, got '8'");
  CHECK(error("{data_parallel_size: 0}") ==
        "e.yaml:1:22: engine.data_parallel_size: expected a whole number from 1 to 1024, got '0'");
  CHECK(error("{tensor_parallel: 2}") ==
        "e.yaml:1:2: engine.tensor_parallel: unknown key; did you mean 'tensor_parallel_size'?");
}

TEST_CASE("An unknown word lists the known ones, or the one that was meant", "[sim][engine]") {
  CHECK(error("{scheduler: lottery}") ==
        "e.yaml:1:13: engine.scheduler: unknown scheduler 'lottery'; known: vllm_v1, vllm_v0");
  CHECK(error("{scheduler: vllm_v2}") ==
        "e.yaml:1:13: engine.scheduler: unknown scheduler 'vllm_v2'; did you mean 'vllm_v1'?");
  CHECK(error("{max_num_sequences: 5}") ==
        "e.yaml:1:2: engine.max_num_sequences: unknown key; did you mean 'max_num_seqs'?");
  CHECK(error("{kv_cache_dtype: fp9}")
            .find("e.yaml:1:18: engine.kv_cache_dtype: expected one of fp64, fp32,") == 0);
}

TEST_CASE("Without chunked prefill a step must hold the longest sequence", "[sim][engine]") {
  CHECK(error("{enable_chunked_prefill: false, max_num_batched_tokens: 100, max_model_len: 101}") ==
        "e.yaml:1:57: engine.max_num_batched_tokens: expected at least max_model_len (101) when "
        "enable_chunked_prefill is false, got "
        "'100'");
  CHECK(engine("{enable_chunked_prefill: false, max_num_batched_tokens: 100, max_model_len: 100}")
            .max_model_len == 100);
}
