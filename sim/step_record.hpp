#pragma once
// What a run remembers of a step: enough to recompute every kernel of it, to the nanosecond.

#include <cstdint>
#include <type_traits>

#include "core/instant.hpp"
#include "hw/ledger.hpp"
#include "workloads/step_shape.hpp"

namespace ridgeline::sim {

struct StepRecord {
  core::Instant start;
  hw::Ledger ledger;  // adds up to the step's length
  std::int64_t prefill_qk = 0;
  std::int64_t prefill_qq = 0;
  std::uint32_t decode_sequences = 0;
  std::uint32_t decode_context = 0;
  std::uint32_t prefill_sequences = 0;
  std::uint32_t prefill_tokens = 0;
  std::uint32_t prefill_context = 0;
  std::uint32_t sampled = 0;
  std::uint32_t decode_longest = 0;

  bool operator==(const StepRecord&) const = default;

  [[nodiscard]] core::Nanoseconds duration() const { return ledger.total(); }
  [[nodiscard]] core::Instant end() const { return start + duration(); }
  [[nodiscard]] workloads::StepShape shape() const {
    return {decode_sequences, decode_context, prefill_sequences, prefill_tokens, prefill_context,
            prefill_qk,       prefill_qq,     sampled,           decode_longest};
  }
};
static_assert(sizeof(StepRecord) == 112 && std::is_trivially_copyable_v<StepRecord>);

/// The server's state when a step began.
struct CounterRecord {
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;
  std::uint32_t kv_blocks_used = 0;
  std::uint32_t preemptions = 0;  // so far
  bool operator==(const CounterRecord&) const = default;
};
static_assert(sizeof(CounterRecord) == 16 && std::is_trivially_copyable_v<CounterRecord>);

}  // namespace ridgeline::sim
