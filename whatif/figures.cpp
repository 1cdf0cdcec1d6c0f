#include "whatif/figures.hpp"

#include <array>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "sim/energy.hpp"

namespace ridgeline::whatif {
namespace {

using sim::Metrics;
using sim::RunResult;
using Number = std::optional<double>;

constexpr double kMilli = 1e3;
constexpr double kMillion = 1e6;
constexpr double kSecondsAnHour = 3600.0;

double copies(const RunResult& r) {
  return static_cast<double>(r.scenario.engine.data_parallel_size);
}

const workloads::TrainingWorkload* training(const RunResult& r) {
  return std::get_if<workloads::TrainingWorkload>(&r.scenario.workload);
}

Number counted(const RunResult& r, std::int64_t n) {
  return training(r) != nullptr ? Number() : Number(static_cast<double>(n));
}

/// Amounts of one copy, a second, over all copies.
Number rate(const RunResult& r, const Metrics& m, std::int64_t amount) {
  if (training(r) != nullptr || !(m.duration_seconds > 0.0)) return std::nullopt;
  return copies(r) * m.per_second(static_cast<double>(amount));
}

Number output_rate(const RunResult& r, const Metrics& m) { return rate(r, m, m.output_tokens); }

Number each_gpu(const RunResult& r, Number whole) {
  return whole ? Number(*whole / gpus_of(r.scenario)) : whole;
}

Number training_rate(const RunResult& r, const Metrics&) {
  const auto* step = training(r);
  if (step == nullptr || r.steps.empty()) return std::nullopt;
  return copies(r) * static_cast<double>(step->microbatch * step->sequence) /
         r.steps.front().duration().seconds().value();
}

/// One statistic of one latency, in milliseconds.
template <core::Summary Metrics::*Latency, double core::Summary::*Statistic>
Number ms(const RunResult&, const Metrics& m) {
  const core::Summary& s = m.*Latency;
  return s.count > 0 ? Number(kMilli * (s.*Statistic)) : Number();
}

/// From the first step to the end of the last.
double server_seconds(const RunResult& r) {
  return r.steps.empty() ? 0.0 : (r.end() - r.steps.front().start).seconds().value();
}

template <hw::Cause kCause>
Number share(const RunResult& r, const Metrics&) {
  const double whole = server_seconds(r);
  return whole > 0.0 ? Number(r.ledger()[kCause].seconds().value() / whole) : Number();
}

Number idle_share(const RunResult& r, const Metrics&) {
  const double whole = server_seconds(r);
  return whole > 0.0 ? Number(1.0 - r.ledger().total().seconds().value() / whole) : Number();
}

Number mean_step(const RunResult& r, const Metrics&) {
  if (r.steps.empty()) return std::nullopt;
  return kMilli * r.ledger().total().seconds().value() / static_cast<double>(r.steps.size());
}

/// Sequences of a step, weighted by how long it took.
Number mean_batch(const RunResult& r, const Metrics&) {
  double sequences = 0.0;
  double seconds = 0.0;
  for (const sim::StepRecord& step : r.steps) {
    const double length = step.duration().seconds().value();
    sequences += length * static_cast<double>(step.decode_sequences + step.prefill_sequences);
    seconds += length;
  }
  return training(r) == nullptr && seconds > 0.0 ? Number(sequences / seconds) : Number();
}

Number joules_per_token(const RunResult& r, const Metrics& m) {
  const auto joules = sim::energy_joules(r);
  if (!joules || m.output_tokens == 0) return std::nullopt;
  return *joules / static_cast<double>(m.output_tokens);
}

/// What the GPUs cost while they make a million of something.
Number dollars_a_million(const RunResult& r, Number per_second) {
  const auto& price = r.scenario.usd_per_gpu_hour;
  if (!price || !per_second || !(*per_second > 0.0)) return std::nullopt;
  return *price * gpus_of(r.scenario) / kSecondsAnHour / *per_second * kMillion;
}

// A new figure is one line here.
constexpr std::array kTable{
    Figure{"request_throughput", "requests/s", "requests answered a second", Better::higher,
           [](const RunResult& r, const Metrics& m) { return rate(r, m, m.completed); }},
    Figure{"output_throughput", "tokens/s", "output tokens a second", Better::higher, output_rate},
    Figure{"total_token_throughput", "tokens/s", "prompt and output tokens a second",
           Better::higher,
           [](const RunResult& r, const Metrics& m) {
             return rate(r, m, m.input_tokens + m.output_tokens);
           }},
    Figure{"output_throughput_per_gpu", "tokens/s", "output tokens a second and GPU",
           Better::higher,
           [](const RunResult& r, const Metrics& m) { return each_gpu(r, output_rate(r, m)); }},
    Figure{"output_throughput_per_user", "tokens/s",
           "one over the median TPOT: what one user sees stream in", Better::higher,
           [](const RunResult&, const Metrics& m) {
             return m.tpot.p50 > 0.0 ? Number(1.0 / m.tpot.p50) : Number();
           }},
    Figure{"training_throughput", "tokens/s", "tokens trained on a second", Better::higher,
           training_rate},
    Figure{"mean_ttft_ms", "ms", "time to first token", Better::lower,
           ms<&Metrics::ttft, &core::Summary::mean>},
    Figure{"median_ttft_ms", "ms", "", Better::lower, ms<&Metrics::ttft, &core::Summary::p50>},
    Figure{"p90_ttft_ms", "ms", "", Better::lower, ms<&Metrics::ttft, &core::Summary::p90>},
    Figure{"p99_ttft_ms", "ms", "", Better::lower, ms<&Metrics::ttft, &core::Summary::p99>},
    Figure{"mean_tpot_ms", "ms", "mean time between two tokens of a request", Better::lower,
           ms<&Metrics::tpot, &core::Summary::mean>},
    Figure{"median_tpot_ms", "ms", "", Better::lower, ms<&Metrics::tpot, &core::Summary::p50>},
    Figure{"p90_tpot_ms", "ms", "", Better::lower, ms<&Metrics::tpot, &core::Summary::p90>},
    Figure{"p99_tpot_ms", "ms", "", Better::lower, ms<&Metrics::tpot, &core::Summary::p99>},
    Figure{"mean_itl_ms", "ms", "time between two tokens, pooled over requests", Better::lower,
           ms<&Metrics::itl, &core::Summary::mean>},
    Figure{"median_itl_ms", "ms", "", Better::lower, ms<&Metrics::itl, &core::Summary::p50>},
    Figure{"p90_itl_ms", "ms", "", Better::lower, ms<&Metrics::itl, &core::Summary::p90>},
    Figure{"p99_itl_ms", "ms", "", Better::lower, ms<&Metrics::itl, &core::Summary::p99>},
    Figure{"mean_e2el_ms", "ms", "from a request's arrival to its last token", Better::lower,
           ms<&Metrics::e2e, &core::Summary::mean>},
    Figure{"median_e2el_ms", "ms", "", Better::lower, ms<&Metrics::e2e, &core::Summary::p50>},
    Figure{"p90_e2el_ms", "ms", "", Better::lower, ms<&Metrics::e2e, &core::Summary::p90>},
    Figure{"p99_e2el_ms", "ms", "", Better::lower, ms<&Metrics::e2e, &core::Summary::p99>},
    Figure{"mean_queue_ms", "ms", "from a request's arrival to its first step", Better::lower,
           ms<&Metrics::queue, &core::Summary::mean>},
    Figure{"p99_queue_ms", "ms", "", Better::lower, ms<&Metrics::queue, &core::Summary::p99>},
    Figure{"duration", "s", "from the first arrival to the last answer", Better::lower,
           [](const RunResult& r, const Metrics& m) {
             return training(r) != nullptr ? Number() : Number(m.duration_seconds);
           }},
    Figure{"completed", "requests", "requests answered, of one copy", Better::neither,
           [](const RunResult& r, const Metrics& m) { return counted(r, m.completed); }},
    Figure{
        "failed", "requests", "requests refused or cut off, of one copy", Better::lower,
        [](const RunResult& r, const Metrics& m) { return counted(r, m.refused + m.interrupted); }},
    Figure{"preemptions", "1", "sequences that lost their KV blocks, of one copy", Better::lower,
           [](const RunResult& r, const Metrics& m) { return counted(r, m.preemptions); }},
    Figure{"mean_batch", "sequences", "sequences in a step, over the time of all steps",
           Better::neither, mean_batch},
    Figure{"peak_running", "sequences", "most sequences in the batch", Better::neither,
           [](const RunResult& r, const Metrics& m) { return counted(r, m.peak_running); }},
    Figure{"peak_waiting", "requests", "most requests waiting", Better::lower,
           [](const RunResult& r, const Metrics& m) { return counted(r, m.peak_waiting); }},
    Figure{"peak_kv_usage", "1", "most KV blocks in use, of those there are", Better::neither,
           [](const RunResult& r, const Metrics& m) {
             return training(r) != nullptr ? Number() : Number(m.peak_kv_usage);
           }},
    Figure{"prefix_cache_hit_rate", "1", "prompt tokens found in the prefix cache, of all",
           Better::higher,
           [](const RunResult& r, const Metrics& m) {
             return training(r) != nullptr ? Number() : Number(m.prefix_cache_hit_rate());
           }},
    Figure{"acceptance_rate", "1", "drafts that were right, of all", Better::higher,
           [](const RunResult&, const Metrics& m) {
             return m.draft_tokens > 0 ? Number(m.acceptance_rate()) : Number();
           }},
    Figure{"kv_cache_tokens", "tokens", "that the KV cache of one copy holds", Better::higher,
           [](const RunResult& r, const Metrics&) {
             return counted(r, r.memory.kv_blocks * r.scenario.engine.block_size);
           }},
    Figure{"weight_bytes", "B", "weights of the model, of one copy", Better::lower,
           [](const RunResult& r, const Metrics&) {
             return Number(r.scenario.model.weight_bytes().value());
           }},
    Figure{"steps", "steps", "forward passes", Better::neither,
           [](const RunResult& r, const Metrics&) {
             return Number(static_cast<double>(r.steps.size()));
           }},
    Figure{"mean_step_ms", "ms", "a step's time", Better::neither, mean_step},
    Figure{"share_compute", "1", "of the server's time, in kernels bound by compute",
           Better::neither, share<hw::Cause::compute>},
    Figure{"share_memory", "1", "in kernels bound by HBM", Better::neither,
           share<hw::Cause::memory>},
    Figure{"share_floor", "1", "in kernels at their fixed cost", Better::neither,
           share<hw::Cause::floor>},
    Figure{"share_communication", "1", "in collectives between devices", Better::neither,
           share<hw::Cause::communication>},
    Figure{"share_dispatch", "1", "turning from kernel to kernel", Better::neither,
           share<hw::Cause::dispatch>},
    Figure{"share_launch", "1", "waiting for the host to launch", Better::neither,
           share<hw::Cause::launch>},
    Figure{"share_host", "1", "host between launches", Better::neither, share<hw::Cause::host>},
    Figure{"share_idle", "1", "no request to work on", Better::neither, idle_share},
    Figure{"gpus", "GPUs", "that the deployment takes", Better::lower,
           [](const RunResult& r, const Metrics&) { return Number(gpus_of(r.scenario)); }},
    Figure{"usd_per_million_output_tokens", "US$",
           "rent of the GPUs (usd_per_gpu_hour) while they make a million output tokens",
           Better::lower,
           [](const RunResult& r, const Metrics& m) {
             return dollars_a_million(r, output_rate(r, m));
           }},
    Figure{"usd_per_million_tokens", "US$", "the same, of prompt and output tokens", Better::lower,
           [](const RunResult& r, const Metrics& m) {
             return dollars_a_million(r, rate(r, m, m.input_tokens + m.output_tokens));
           }},
    Figure{"joules_per_output_token", "J", "energy of the GPUs, roughly", Better::lower,
           joules_per_token},
    Figure{"extrapolated_share", "1",
           "of the kernels' time, outside the sizes or machines that were measured",
           Better::neither,
           [](const RunResult& r, const Metrics&) { return Number(r.extrapolated_share()); }},
};

}  // namespace

std::span<const Figure> figures() { return kTable; }

const Figure& figure(std::string_view name, std::string_view where) {
  std::vector<std::string> names;
  for (const Figure& f : kTable) {
    if (f.name == name) return f;
    names.emplace_back(f.name);
  }
  throw core::ConfigError(std::string(where) + ": no figure is named '" + std::string(name) + "'" +
                          core::suggestion(std::string(name), names));
}

double gpus_of(const sim::Scenario& scenario) {
  return static_cast<double>(scenario.engine.parallelism.gpus() *
                             scenario.engine.data_parallel_size);
}

}  // namespace ridgeline::whatif
