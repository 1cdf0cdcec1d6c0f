#include "sim/run.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "sim/replica.hpp"

namespace ridgeline::sim {
namespace {

constexpr std::size_t kStepsBetweenReports = 256;

RunResult run_training(const Scenario& scenario) {
  RunResult result;
  result.scenario = scenario;
  StepModel model(scenario);
  StepRecord record;
  record.ledger = model.run(model.prepare_training()).ledger;
  result.steps.push_back(record);
  result.counters.emplace_back();
  return result;
}

std::size_t requests_in_all(const workloads::WorkloadSpec& spec) {
  if (const auto* generated = std::get_if<workloads::GeneratedWorkload>(&spec))
    return static_cast<std::size_t>(generated->requests);
  return 0;  // of a trace: not known before it is read
}

/// A run that refused some of its requests says so; one that refused all of them did nothing.
void tell_of_refusals(RunResult& result) {
  const auto& requests = result.requests;
  const auto refused = std::count_if(requests.begin(), requests.end(), [](const RequestRecord& r) {
    return r.status == RequestStatus::refused;
  });
  if (refused == 0) return;
  const std::int64_t most = result.scenario.engine.max_model_len;
  const auto all = static_cast<std::int64_t>(requests.size());
  if (refused == all) {
    const auto shortest = std::min_element(requests.begin(), requests.end(),
                                           [](const RequestRecord& a, const RequestRecord& b) {
                                             return a.prompt_tokens < b.prompt_tokens;
                                           });
    throw core::SimulationError("all " + std::to_string(all) +
                                " requests are refused: the shortest prompt has " +
                                std::to_string(shortest->prompt_tokens) +
                                " tokens, and engine.max_model_len = " + std::to_string(most) +
                                " leaves no room for an answer");
  }
  result.notes.push_back(std::to_string(refused) + " of " + std::to_string(all) +
                         " requests refused: a prompt of engine.max_model_len (" +
                         std::to_string(most) + ") tokens or more");
}

}  // namespace

RunResult run(const Scenario& scenario, const RunOptions& options) {
  if (std::holds_alternative<workloads::TrainingWorkload>(scenario.workload))
    return run_training(scenario);

  RunResult result;
  result.scenario = scenario;
  result.memory = plan_memory(scenario);
  const auto source =
      workloads::make_request_source(scenario.workload, scenario.seed, &result.notes);

  Simulation simulation;
  Inbox inbox(simulation, *source);
  Replica replica(simulation, inbox, scenario, result.memory, result);
  const std::size_t in_all = requests_in_all(scenario.workload);
  const auto should_stop = [&](core::Instant now) {
    if (!options.progress || result.steps.size() % kStepsBetweenReports != 0) return false;
    return !options.progress(inbox.answered_count(), in_all, now);
  };
  simulation.spawn("clients", [&inbox] { inbox.run_clients(); });
  simulation.spawn("replica", [&replica, &should_stop] { replica.serve(should_stop); });
  simulation.run();
  tell_of_refusals(result);
  return result;
}

}  // namespace ridgeline::sim
