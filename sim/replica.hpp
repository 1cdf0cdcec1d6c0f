#pragma once
// One server: its queues, its KV cache, its device, and the loop that serves.
//
// As vLLM V1's engine core (vllm/v1/engine/core.py, step_with_batch_queue, version 0.19): with
// async_scheduling a step is planned when the one before begins, so that the device never waits for
// the plan. Whoever arrives then waits for the step that runs and for the one already planned
// behind it, and what ends in the running step keeps its place and its KV blocks in the next plan.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sim/inbox.hpp"
#include "sim/memory_plan.hpp"
#include "sim/run_result.hpp"
#include "sim/scheduler.hpp"
#include "sim/simulation.hpp"
#include "sim/step_model.hpp"

namespace ridgeline::sim {

class Replica {
 public:
  /// `inbox` brings requests; `result` is where records go. Both outlive the replica.
  Replica(Simulation& simulation, Inbox& inbox, const Scenario& scenario, const MemoryPlan& memory,
          RunResult& result);

  /// The life of the server; runs as an actor. Ends when no request is left and none will come, or
  /// when `should_stop` says so.
  void serve(const std::function<bool(core::Instant)>& should_stop);

 private:
  /// What becomes of a request while it is here, beside the scheduler's Sequence.
  struct Passenger {
    Sequence sequence;
    hw::Ledger at_admission;   // the server's running total when it (last) entered the batch
    core::Instant left_batch;  // when it was preempted
    core::Instant last_token;
    hw::Ledger in_batch;  // collected in earlier stays since its last change of phase
    bool leaves = false;  // preempted, but its token in flight is still to come
  };

  /// Who gets tokens from a step.
  struct Emission {
    Sequence* sequence = nullptr;
    std::int32_t accepted = 0;  // of its drafts: tokens beside the one that every step brings
    std::int32_t rejected = 0;
  };

  /// A step that is planned but not done.
  struct Planned {
    StepRecord record;  // but for its start
    CounterRecord before;
    std::vector<Emission> emitting;
  };

  void take_arrivals();
  void admit(const workloads::Request& request);
  /// Plans a step if there is one, behind those already planned.
  void plan_step();
  /// Runs the oldest planned step.
  void run_step();
  void note_admissions();
  void note_preemptions();
  void leave_batch(Passenger& passenger);
  [[nodiscard]] workloads::StepShape advance_sequences(std::vector<Emission>& emitting);
  [[nodiscard]] static StepRecord record_of(const workloads::StepShape& shape,
                                            const StepTiming& timing);
  [[nodiscard]] CounterRecord counters() const;
  [[nodiscard]] Emission check_drafts(Sequence& sequence) const;
  void emit_tokens(const std::vector<Emission>& emitting);
  /// Forgets a request that has finished and is in no planned step.
  void forget(Sequence& sequence);
  void finish(Passenger& passenger);
  void leave_interrupted();
  [[nodiscard]] bool has_work() const {
    return !state_.running.empty() || !state_.waiting.empty() || !planned_.empty();
  }

  Simulation& simulation_;
  Inbox& inbox_;
  const Scenario& scenario_;
  RunResult& result_;
  KvCache kv_;
  ServerState state_;
  std::unique_ptr<Scheduler> scheduler_;
  StepModel model_;
  std::optional<Acceptance> acceptance_;  // of drafts, where there are any
  StepPlan plan_;
  std::deque<Planned> planned_;
  std::vector<Emission> spare_;                         // of a step that has run
  std::size_t planned_ahead_;                           // at most so many of them
  std::vector<std::unique_ptr<Passenger>> passengers_;  // by request id
  core::Instant now_;
  hw::Ledger spent_;                     // all steps so far
  std::vector<std::uint64_t> finished_;  // in the step at hand
};

}  // namespace ridgeline::sim
