#pragma once
// The numbers that runs are compared by: the rows of a what-if, the columns of a sweep. Named as
// vLLM's benchmark names them where it has them. All of the whole deployment: rates add up over its
// data-parallel copies, one of which is simulated.

#include <optional>
#include <span>
#include <string_view>

#include "sim/metrics.hpp"
#include "sim/run_result.hpp"

namespace ridgeline::whatif {

enum class Better : std::uint8_t { higher, lower, neither };

struct Figure {
  std::string_view name;
  std::string_view unit;  // "ms", "tokens/s", "1" of what has none
  std::string_view meaning;
  Better better;
  /// Nothing where the run has no such number: latencies of a training step, energy of a machine
  /// whose power nobody published.
  std::optional<double> (*of)(const sim::RunResult&, const sim::Metrics&);
};

[[nodiscard]] std::span<const Figure> figures();
/// ConfigError for a name that is no figure's, with the nearest; `where` is what asked for it.
[[nodiscard]] const Figure& figure(std::string_view name, std::string_view where);

/// GPUs that the deployment takes.
[[nodiscard]] double gpus_of(const sim::Scenario& scenario);

}  // namespace ridgeline::whatif
