#include "sim/schedulers/vllm.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace ridgeline::sim {
namespace {

/// Blocks of its prompt that are now full can be found by others.
void call_blocks(ServerState& state, Sequence& sequence, std::int64_t tokens) {
  if (sequence.unnamed == 0) return;
  const std::int64_t before = sequence.named();
  const std::int64_t full = std::min(before + sequence.unnamed, tokens / state.kv.block_size());
  if (full <= before) return;
  state.kv.call(
      std::span(sequence.names)
          .subspan(static_cast<std::size_t>(before), static_cast<std::size_t>(full - before)));
  sequence.hold_by_name(full);
}

/// At most the blocks that a sequence may find: its last token is computed in any case, since the
/// next one comes out of it.
std::int64_t most_found(const ServerState& state, const Sequence& sequence) {
  return (sequence.known() - 1) / state.kv.block_size();
}

/// Blocks of its prompt that stand in the cache, whoever computed them.
KvCache::Found names_found(const ServerState& state, const Sequence& sequence) {
  if (sequence.names.empty()) return {};
  const auto most =
      std::min(static_cast<std::int64_t>(sequence.names.size()), most_found(state, sequence));
  return state.kv.find(std::span(sequence.names).first(static_cast<std::size_t>(most)));
}

/// Blocks behind those that a preempted sequence left itself.
std::int64_t blocks_left(const ServerState& state, const Sequence& sequence, std::int64_t shared) {
  if (shared < static_cast<std::int64_t>(sequence.names.size())) return 0;
  return std::min(state.kv.left_by(sequence.request.id), most_found(state, sequence) - shared);
}

}  // namespace

/// At most what may be computed of a sequence in one step.
std::int64_t VllmScheduler::cut(std::int64_t tokens) const {
  return engine_.long_prefill_token_threshold > 0
             ? std::min(tokens, engine_.long_prefill_token_threshold)
             : tokens;
}

/// The KV slots that a sequence needs when `n` more tokens are computed of it: as if all its drafts
/// in flight were right, and with what the draft model writes ahead.
std::int64_t VllmScheduler::slots_for(const Sequence& sequence, std::int64_t n) const {
  const std::int64_t slots = sequence.computed + n;
  if (tokens_per_decode_ == 1) return slots;
  return std::min(slots + sequence.rejected_in_flight + lookahead_, engine_.max_model_len);
}

void VllmScheduler::advance_running(ServerState& state, StepPlan& plan,
                                    std::int64_t& budget) const {
  for (std::size_t i = 0; i < state.running.size() && budget > 0; ++i) {
    Sequence& sequence = *state.running[i];
    if (sequence.ends_in_flight()) continue;  // keeps its place and its blocks until then
    std::int64_t n = std::min(cut(sequence.outstanding()), budget);
    if (tokens_per_decode_ > 1 && sequence.decodes()) {
      if (tokens_per_decode_ > budget) {  // drafts and all, or not at all
        budget = 0;                       // and nobody is admitted in its place
        return;
      }
      n = tokens_per_decode_;
    }
    if (!make_room(state, plan, sequence, slots_for(sequence, n)))
      return;  // it was itself the last one
    call_blocks(state, sequence, sequence.computed + n);
    plan.chunks.push_back({&sequence, n});
    budget -= n;
  }
}

/// Takes the blocks for `tokens` tokens, preempting from the back of the running list. False when
/// `sequence` itself had to go.
bool VllmScheduler::make_room(ServerState& state, StepPlan& plan, Sequence& sequence,
                              std::int64_t tokens) const {
  while (!state.kv.grow(sequence.blocks, tokens)) {
    Sequence* victim = state.running.back();
    state.running.pop_back();
    // The token in flight stands in no block yet.
    const std::int64_t full = victim->settled() / state.kv.block_size();
    std::int64_t own = victim->blocks - victim->named();
    if (engine_.enable_prefix_caching) {
      state.kv.release_preempted(victim->request.id, own,
                                 std::max<std::int64_t>(0, full - victim->named()));
    } else {
      state.kv.release(own);
    }
    state.kv.leave(victim->held_names());
    victim->blocks = 0;
    victim->hold_by_name(0);
    victim->computed = 0;
    state.waiting.push_front(victim);
    plan.preempted.push_back(victim);
    if (victim == &sequence) return false;
  }
  return true;
}

void VllmScheduler::admit_waiting(ServerState& state, StepPlan& plan,
                                  std::int64_t& budget) const {
  while (!state.waiting.empty() && budget > 0 &&
         static_cast<std::int64_t>(state.running.size()) < engine_.max_num_seqs) {
    Sequence& sequence = *state.waiting.front();
    const KvCache::Found shared = names_found(state, sequence);
    const std::int64_t own = blocks_left(state, sequence, shared.blocks);
    const std::int64_t computed = (shared.blocks + own) * state.kv.block_size();
    const std::int64_t wanted = cut(sequence.known() - computed);
    const std::int64_t n = std::min(wanted, budget);
    if (!engine_.enable_chunked_prefill && n < wanted) return;
    if (engine_.scheduler_reserve_full_isl &&
        !whole_sequence_fits(state, sequence, shared.in_use))
      return;
    sequence.computed = computed;
    const std::int64_t slots = slots_for(sequence, n);
    if (state.kv.blocks_for(slots) - shared.in_use > state.kv.free_blocks()) {
      sequence.computed = 0;
      return;
    }
    state.kv.share(std::span(sequence.names).first(static_cast<std::size_t>(shared.blocks)));
    sequence.blocks = shared.blocks;
    sequence.hold_by_name(shared.blocks);
    state.kv.take_back(sequence.request.id, sequence.blocks, own);
    if (!state.kv.grow(sequence.blocks, slots)) return;  // never: there is room
    call_blocks(state, sequence, computed + n);
    state.waiting.pop_front();
    state.running.push_back(&sequence);
    plan.admitted.push_back(&sequence);
    plan.chunks.push_back({&sequence, n});
    budget -= n;
  }
}

bool VllmScheduler::whole_sequence_fits(const ServerState& state, const Sequence& sequence,
                                        std::int64_t in_use) const {
  const auto kept = static_cast<std::int64_t>(
      std::ceil(engine_.watermark * static_cast<double>(state.kv.blocks())));
  const std::int64_t reserve = state.running.empty() ? 0 : kept;
  return state.kv.blocks_for(sequence.known()) - in_use + reserve <= state.kv.free_blocks();
}

}  // namespace ridgeline::sim
