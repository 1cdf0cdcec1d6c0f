#pragma once
// The serving engine's settings, by vLLM's argument names.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "hw/dtype.hpp"
#include "sim/speculation.hpp"
#include "workloads/model_spec.hpp"
#include "workloads/parallelism.hpp"
#include "workloads/stack_spec.hpp"

namespace ridgeline::sim {

struct EngineSpec {
  std::string scheduler = "vllm_v1";
  std::int64_t max_num_seqs = 1024;
  std::int64_t max_num_batched_tokens = 8192;
  std::int64_t max_model_len = 0;  // resolved: never 0 once read
  std::int64_t block_size = 16;
  double gpu_memory_utilization = 0.9;
  workloads::Parallelism parallelism;   // tensor_parallel_size and its kin
  std::int64_t data_parallel_size = 1;  // equal copies of all this; one is simulated, with its
                                        // share of the requests
  hw::Dtype kv_cache_dtype = hw::Dtype::bf16;
  bool enable_chunked_prefill = true;
  bool enforce_eager = false;
  std::int64_t num_scheduler_steps = 1;  // V0: decode steps that the host starts at once
  bool async_scheduling = true;
  bool enable_prefix_caching = true;
  std::int64_t long_prefill_token_threshold = 0;  // 0: off
  bool scheduler_reserve_full_isl = true;
  double watermark =
      0.0;  // fraction of KV blocks kept free when a request is admitted beside running ones
  double prefill_free_kv = 0.0;  // V0: prompts wait while less than this fraction of the KV blocks
                                 // is free (VLLM_SCHED_PREFILL_KVC_FREEPCT of AMD's builds)
  std::optional<std::int64_t> num_gpu_blocks_override;
  std::vector<std::int64_t> cudagraph_capture_sizes;  // ascending
  std::optional<SpeculativeConfig> speculative_config;

  bool operator==(const EngineSpec&) const = default;

  /// The captured size that a step of `tokens` is padded up to; nothing when none is large enough.
  [[nodiscard]] std::optional<std::int64_t> graph_size_for(std::int64_t tokens) const;
  /// Tokens that a decode step computes of each sequence: its last one, and the drafts after it.
  [[nodiscard]] std::int64_t tokens_per_decode() const {
    return speculative_config ? 1 + speculative_config->num_speculative_tokens : 1;
  }
  /// KV slots that a draft model fills ahead of the tokens of a step.
  [[nodiscard]] std::int64_t lookahead_tokens() const {
    return speculative_config && speculative_config->draft
               ? speculative_config->num_speculative_tokens
               : 0;
  }
};

/// Where the settings do not say, `scheduler` and `async_scheduling` are the stack's, and most others
/// the scheduler's (PolicyDefaults).
[[nodiscard]] EngineSpec read_engine_spec(const core::Reader& in, const workloads::ModelSpec& model,
                                          const workloads::StackSpec& stack = {});

}  // namespace ridgeline::sim
