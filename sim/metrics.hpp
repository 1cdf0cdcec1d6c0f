#pragma once
// Client-side metrics, as vLLM's benchmark defines them: TTFT = first token - arrival; TPOT = (last
// - first) / (tokens - 1) for requests of more than one token; ITL = every gap between two tokens,
// or where speculation brings several at once between two arrivals, pooled over requests; E2E =
// last token - arrival. Duration runs from the first arrival to the last completion.

#include <cstdint>

#include "core/statistics.hpp"
#include "sim/run_result.hpp"

namespace ridgeline::sim {

struct Metrics {
  std::int64_t requests = 0;
  std::int64_t completed = 0;
  std::int64_t refused = 0;
  std::int64_t interrupted = 0;
  std::int64_t preemptions = 0;
  std::int64_t input_tokens = 0;  // of completed requests
  std::int64_t output_tokens = 0;
  std::int64_t prefix_cache_hit_tokens = 0;  // of input_tokens: found, not computed
  double duration_seconds = 0.0;
  // All in seconds.
  core::Summary ttft;
  core::Summary tpot;
  core::Summary itl;
  core::Summary e2e;
  core::Summary queue;
  double peak_kv_usage = 0.0;
  std::int64_t peak_running = 0;
  std::int64_t peak_waiting = 0;
  std::int64_t draft_tokens = 0;  // guessed and checked; 0 without speculative decoding
  std::int64_t accepted_tokens = 0;

  /// Share of the prompt tokens that were found in the prefix cache (vLLM's
  /// prefix_cache_hits / prefix_cache_queries), of completed requests.
  [[nodiscard]] double prefix_cache_hit_rate() const {
    return input_tokens > 0
               ? static_cast<double>(prefix_cache_hit_tokens) / static_cast<double>(input_tokens)
               : 0.0;
  }
  [[nodiscard]] double acceptance_rate() const {
    return draft_tokens > 0
               ? static_cast<double>(accepted_tokens) / static_cast<double>(draft_tokens)
               : 0.0;
  }
  [[nodiscard]] double per_second(double amount) const {
    return duration_seconds > 0.0 ? amount / duration_seconds : 0.0;
  }
};

[[nodiscard]] Metrics measure(const RunResult& result);

}  // namespace ridgeline::sim
