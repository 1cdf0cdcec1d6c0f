#pragma once
// What stands in HBM when the server has started, and how many KV blocks are left.

#include "hw/hbm.hpp"
#include "sim/scenario.hpp"

namespace ridgeline::sim {

struct MemoryPlan {
  hw::HbmLedger ledger;       // of what the engine may use: gpu_memory_utilization x capacity
  core::Bytes block_bytes{};  // keys and values of one block in all layers, the draft model's too
  std::int64_t kv_blocks = 0;

  [[nodiscard]] core::Bytes kv_bytes() const {
    return block_bytes * static_cast<double>(kv_blocks);
  }
};

/// As vLLM V1 does it: usable memory less weights, less the peak of a profiling pass of
/// max_num_batched_tokens tokens, cut into blocks, one of which is the null block. SimulationError,
/// naming every line of the ledger, when the model does not fit or one sequence of max_model_len
/// would not.
[[nodiscard]] MemoryPlan plan_memory(const Scenario& scenario);

}  // namespace ridgeline::sim
