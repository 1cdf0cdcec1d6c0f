#pragma once
// What a scheduling policy decides: which sequences advance in the next step, and by how many
// tokens.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine_spec.hpp"
#include "sim/kv_cache.hpp"
#include "sim/sequence.hpp"

namespace ridgeline::sim {

struct ServerState {
  KvCache& kv;
  std::deque<Sequence*> waiting;   // head first; preempted sequences come back to the head
  std::vector<Sequence*> running;  // in order of admission
};

struct StepPlan {
  struct Chunk {
    Sequence* sequence = nullptr;
    std::int64_t tokens = 0;
  };
  std::vector<Chunk> chunks;
  std::vector<Sequence*> admitted;   // moved from waiting to running
  std::vector<Sequence*> preempted;  // moved from running to waiting, their KV blocks freed

  void clear() {
    chunks.clear();
    admitted.clear();
    preempted.clear();
  }
};

/// Plans one step at a time. `plan` moves sequences between the queues and takes KV blocks for
/// every token it schedules; it does not advance `computed`. It must schedule something whenever
/// something is running or waiting.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual void plan(ServerState& state, StepPlan& plan) = 0;
};

/// What an engine with a policy does where its settings do not say.
struct PolicyDefaults {
  std::int64_t max_num_seqs = 1024;
  std::int64_t max_num_batched_tokens = 8192;
  std::int64_t largest_graph = 512;  // captured sizes end there
  bool chunked_prefill = true;       // else the token budget is no smaller than max_model_len
  double watermark = 0.0;
  bool prefix_caching = true;
  bool decodes_apart = false;  // steps of decodes can be started several at once, and prompts be
                               // kept waiting (num_scheduler_steps, prefill_free_kv)
};
/// InvariantError for a name that is not in `scheduler_names`.
[[nodiscard]] const PolicyDefaults& defaults_of(std::string_view scheduler);

/// The policy of that name; InvariantError for a name that is not in `scheduler_names`.
[[nodiscard]] std::unique_ptr<Scheduler> make_scheduler(const EngineSpec& engine);
[[nodiscard]] std::vector<std::string> scheduler_names();

}  // namespace ridgeline::sim
