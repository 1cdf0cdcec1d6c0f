#pragma once
// Client-side metrics, as vLLM's benchmark defines them: TTFT = first token - arrival; TPOT = (last
// - first) / (tokens - 1) for requests of more than one token; ITL = every gap between two tokens,
// pooled over requests; E2E = last token - arrival. Duration runs from the first arrival to the
// last completion.

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

  [[nodiscard]] double per_second(double amount) const {
    return duration_seconds > 0.0 ? amount / duration_seconds : 0.0;
  }
};

[[nodiscard]] Metrics measure(const RunResult& result);

}  // namespace ridgeline::sim
