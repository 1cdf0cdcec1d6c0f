#pragma once
// Runs a scenario.

#include <cstdint>
#include <functional>

#include "sim/run_result.hpp"

namespace ridgeline::sim {

struct RunOptions {
  /// Called now and then with (requests answered, requests in all, simulated time). Returning false
  /// stops the run; what was done until then is in the result, marked interrupted.
  std::function<bool(std::size_t, std::size_t, core::Instant)> progress;
  /// Which of engine.data_parallel_size copies of the server is simulated, from 0.
  std::int64_t copy = 0;
};

/// Serves the scenario's requests, or takes its training step. Deterministic: the same scenario
/// gives the same result, bit for bit, in whatever process and after whatever else ran in it.
/// ConfigError for a trace that cannot be read; SimulationError when the model does not fit, when
/// every request is refused, or when it would take more simulated time than a clock of 1e9 s holds.
[[nodiscard]] RunResult run(const Scenario& scenario, const RunOptions& options = {});

/// Serves with every copy of the server, one after the other. Requests, token gaps and what is
/// counted of them are of all copies (ids repeat); steps, counters and notes of the first.
[[nodiscard]] RunResult run_all_copies(const Scenario& scenario);

}  // namespace ridgeline::sim
