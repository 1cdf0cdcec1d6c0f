#include "whatif/objective.hpp"

#include <algorithm>

namespace ridgeline::whatif {
namespace {

/// A server that answers so much less than it is offered falls further behind with every request.
constexpr double kKeepsUp = 0.85;

bool keeps_up(const sim::RunResult& result, const sim::Metrics& metrics) {
  core::Instant last{};
  for (const sim::RequestRecord& r : result.requests) last = std::max(last, r.arrival);
  const double span = last.since_start().value();
  if (!(span > 0.0)) return false;
  const double offered = static_cast<double>(metrics.requests) / span;
  return metrics.per_second(static_cast<double>(metrics.completed)) >= kKeepsUp * offered;
}

}  // namespace

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::output_rate:
      return "output_rate";
    case Objective::first_token:
      return "first_token";
    case Objective::latency:
      return "latency";
    case Objective::training_rate:
      return "training_rate";
  }
  return "";
}

double idle_share(const sim::RunResult& result) {
  if (result.steps.empty()) return 0.0;
  core::Nanoseconds busy{};
  for (const sim::StepRecord& step : result.steps) busy += step.duration();
  const core::Nanoseconds whole = result.end() - result.steps.front().start;
  return whole.count > 0 ? 1.0 - busy.seconds() / whole.seconds() : 0.0;
}

Objective objective_of(const sim::RunResult& result, const sim::Metrics& metrics) {
  const workloads::WorkloadSpec& workload = result.scenario.workload;
  if (std::holds_alternative<workloads::TrainingWorkload>(workload))
    return Objective::training_rate;
  if (metrics.output_tokens <= metrics.completed) return Objective::first_token;
  const auto* generated = std::get_if<workloads::GeneratedWorkload>(&workload);
  const bool closed =
      generated != nullptr && std::holds_alternative<workloads::ClosedLoop>(generated->arrivals);
  if (closed || idle_share(result) >= kMostlyIdle || !keeps_up(result, metrics))
    return Objective::output_rate;
  return Objective::latency;
}

double value_of(Objective objective, const sim::RunResult& result, const sim::Metrics& metrics) {
  const auto inverse = [](double seconds) { return seconds > 0.0 ? 1.0 / seconds : 0.0; };
  switch (objective) {
    case Objective::output_rate:
      return metrics.per_second(static_cast<double>(metrics.output_tokens)) *
             static_cast<double>(result.scenario.engine.data_parallel_size);
    case Objective::first_token:
      return inverse(metrics.ttft.p50);
    case Objective::latency:
      return inverse(metrics.e2e.mean);
    case Objective::training_rate: {
      const auto& step = std::get<workloads::TrainingWorkload>(result.scenario.workload);
      return static_cast<double>(result.scenario.engine.data_parallel_size * step.microbatch *
                                 step.sequence) *
             inverse(result.steps.front().duration().seconds().value());
    }
  }
  return 0.0;
}

}  // namespace ridgeline::whatif
