#include "sim/schedulers/vllm_v1.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::sim {
namespace {

class VllmV1 : public Scheduler {
 public:
  explicit VllmV1(const EngineSpec& engine) : engine_(engine) {}

  void plan(ServerState& state, StepPlan& plan) override {
    plan.clear();
    std::int64_t budget = engine_.max_num_batched_tokens;
    advance_running(state, plan, budget);
    if (plan.preempted.empty()) admit_waiting(state, plan, budget);
  }

 private:
  /// At most what may be computed of a sequence in one step.
  [[nodiscard]] std::int64_t cut(std::int64_t tokens) const {
    return engine_.long_prefill_token_threshold > 0
               ? std::min(tokens, engine_.long_prefill_token_threshold)
               : tokens;
  }

  void advance_running(ServerState& state, StepPlan& plan, std::int64_t& budget) {
    for (std::size_t i = 0; i < state.running.size() && budget > 0; ++i) {
      Sequence& sequence = *state.running[i];
      if (sequence.ends_in_flight()) continue;  // keeps its place and its blocks until then
      const std::int64_t n = std::min(cut(sequence.outstanding()), budget);
      if (!make_room(state, plan, sequence, sequence.computed + n))
        return;  // it was itself the last one
      plan.chunks.push_back({&sequence, n});
      budget -= n;
    }
  }

  /// Takes the blocks for `tokens` tokens, preempting from the back of the running list. False when
  /// `sequence` itself had to go.
  bool make_room(ServerState& state, StepPlan& plan, Sequence& sequence,
                 std::int64_t tokens) const {
    while (!state.kv.grow(sequence.blocks, tokens)) {
      Sequence* victim = state.running.back();
      state.running.pop_back();
      // The token in flight stands in no block yet.
      const std::int64_t full = (victim->computed - victim->in_flight) / state.kv.block_size();
      if (engine_.enable_prefix_caching) {
        state.kv.release_preempted(victim->request.id, victim->blocks, full);
      } else {
        state.kv.release(victim->blocks);
      }
      victim->computed = 0;
      state.waiting.push_front(victim);
      plan.preempted.push_back(victim);
      if (victim == &sequence) return false;
    }
    return true;
  }

  void admit_waiting(ServerState& state, StepPlan& plan, std::int64_t& budget) {
    while (!state.waiting.empty() && budget > 0 &&
           static_cast<std::int64_t>(state.running.size()) < engine_.max_num_seqs) {
      Sequence& sequence = *state.waiting.front();
      const std::int64_t found = blocks_found(state, sequence);
      const std::int64_t computed = found * state.kv.block_size();
      const std::int64_t wanted = cut(sequence.known() - computed);
      const std::int64_t n = std::min(wanted, budget);
      if (!engine_.enable_chunked_prefill && n < wanted) return;
      if (engine_.scheduler_reserve_full_isl && !whole_sequence_fits(state, sequence)) return;
      if (state.kv.blocks_for(computed + n) > state.kv.free_blocks()) return;
      state.kv.take_back(sequence.request.id, sequence.blocks, found);
      sequence.computed = computed;
      if (!state.kv.grow(sequence.blocks, computed + n)) return;  // never: there is room
      state.waiting.pop_front();
      state.running.push_back(&sequence);
      plan.admitted.push_back(&sequence);
      plan.chunks.push_back({&sequence, n});
      budget -= n;
    }
  }

  /// Blocks of its own that a preempted sequence finds again. Its last token is computed in any
  /// case, since the next one comes out of it.
  static std::int64_t blocks_found(const ServerState& state, const Sequence& sequence) {
    return std::min(state.kv.left_by(sequence.request.id),
                    (sequence.known() - 1) / state.kv.block_size());
  }

  [[nodiscard]] bool whole_sequence_fits(const ServerState& state, const Sequence& sequence) const {
    const auto kept = static_cast<std::int64_t>(
        std::ceil(engine_.watermark * static_cast<double>(state.kv.blocks())));
    const std::int64_t reserve = state.running.empty() ? 0 : kept;
    return state.kv.blocks_for(sequence.known()) + reserve <= state.kv.free_blocks();
  }

  EngineSpec engine_;
};

}  // namespace

std::unique_ptr<Scheduler> make_vllm_v1(const EngineSpec& engine) {
  return std::make_unique<VllmV1>(engine);
}

}  // namespace ridgeline::sim
