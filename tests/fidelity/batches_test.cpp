#include "fidelity/batches.hpp"

#include <catch2/catch.hpp>

#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::Machines;
using fidelity::parse_table;
using fidelity::Row;
using fidelity::Table;

constexpr const char* kHeader =
    "model,hardware,prompt_size,batch_size,token_size,peak_power,average_power,prompt_time,"
    "token_time,e2e_time,tensor_parallel\n";

Table table_of(const std::string& rows) { return parse_table(kHeader + rows, "t.csv"); }

TEST_CASE("a batch is its prompts in one step, on the GPUs that share the model", "[batches]") {
  const Table table = table_of("llama2-70b,h100-80gb,512,16,128,,,874,33,5082,4\n");
  REQUIRE(fidelity::is_batch_table(table));
  Machines machines(shipped(), std::nullopt);
  const sim::Scenario s = fidelity::batch_of(Row(table, 0), machines, shipped());
  CHECK(s.engine.parallelism.tensor == 4);
  CHECK(s.engine.scheduler == "vllm_v0");
  CHECK_FALSE(s.stack.graphs);
  CHECK(s.engine.max_num_batched_tokens == 16 * 512);
  const auto& generated = std::get<workloads::GeneratedWorkload>(s.workload);
  CHECK(generated.requests == 16);
}

TEST_CASE("prefill and decode step are judged apart, in milliseconds", "[batches]") {
  const auto groups =
      fidelity::validate_batches(table_of("llama2-70b,h100-80gb,512,1,128,,,59.6,29.7,3836,4\n"
                                          "llama2-70b,h100-80gb,512,1,8192,,,60.4,,18404,4\n"
                                          "llama2-70b,abacus,512,1,128,,,60.4,29,18404,4\n"),
                                 shipped());
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].name == "h100-80gb llama2-70b tp4 prefill");
  REQUIRE(groups[0].rows.size() == 2);
  // An answer is cut where only its steps are compared, so both rows are the same server.
  CHECK(groups[0].rows[0].predicted == groups[0].rows[1].predicted);
  CHECK(groups[0].rows[0].ratio() == Approx(1.0).margin(0.5));
  CHECK(groups[1].name == "h100-80gb llama2-70b tp4 decode step");
  CHECK(groups[1].rows.size() == 1);
  CHECK(groups[1].rows[0].ratio() == Approx(1.0).margin(0.5));
  CHECK(groups[2].not_predicted == 1);
  CHECK(groups[2].why_not ==
        "t.csv: row 3: hardware: expected a machine of configs/hw within the text, got 'abacus'");
}

TEST_CASE("a server that cannot run is none of its rows' predictions", "[batches]") {
  // 70 B parameters in 16 bits are 138 GB: one GPU of 80 GB does not hold them.
  const std::string row = "llama2-70b,a100-80gb,512,1,128,,,60,29,18404,1\n";
  const auto groups = fidelity::validate_batches(table_of(row + row), shipped());
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].rows.empty());
  CHECK(groups[0].not_predicted == 2);
}

}  // namespace
}  // namespace ridgeline::tests
