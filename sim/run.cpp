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

/// What the simulated copy of the server gets: everything, or of `data_parallel_size` equal copies
/// every so many-th request or batch of requests, or its part of the clients that wait for answers.
std::unique_ptr<workloads::RequestSource> share_of_requests(const Scenario& scenario,
                                                            std::int64_t copy,
                                                            std::vector<std::string>& notes) {
  const std::int64_t copies = scenario.engine.data_parallel_size;
  if (copies == 1) return workloads::make_request_source(scenario.workload, scenario.seed, &notes);
  notes.push_back(
      "one of " + std::to_string(copies) +
      " copies of the server, with its share of the requests: all of them together do about " +
      std::to_string(copies) + " times as much");
  workloads::WorkloadSpec workload = scenario.workload;
  if (auto* generated = std::get_if<workloads::GeneratedWorkload>(&workload)) {
    if (auto* loop = std::get_if<workloads::ClosedLoop>(&generated->arrivals)) {
      const auto share = [=](std::int64_t n) { return n / copies + (copy < n % copies ? 1 : 0); };
      // A copy without a client or without a request is none: run_all_copies passes it over.
      loop->concurrency = std::max<std::int64_t>(1, share(loop->concurrency));
      generated->requests = std::max<std::int64_t>(1, share(generated->requests));
      // Clients of another copy ask for other lengths.
      const std::uint64_t seed = scenario.seed + static_cast<std::uint64_t>(copy);
      return workloads::make_request_source(workload, seed, &notes);
    }
  }
  return workloads::make_request_source(workload, scenario.seed, &notes, {copy, copies});
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
  const auto source = share_of_requests(scenario, options.copy, result.notes);

  Simulation simulation;
  Inbox inbox(simulation, *source);
  Replica replica(simulation, inbox, scenario, result.memory, result);
  const std::size_t copies = static_cast<std::size_t>(scenario.engine.data_parallel_size);
  const std::size_t in_all = (requests_in_all(scenario.workload) + copies - 1) / copies;
  const auto should_stop = [&](core::Instant now) {
    if (!options.progress || result.steps.size() % kStepsBetweenReports != 0) return false;
    return !options.progress(inbox.answered_count(), in_all, now);
  };
  simulation.spawn("clients", [&inbox] { inbox.run_clients(); });
  simulation.spawn("replica", [&replica, &should_stop] { replica.serve(should_stop); });
  simulation.run();
  if (const core::Nanoseconds way = inbox.mean_way(); way.count > 0) {
    result.notes.push_back("requests are gathered: the front end hands them on " +
                           std::to_string((way.count + 500'000) / 1'000'000) +
                           " ms after they were sent, on average, which is part of their queue");
  }
  tell_of_refusals(result);
  return result;
}

RunResult run_all_copies(const Scenario& scenario) {
  RunResult all = run(scenario);
  std::int64_t copies = scenario.engine.data_parallel_size;
  if (const auto* generated = std::get_if<workloads::GeneratedWorkload>(&scenario.workload)) {
    copies = std::min(copies, generated->requests);
    if (const auto* loop = std::get_if<workloads::ClosedLoop>(&generated->arrivals))
      copies = std::min(copies, loop->concurrency);
  }
  for (std::int64_t copy = 1; copy < copies; ++copy) {
    const RunResult one = run(scenario, {.progress = {}, .copy = copy});
    all.requests.insert(all.requests.end(), one.requests.begin(), one.requests.end());
    all.token_gaps.insert(all.token_gaps.end(), one.token_gaps.begin(), one.token_gaps.end());
    all.preemptions += one.preemptions;
    all.drafts_checked += one.drafts_checked;
    all.drafts_accepted += one.drafts_accepted;
  }
  return all;
}

}  // namespace ridgeline::sim
