#pragma once
// One server: its queues, its KV cache, its device, and the loop that serves.

#include <cstdint>
#include <functional>
#include <memory>
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
  };

  void take_arrivals();
  void admit(const workloads::Request& request);
  void step();
  void note_admissions();
  void note_preemptions();
  [[nodiscard]] workloads::StepShape advance_sequences();
  void record_step(const workloads::StepShape& shape, const StepTiming& timing);
  void emit_tokens();
  void finish(Passenger& passenger);
  void leave_interrupted();
  [[nodiscard]] bool has_work() const { return !state_.running.empty() || !state_.waiting.empty(); }

  Simulation& simulation_;
  Inbox& inbox_;
  const Scenario& scenario_;
  RunResult& result_;
  KvCache kv_;
  ServerState state_;
  std::unique_ptr<Scheduler> scheduler_;
  StepModel model_;
  StepPlan plan_;
  std::vector<std::unique_ptr<Passenger>> passengers_;  // by request id
  core::Instant now_;
  hw::Ledger spent_;                     // all steps so far
  std::vector<std::uint64_t> finished_;  // in the step at hand
};

}  // namespace ridgeline::sim
