#include "fidelity/serving.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "tests/fidelity/fixtures.hpp"

namespace {

using namespace ridgeline;            // NOLINT: a test of these
using namespace ridgeline::fidelity;  // NOLINT
using ridgeline::tests::shipped;

constexpr const char* kHeader =
    "hw,n_gpu,model,weights,kv_dtype,tp,dp,input_len,output_len,load_kind,load_value,num_prompts,"
    "max_num_seqs,framework,version,mode_notes,date,metric,value,unit\n";

/// One request of 128 tokens in and 8 out on one MI300X, unless the text says otherwise.
std::string run_of(const std::string& framework, const std::string& version,
                   const std::string& metric, const std::string& value, const std::string& unit) {
  return "MI300X,1,Llama-3.1-8B,bf16,,1,,128,8,batch,1,,," + framework + "," + version + ",,," +
         metric + "," + value + "," + unit + "\n";
}

std::string stack_of(const std::string& framework, const std::string& version) {
  const Table table =
      parse_table(kHeader + run_of(framework, version, "e2e_latency", "1", "s"), "t.csv");
  return scenario_of(Row(table, 0), shipped()).stack.name;
}

std::string stack_named(const std::string& file) {
  sim::Scenario s = sim::load_scenario("chat_8b", {{"stack", file}}, shipped());
  return s.stack.name;
}

TEST_CASE("the stack follows from the engine and its version", "[serving]") {
  CHECK(stack_of("vLLM", "0.6.3.dev109") == stack_named("vllm_v0_2024"));
  CHECK(stack_of("vLLM", "vLLM 0.8.3 (April 10 release)") == stack_named("vllm_v0"));
  CHECK(stack_of("vLLM", "rocm6.3.1_vllm0.8.3") == stack_named("vllm_v0"));
  CHECK(stack_of("vLLM", "0.10.1 (20250909)") == stack_named("vllm_v1_2025"));
  CHECK(stack_of("vLLM", "0.19.0") == stack_named("vllm_v1"));
  CHECK(stack_of("SGLang", "0.5.13") == stack_named("sglang"));
  CHECK(stack_of("TGI", "3.1") == stack_named("tgi"));
  CHECK_THROWS_WITH(stack_of("llama.cpp", "b4000"),
                    Catch::Contains("t.csv: row 1: framework: expected vLLM, SGLang or TGI"));
}

TEST_CASE("a load that a scenario is named after has its lengths and its engine", "[serving]") {
  const Table table =
      parse_table(std::string(kHeader) +
                      "MI300X,8,llama2-70b-99.9,fp8,fp8,1,8,OpenOrca,dataset,MLPerf "
                      "Server,80,1,,vLLM,MLPerf v4.1,,,tokens_per_s,21028,tok/s\n",
                  "t.csv");
  const sim::Scenario s = scenario_of(Row(table, 0), shipped());
  CHECK(s.stack.name == stack_named("vllm_v0_mlperf"));
  CHECK(s.engine.max_num_seqs == 1024);
  CHECK(s.engine.gpu_memory_utilization == 0.97);
  CHECK(s.engine.data_parallel_size == 8);
  CHECK(s.engine.scheduler == "vllm_v0");
  // Ten minutes of 80 /s are 48,000: two passes over 24,576 samples.
  const auto& generated = std::get<workloads::GeneratedWorkload>(s.workload);
  CHECK(generated.requests == 49'152);
  CHECK(workloads::rate_of(generated.arrivals) == 80.0);
  CHECK(generated.gather == workloads::Gather{{300'000'000}, 96});
}

TEST_CASE("an offline run of MLPerf is whole passes, and a system's name says how many GPUs",
          "[serving]") {
  const Table table =
      parse_table(std::string(kHeader) +
                      "MI300X,,llama2-70b-99,fp8,,,,OpenOrca,dataset,MLPerf "
                      "Offline,80,52800,,vLLM,MLPerf v4.1,Dell closed XE9680_MI300X_192GBx8,,"
                      "samples_per_s,77.2,samples/s\n"
                      "MI300X,,llama2-70b-99,fp8,,,,OpenOrca,dataset,MLPerf "
                      "Offline,80,52800,,vLLM,MLPerf v4.1,one box of them,,"
                      "samples_per_s,77.2,samples/s\n",
                  "t.csv");
  const sim::Scenario s = scenario_of(Row(table, 0), shipped());
  CHECK(s.engine.data_parallel_size == 8);
  // 52,800 are more than two passes over 24,576 samples.
  const auto& generated = std::get<workloads::GeneratedWorkload>(s.workload);
  CHECK(generated.requests == 73'728);
  CHECK(std::get<workloads::ClosedLoop>(generated.arrivals).concurrency == 73'728);
  CHECK_THROWS_WITH(scenario_of(Row(table, 1), shipped()),
                    Catch::Contains("t.csv: row 2: n_gpu: expected a whole number of at least 1"));
}

TEST_CASE("a time is compared in the unit that its row says", "[serving]") {
  const std::string rows = run_of("vLLM", "0.19.0", "ttft_mean", "0.05", "s") +
                           run_of("vLLM", "0.19.0", "ttft_mean", "50", "ms") +
                           run_of("vLLM", "0.19.0", "ttft_mean", "50000", "us") +
                           run_of("vLLM", "0.19.0", "ttft_mean", "50", "") +
                           run_of("vLLM", "0.19.0", "ttft_mean", "50", "weeks");
  const auto groups = validate_serving(parse_table(kHeader + rows, "t.csv"), shipped());
  REQUIRE(groups.size() == 1);
  REQUIRE(groups[0].rows.size() == 4);
  for (const Compared& row : groups[0].rows)
    CHECK(row.ratio() == Approx(groups[0].rows[0].ratio()).epsilon(1e-9));
  CHECK(groups[0].not_predicted == 1);
  CHECK(groups[0].why_not == "t.csv: row 5: unit: expected s, ms or us for a time, got 'weeks'");
}

}  // namespace
