#include <nlohmann/json.hpp>

#include "sim/energy.hpp"
#include "sim/run_directory.hpp"

namespace ridgeline::sim {
namespace {

using Json = nlohmann::ordered_json;

void put_summary(Json& out, const std::string& name, const core::Summary& s) {
  constexpr double kMilli = 1e3;
  out["mean_" + name + "_ms"] = s.mean * kMilli;
  out["median_" + name + "_ms"] = s.p50 * kMilli;
  out["std_" + name + "_ms"] = s.std * kMilli;
  out["p90_" + name + "_ms"] = s.p90 * kMilli;
  out["p95_" + name + "_ms"] = s.p95 * kMilli;
  out["p99_" + name + "_ms"] = s.p99 * kMilli;
}

Json ledger_json(const hw::Ledger& ledger) {
  Json out = Json::object();
  for (std::size_t i = 0; i < hw::kCauses; ++i)
    out[std::string(hw::kCauseNames[i]) + "_ns"] = ledger.by_cause[i].count;
  return out;
}

}  // namespace

nlohmann::ordered_json result_json(const RunResult& result, const Metrics& m) {
  Json out;
  out["backend"] = "ridgeline";
  out["label"] = result.scenario.name;
  out["model_id"] = result.scenario.model.name;
  out["num_prompts"] = m.requests;
  out["duration"] = m.duration_seconds;
  out["completed"] = m.completed;
  out["failed"] = m.refused + m.interrupted;
  out["total_input_tokens"] = m.input_tokens;
  out["total_output_tokens"] = m.output_tokens;
  out["request_throughput"] = m.per_second(static_cast<double>(m.completed));
  out["output_throughput"] = m.per_second(static_cast<double>(m.output_tokens));
  out["total_token_throughput"] =
      m.per_second(static_cast<double>(m.input_tokens + m.output_tokens));
  put_summary(out, "ttft", m.ttft);
  put_summary(out, "tpot", m.tpot);
  put_summary(out, "itl", m.itl);
  put_summary(out, "e2el", m.e2e);
  put_summary(out, "queue", m.queue);
  if (const auto& speculation = result.scenario.engine.speculative_config) {
    const auto steps = m.draft_tokens / speculation->num_speculative_tokens;
    out["spec_decode_num_drafts"] = steps;
    out["spec_decode_draft_tokens"] = m.draft_tokens;
    out["spec_decode_accepted_tokens"] = m.accepted_tokens;
    out["spec_decode_acceptance_rate"] = 100.0 * m.acceptance_rate();  // vLLM's are in per cent
    out["spec_decode_acceptance_length"] =
        steps > 0 ? 1.0 + static_cast<double>(m.accepted_tokens) / static_cast<double>(steps) : 0.0;
  }

  Json own;
  own["gpu"] = result.scenario.gpu.name;
  own["stack"] = result.scenario.stack.name;
  own["seed"] = result.scenario.seed;
  own["interrupted"] = result.interrupted;
  own["refused"] = m.refused;
  own["unfinished"] = m.interrupted;
  own["preemptions"] = m.preemptions;
  own["prefix_cache_hit_tokens"] = m.prefix_cache_hit_tokens;
  own["prefix_cache_hit_rate"] = m.prefix_cache_hit_rate();
  own["steps"] = result.steps.size();
  own["kv_blocks"] = result.memory.kv_blocks;
  own["block_size"] = result.scenario.engine.block_size;
  own["peak_kv_usage"] = m.peak_kv_usage;
  own["peak_running"] = m.peak_running;
  own["peak_waiting"] = m.peak_waiting;
  for (const auto& line : result.memory.ledger.lines())
    own["hbm_bytes"][line.what] = line.bytes.value();
  const hw::Ledger ledger = result.ledger();
  own["steps_ns"] = ledger.total().count;
  own["ledger"] = ledger_json(ledger);
  // Between steps the server had nothing to do.
  const core::Instant begin = result.steps.empty() ? core::Instant{} : result.steps.front().start;
  own["idle_ns"] = (result.end() - begin - ledger.total()).count;
  own["extrapolated_share"] = result.extrapolated_share();
  if (const auto joules = energy_joules(result)) {
    own["energy_joules_rough"] = *joules;
    if (m.output_tokens > 0)
      own["energy_joules_per_output_token_rough"] = *joules / static_cast<double>(m.output_tokens);
  }
  own["notes"] = result.notes;
  out["ridgeline"] = own;
  return out;
}

}  // namespace ridgeline::sim
