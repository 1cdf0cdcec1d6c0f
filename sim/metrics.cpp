#include "sim/metrics.hpp"

#include <algorithm>

namespace ridgeline::sim {

double RunResult::tokens_per_decode() const {
  if (!scenario.engine.speculative_config) return 1.0;
  std::int64_t decodes = 0;
  std::int64_t tokens = 0;  // but for those that come out of a prefill
  for (const StepRecord& step : steps) {
    decodes += step.decode_sequences;
    tokens -= step.sampled - step.decode_sequences * scenario.engine.tokens_per_decode();
  }
  for (const RequestRecord& r : requests) tokens += r.output_tokens;
  return decodes > 0 ? static_cast<double>(tokens) / static_cast<double>(decodes) : 1.0;
}

Metrics measure(const RunResult& result) {
  Metrics m;
  m.requests = static_cast<std::int64_t>(result.requests.size());
  m.preemptions = result.preemptions;
  m.draft_tokens = result.drafts_checked;
  m.accepted_tokens = result.drafts_accepted;
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> e2e;
  std::vector<double> queue;
  core::Instant first = core::kNever;
  core::Instant last{};
  for (const RequestRecord& r : result.requests) {
    first = std::min(first, r.arrival);
    switch (r.status) {
      case RequestStatus::refused:
        ++m.refused;
        continue;
      case RequestStatus::interrupted:
        ++m.interrupted;
        continue;
      case RequestStatus::finished:
        break;
    }
    ++m.completed;
    m.input_tokens += r.prompt_tokens;
    m.output_tokens += r.output_tokens;
    m.prefix_cache_hit_tokens += r.cached_tokens;
    last = std::max(last, r.last_token);
    ttft.push_back(r.ttft().seconds().value());
    if (r.output_tokens > 1) tpot.push_back(r.tpot().value());
    e2e.push_back(r.e2e().seconds().value());
    queue.push_back(r.queue().seconds().value());
  }
  if (m.completed > 0) m.duration_seconds = (last - first).seconds().value();
  m.ttft = core::summarize(ttft);
  m.tpot = core::summarize(tpot);
  m.e2e = core::summarize(e2e);
  m.queue = core::summarize(queue);

  std::vector<core::WeightedSample> gaps;
  gaps.reserve(result.token_gaps.size());
  for (const TokenGap& g : result.token_gaps) gaps.push_back({g.gap.seconds().value(), g.count});
  m.itl = core::summarize(gaps);

  const double blocks = static_cast<double>(std::max<std::int64_t>(1, result.memory.kv_blocks));
  for (const CounterRecord& c : result.counters) {
    m.peak_kv_usage = std::max(m.peak_kv_usage, c.kv_blocks_used / blocks);
    m.peak_running = std::max<std::int64_t>(m.peak_running, c.running);
    m.peak_waiting = std::max<std::int64_t>(m.peak_waiting, c.waiting);
  }
  return m;
}

}  // namespace ridgeline::sim
