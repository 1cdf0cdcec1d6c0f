#pragma once
// What vLLM's two schedulers share: how running sequences advance and how waiting ones are admitted.
// A policy decides in which order, and whether both in one step.

#include <cstdint>

#include "sim/scheduler.hpp"

namespace ridgeline::sim {

class VllmScheduler : public Scheduler {
 public:
  explicit VllmScheduler(const EngineSpec& engine)
      : engine_(engine),
        tokens_per_decode_(engine.tokens_per_decode()),
        lookahead_(engine.lookahead_tokens()) {}

 protected:
  /// Running sequences in order of admission, as far as `budget` goes: decodes take 1 token (and
  /// drafts), prefills a chunk. Without a free KV block the last running one is preempted.
  void advance_running(ServerState& state, StepPlan& plan, std::int64_t& budget) const;
  /// Waiting sequences in order of arrival with what `budget` is left, until one does not fit.
  void admit_waiting(ServerState& state, StepPlan& plan, std::int64_t& budget) const;

  [[nodiscard]] const EngineSpec& engine() const { return engine_; }

 private:
  [[nodiscard]] std::int64_t cut(std::int64_t tokens) const;
  [[nodiscard]] std::int64_t slots_for(const Sequence& sequence, std::int64_t n) const;
  bool make_room(ServerState& state, StepPlan& plan, Sequence& sequence, std::int64_t tokens) const;
  [[nodiscard]] bool whole_sequence_fits(const ServerState& state, const Sequence& sequence,
                                         std::int64_t in_use) const;

  EngineSpec engine_;
  std::int64_t tokens_per_decode_;
  std::int64_t lookahead_;
};

}  // namespace ridgeline::sim
