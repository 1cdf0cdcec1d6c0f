#pragma once
// What the people who run a server would call its speed; higher is better. Which of them is the
// question depends on the load:
//
//   output_rate    output tokens a second: clients that never rest, more requests than it can take,
//                  or so few that nothing runs for most of the time
//   first_token    one over the median time to the first token: answers of one token
//   latency        one over the mean time from arrival to last token: requests that come when they
//                  come, to a server that keeps up with them
//   training_rate  tokens a second of a training step
//
// Copies of the server count together, as `data_parallel_size` has them.

#include <string_view>

#include "sim/metrics.hpp"
#include "sim/run_result.hpp"

namespace ridgeline::whatif {

enum class Objective : std::uint8_t { output_rate, first_token, latency, training_rate };
[[nodiscard]] std::string_view name_of(Objective objective);

/// Share of the run, from the first step to the last, in which no step ran.
[[nodiscard]] double idle_share(const sim::RunResult& result);

/// Half of the time without any work is where a server's rate is its clients' rather than its own.
inline constexpr double kMostlyIdle = 0.5;

[[nodiscard]] Objective objective_of(const sim::RunResult& result, const sim::Metrics& metrics);
[[nodiscard]] double value_of(Objective objective, const sim::RunResult& result,
                              const sim::Metrics& metrics);

}  // namespace ridgeline::whatif
