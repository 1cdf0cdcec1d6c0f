#include "sim/schedulers/vllm_v1.hpp"

#include "sim/schedulers/vllm.hpp"

namespace ridgeline::sim {
namespace {

class VllmV1 : public VllmScheduler {
 public:
  using VllmScheduler::VllmScheduler;

  void plan(ServerState& state, StepPlan& plan) override {
    plan.clear();
    std::int64_t budget = engine().max_num_batched_tokens;
    advance_running(state, plan, budget);
    if (plan.preempted.empty()) admit_waiting(state, plan, budget);
  }
};

}  // namespace

std::unique_ptr<Scheduler> make_vllm_v1(const EngineSpec& engine) {
  return std::make_unique<VllmV1>(engine);
}

}  // namespace ridgeline::sim
