#include "sim/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "workloads/lower_inference.hpp"

namespace ridgeline::sim {
namespace {

core::Bytes attention_transient(const Scenario& s) {
  if (s.stack.lowering.prefill_attention == workloads::PrefillAttention::fused)
    return core::Bytes{};
  const double q =
      static_cast<double>(std::min(s.engine.max_num_batched_tokens, s.engine.max_model_len));
  const double k = static_cast<double>(s.engine.max_model_len);
  return hw::bytes_of(s.model.activations) *
         (static_cast<double>(s.model.heads / s.engine.parallelism.tensor) * q * k);
}

/// A pipeline stage caches its own layers only; the fullest stage decides.
core::Bytes kv_bytes_per_token(const Scenario& s) {
  const workloads::Parallelism& p = s.engine.parallelism;
  const core::Bytes all = s.model.kv_bytes_per_token(s.engine.kv_cache_dtype, p.tensor);
  const std::int64_t of_stage = (s.model.layers + p.pipeline - 1) / p.pipeline;
  return all * (static_cast<double>(of_stage) / static_cast<double>(s.model.layers));
}

const workloads::ModelSpec* draft_of(const Scenario& s) {
  const auto& speculation = s.engine.speculative_config;
  return speculation && speculation->draft ? &*speculation->draft : nullptr;
}

}  // namespace

MemoryPlan plan_memory(const Scenario& s) {
  MemoryPlan plan{hw::HbmLedger(s.gpu.hbm.capacity * s.engine.gpu_memory_utilization), {}, 0};
  const workloads::Parallelism& p = s.engine.parallelism;
  plan.ledger.reserve("weights", s.model.weight_bytes_per_gpu(p.tensor, p.pipeline, p.expert()));
  const workloads::ModelSpec* draft = draft_of(s);
  if (draft != nullptr) {
    plan.ledger.reserve("draft model's weights",
                        draft->weight_bytes_per_gpu(p.tensor, p.pipeline, p.expert()));
  }
  // The draft model runs after the model, in the same memory.
  const auto activations = [&](const workloads::ModelSpec& model) {
    return workloads::activation_bytes(model, p, s.engine.max_num_batched_tokens,
                                       s.engine.max_num_seqs * s.engine.tokens_per_decode());
  };
  plan.ledger.reserve("activations", draft != nullptr
                                         ? std::max(activations(s.model), activations(*draft))
                                         : activations(s.model));
  if (s.stack.memory_overhead.value() > 0.0)
    plan.ledger.reserve("context and graphs", s.stack.memory_overhead);
  if (const core::Bytes transient = attention_transient(s); transient.value() > 0.0) {
    plan.ledger.reserve("materialised attention scores", transient);
  }
  core::Bytes token = kv_bytes_per_token(s);
  if (draft != nullptr) token += draft->kv_bytes_per_token(s.engine.kv_cache_dtype, p.tensor);
  plan.block_bytes = token * static_cast<double>(s.engine.block_size);

  const double fit =
      std::floor(plan.ledger.free() / plan.block_bytes) - 1.0;  // less the null block
  if (fit < 1.0) {
    throw core::SimulationError(
        fmt::format("{} does not fit on {}: {} at gpu_memory_utilization {:g}; nothing is left for "
                    "the KV cache",
                    s.model.name, s.gpu.name, plan.ledger.text(), s.engine.gpu_memory_utilization));
  }
  const auto& override = s.engine.num_gpu_blocks_override;
  if (override && static_cast<double>(*override) > fit) {
    throw core::SimulationError(fmt::format(
        "engine.num_gpu_blocks_override: {} blocks of {} tokens take {:.2f} GB, more than is free: "
        "{}",
        *override, s.engine.block_size,
        plan.block_bytes.value() * static_cast<double>(*override) * 1e-9, plan.ledger.text()));
  }
  plan.kv_blocks = override.value_or(static_cast<std::int64_t>(std::min(fit, 1e8)));

  const std::int64_t tokens = plan.kv_blocks * s.engine.block_size;
  if (tokens < s.engine.max_model_len) {
    throw core::SimulationError(fmt::format(
        "the KV cache holds {} tokens ({} blocks of {}), fewer than max_model_len = {}; {}; lower "
        "engine.max_model_len to at most "
        "{} or raise engine.{}",
        tokens, plan.kv_blocks, s.engine.block_size, s.engine.max_model_len, plan.ledger.text(),
        tokens, override ? "num_gpu_blocks_override" : "gpu_memory_utilization"));
  }
  plan.ledger.reserve("KV cache", plan.kv_bytes());
  return plan;
}

}  // namespace ridgeline::sim
