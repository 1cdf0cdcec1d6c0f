#include "whatif/diagnose_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/model_facts.hpp"
#include "sim/run_directory.hpp"
#include "whatif/told_evidence.hpp"

namespace ridgeline::whatif {
namespace {

using diagnosis::read_exactly;

diagnosis::Maybe median(std::vector<double> values, const char* from) {
  if (values.empty()) return std::nullopt;
  return read_exactly(core::summarize(values).p50, from);
}

std::optional<diagnosis::Arrivals> arrivals_of(const workloads::WorkloadSpec& workload) {
  if (const auto* generated = std::get_if<workloads::GeneratedWorkload>(&workload)) {
    if (const auto* loop = std::get_if<workloads::ClosedLoop>(&generated->arrivals)) {
      return loop->concurrency == 1 ? diagnosis::Arrivals::one_at_a_time
                                    : diagnosis::Arrivals::saturated;
    }
  }
  if (std::holds_alternative<workloads::TrainingWorkload>(workload)) return std::nullopt;
  return diagnosis::Arrivals::open;
}

const workloads::SharedPrefix* shares_prefix(const sim::Scenario& scenario) {
  const auto* generated = std::get_if<workloads::GeneratedWorkload>(&scenario.workload);
  return generated != nullptr && generated->shared_prefix ? &*generated->shared_prefix : nullptr;
}

diagnosis::Serving serving_facts(const sim::RunResult& result, const sim::Metrics& metrics) {
  diagnosis::Serving s;
  s.arrivals = arrivals_of(result.scenario.workload);
  if (const auto* training = std::get_if<workloads::TrainingWorkload>(&result.scenario.workload)) {
    s.microbatch = read_exactly(static_cast<double>(training->microbatch), "workload.training");
    s.sequence_tokens = read_exactly(static_cast<double>(training->sequence), "workload.training");
    return s;
  }
  std::vector<double> prompts;
  std::vector<double> outputs;
  for (const sim::RequestRecord& r : result.requests) {
    if (r.status != sim::RequestStatus::finished) continue;
    prompts.push_back(static_cast<double>(r.prompt_tokens));
    outputs.push_back(static_cast<double>(r.output_tokens));
  }
  s.prompt_tokens = median(std::move(prompts), "requests.csv");
  s.output_tokens = median(std::move(outputs), "requests.csv");
  if (const auto* prefix = shares_prefix(result.scenario))
    s.shared_prefix_tokens = read_exactly(static_cast<double>(prefix->tokens), "workload");
  s.kv_usage = read_exactly(metrics.peak_kv_usage, "server counters");
  std::vector<double> waiting;  // as a gauge shows it: one that comes is queued for an instant
  for (const sim::CounterRecord& c : result.counters) waiting.push_back(c.waiting);
  if (!waiting.empty())
    s.waiting = read_exactly(std::floor(core::summarize(waiting).p50), "server counters");
  s.preemptions = read_exactly(static_cast<double>(metrics.preemptions), "server counters");
  return s;
}

/// What clients saw in the part of the run that is looked at.
diagnosis::Measured client_view(const sim::RunResult& result, const sim::Metrics& metrics,
                                const timeline::Window& window) {
  diagnosis::Measured m;
  if (std::holds_alternative<workloads::TrainingWorkload>(result.scenario.workload)) return m;
  const double tokens =
      result.output_tokens([&](const sim::StepRecord& step) { return window.holds(step.start); });
  core::Instant first = core::kNever;
  core::Instant last{};
  for (const sim::StepRecord& step : result.steps) {
    if (!window.holds(step.start)) continue;
    first = std::min(first, step.start);
    last = std::max(last, step.end());
  }
  if (tokens > 0.0)
    m.throughput = read_exactly(tokens / (last - first).seconds().value(), "requests.csv");
  if (metrics.itl.mean > 0.0) {
    const double token = metrics.itl.mean / result.tokens_per_decode();
    m.itl = read_exactly(token, "result.json");
    m.throughput_per_sequence = read_exactly(1.0 / token, "result.json");
  }
  if (metrics.ttft.count > 0) m.ttft = read_exactly(metrics.ttft.p50, "result.json");
  return m;
}

double idle_share(const sim::RunResult& result, const timeline::Window& window) {
  core::Nanoseconds busy{};
  core::Instant first = core::kNever;
  core::Instant last{};
  for (const sim::StepRecord& step : result.steps) {
    if (!window.holds(step.start)) continue;
    busy += step.duration();
    first = std::min(first, step.start);
    last = std::max(last, step.end());
  }
  return busy.count == 0 ? 0.0 : 1.0 - busy.seconds() / (last - first).seconds();
}

}  // namespace

ProfileChoice telling_part(const sim::RunResult& result) {
  core::Nanoseconds decode{};
  core::Nanoseconds all{};
  for (const sim::StepRecord& step : result.steps) {
    all += step.duration();
    if (step.prefill_sequences == 0 && step.decode_sequences > 0) decode += step.duration();
  }
  ProfileChoice choice;
  if (decode.count * 2 >= all.count && decode.count > 0) choice.steps = StepChoice::decode;
  return choice;
}

diagnosis::Evidence observe_run(const sim::RunResult& result, const sim::Metrics& metrics,
                                const ProfileChoice& choice,
                                const std::vector<std::string>& proposals) {
  diagnosis::Observation o;
  o.title = result.scenario.name;
  o.summary = profile(result, choice);
  if (o.summary.steps == 0)
    throw core::SimulationError(
        "the run has no step of the kind that was asked for, so there is nothing to diagnose");
  o.gpu = result.scenario.gpu;
  o.model = diagnosis::model_facts(result.scenario.model, result.scenario.engine.kv_cache_dtype);
  o.serving = serving_facts(result, metrics);
  if (!std::holds_alternative<workloads::TrainingWorkload>(result.scenario.workload)) {
    // A stack without graphs launches kernel by kernel, whatever the switch says.
    o.engine.enforce_eager = result.scenario.engine.enforce_eager || !result.scenario.stack.graphs;
    o.engine.async_scheduling = result.scenario.engine.async_scheduling;
    // Where nobody said that prompts begin alike, a server's log does not either.
    if (shares_prefix(result.scenario))
      o.engine.enable_prefix_caching = result.scenario.engine.enable_prefix_caching;
    if (const auto& speculation = result.scenario.engine.speculative_config) {
      o.engine.speculative_tokens =
          read_exactly(static_cast<double>(speculation->num_speculative_tokens), "scenario.yaml");
      o.engine.accepted_tokens = read_exactly(result.tokens_per_decode(), "result.json");
    }
  }
  const timeline::Window window = window_of(result, choice);
  o.measured = client_view(result, metrics, window);
  // The GPUs that read their parts of a layer at once; the stages of a pipeline take turns.
  o.devices = static_cast<double>(result.scenario.engine.parallelism.tensor);
  o.idle_fraction = idle_share(result, window);
  o.proposals = proposals;
  return diagnosis::observe(o);
}

std::optional<diagnosis::Diagnosis> diagnose_run(const sim::RunResult& result,
                                                 const sim::Metrics& metrics) {
  if (result.steps.empty()) return std::nullopt;
  return diagnosis::diagnose(observe_run(result, metrics, telling_part(result)));
}

diagnosis::Evidence open_evidence(const std::filesystem::path& path,
                                  const core::ConfigLibrary& library) {
  if (!std::filesystem::is_directory(path)) return open_told(path, library).evidence;
  const sim::RunResult result = sim::read_run_directory(path, library);
  return observe_run(result, sim::measure(result), telling_part(result));
}

}  // namespace ridgeline::whatif
