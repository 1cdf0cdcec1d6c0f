#include "sim/memory_plan.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/fixtures.hpp"

using namespace ridgeline;
using sim::MemoryPlan;
using sim::plan_memory;
using tests::text_of;
using tests::tiny;

namespace {

double bytes_of_line(const MemoryPlan& plan, const std::string& what) {
  for (const auto& line : plan.ledger.lines()) {
    if (line.what == what) return line.bytes.value();
  }
  return 0.0;
}

}  // namespace

TEST_CASE("What weights and activations leave becomes KV blocks, less the null block",
          "[sim][memory]") {
  const MemoryPlan plan = plan_memory(tiny());
  CHECK(bytes_of_line(plan, "weights") == tests::kTinyWeights);
  CHECK(bytes_of_line(plan, "activations") ==
        64 * 1024 + 8 * 1024);  // 64 tokens and the logits of 8 sequences
  CHECK(plan.block_bytes.value() == tests::kTinyBlock);
  // 0.9 x 1,000,000 - 213,632 - 73,728 = 612,640 = 598.3 blocks.
  CHECK(plan.kv_blocks == 598 - 1);
  CHECK(plan.kv_bytes().value() == 597 * tests::kTinyBlock);
  CHECK(bytes_of_line(plan, "KV cache") == 597 * tests::kTinyBlock);
  CHECK(plan.ledger.capacity().value() == Approx(900'000));
  CHECK(plan.ledger.free().value() == Approx(612'640 - 597 * 1024));  // the null block and the rest
}

TEST_CASE("Half the bytes a token are twice the tokens", "[sim][memory]") {
  const MemoryPlan fp8 = plan_memory(tiny({{"engine.kv_cache_dtype", "fp8"}}));
  CHECK(fp8.block_bytes.value() == tests::kTinyBlock / 2);
  CHECK(fp8.kv_blocks == 1196 - 1);  // 612,640 / 512 = 1196.6
}

TEST_CASE("A larger step needs more room for activations", "[sim][memory]") {
  const MemoryPlan plan = plan_memory(tiny({{"engine.max_num_batched_tokens", "128"}}));
  CHECK(plan.kv_blocks == 597 - 64);  // 64 tokens more, 1,024 B each, which is a block
}

TEST_CASE("Materialised attention keeps a score matrix of the largest step", "[sim][memory]") {
  const MemoryPlan plan = plan_memory(tiny({{"stack.lowering.prefill_attention", "materialised"}}));
  CHECK(bytes_of_line(plan, "materialised attention scores") ==
        4 * 64 * 64 * 2);             // heads x q x k x 2 bytes
  CHECK(plan.kv_blocks == 597 - 32);  // 32,768 B
}

TEST_CASE("An override says how many blocks there are", "[sim][memory]") {
  const MemoryPlan plan = plan_memory(tiny({{"engine.num_gpu_blocks_override", "20"}}));
  CHECK(plan.kv_blocks == 20);
  CHECK(plan.kv_bytes().value() == 20 * tests::kTinyBlock);
}

TEST_CASE("An override beyond the memory does not run", "[sim][memory]") {
  CHECK(plan_memory(tiny({{"engine.num_gpu_blocks_override", "597"}})).kv_blocks ==
        597);  // all there are
  CHECK(text_of<core::SimulationError>([] {
          static_cast<void>(plan_memory(tiny({{"engine.num_gpu_blocks_override", "598"}})));
        })
            .starts_with("engine.num_gpu_blocks_override: 598 blocks of 4 tokens take 0.00 GB, "
                         "more than is free: weights"));
}

TEST_CASE("A model larger than the memory does not run, and every line of the account is named",
          "[sim][memory]") {
  // 70,553,706,496 parameters of 2 bytes; 8,192 tokens x 2 x (2 x 8,192 + 3 x 28,672) = 1.68 GB and
  // logits 4 x 1,024 x 128,256 = 0.53 GB.
  const sim::Scenario scenario =
      tests::scenario("chat_8b", {{"hw", "h100"}, {"model", "llama3_70b"}});
  CHECK(text_of<core::SimulationError>([&] { static_cast<void>(plan_memory(scenario)); }) ==
        scenario.model.name + " does not fit on " + scenario.gpu.name +
            ": weights 141.11 GB + activations 2.20 GB + context and graphs 2.00 GB = 145.31 of "
            "72.00 GB at "
            "gpu_memory_utilization 0.9; nothing is left for the KV "
            "cache");
}

TEST_CASE("The smallest memory that works has one block and the null block", "[sim][memory]") {
  // The tiny model with one block of 64 tokens, 16,384 B: (213,632 + 73,728 + 2 x 16,384) / 0.9 =
  // 355,698 B.
  const auto blocks = [](const char* capacity) {
    return plan_memory(tiny({{"hw.hbm.capacity", capacity}, {"engine.block_size", "64"}}))
        .kv_blocks;
  };
  CHECK(blocks("355700 B") == 1);
  CHECK_THROWS_AS(blocks("355690 B"), core::SimulationError);
}

TEST_CASE("A cache too small for one sequence does not run, and the error says what would",
          "[sim][memory]") {
  // 8,030,261,248 parameters of 2 bytes; 8,192 x 2 x (2 x 4,096 + 3 x 14,336) = 0.84 GB and logits
  // 0.53 GB.
  const sim::Scenario scenario =
      tests::scenario("chat_8b", {{"engine.num_gpu_blocks_override", "1000"}});
  CHECK(text_of<core::SimulationError>([&] { static_cast<void>(plan_memory(scenario)); }) ==
        "the KV cache holds 16000 tokens (1000 blocks of 16), fewer than max_model_len = 16384; "
        "weights 16.06 GB + activations 1.36 GB "
        "+ context and graphs 2.00 GB = 19.42 of 185.49 GB; lower engine.max_model_len to at most "
        "16000 or raise "
        "engine.num_gpu_blocks_override");
  CHECK(plan_memory(tests::scenario("chat_8b", {{"engine.num_gpu_blocks_override", "1000"},
                                                {"engine.max_model_len", "16000"}}))
            .kv_blocks == 1000);
}
