#pragma once
// vLLM's first scheduler (vllm/core/scheduler.py, versions 0.4 to 0.8).
//
// Steps are of one kind. As long as waiting prompts fit, whole, into the token budget, the free KV
// blocks and max_num_seqs, they are computed and every decode stands still; otherwise every running
// sequence decodes one token. With num_scheduler_steps the decodes of several steps are started
// together, and who arrives meanwhile waits for the last of them. With chunked prefill a step holds
// decodes and chunks, as V1's. Left out: swapping to the host's memory, delay_factor.

#include <memory>

#include "sim/scheduler.hpp"

namespace ridgeline::sim {

[[nodiscard]] std::unique_ptr<Scheduler> make_vllm_v0(const EngineSpec& engine);

}  // namespace ridgeline::sim
