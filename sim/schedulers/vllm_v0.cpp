#include "sim/schedulers/vllm_v0.hpp"

#include <algorithm>

#include "sim/schedulers/vllm.hpp"

namespace ridgeline::sim {
namespace {

class VllmV0 : public VllmScheduler {
 public:
  using VllmScheduler::VllmScheduler;

  void plan(ServerState& state, StepPlan& plan) override {
    plan.clear();
    std::int64_t budget = engine().max_num_batched_tokens;
    if (decodes_to_come_ > 0 && !state.running.empty()) {
      --decodes_to_come_;
      advance_running(state, plan, budget);
      return;
    }
    decodes_to_come_ = 0;
    const bool may_admit = state.running.empty() || enough_free(state.kv);
    if (engine().enable_chunked_prefill) {
      advance_running(state, plan, budget);
      if (may_admit && plan.preempted.empty()) admit_waiting(state, plan, budget);
    } else {
      if (may_admit) admit_waiting(state, plan, budget);
      if (plan.admitted.empty()) advance_running(state, plan, budget);
    }
    const bool only_decodes =
        std::all_of(plan.chunks.begin(), plan.chunks.end(),
                    [](const StepPlan::Chunk& chunk) { return chunk.sequence->decodes(); });
    if (only_decodes) decodes_to_come_ = engine().num_scheduler_steps - 1;
  }

 private:
  [[nodiscard]] bool enough_free(const KvCache& kv) const {
    return static_cast<double>(kv.free_blocks()) >=
           engine().prefill_free_kv * static_cast<double>(kv.blocks());
  }

  std::int64_t decodes_to_come_ = 0;  // of a round that was started together
};

}  // namespace

std::unique_ptr<Scheduler> make_vllm_v0(const EngineSpec& engine) {
  return std::make_unique<VllmV0>(engine);
}

}  // namespace ridgeline::sim
