#include "whatif/step_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.hpp"
#include "sim/step_model.hpp"

namespace ridgeline::whatif {
namespace {

class Shaping : public timeline::SpanVisitor {
 public:
  Shaping(const StepHints& hints, timeline::SpanVisitor& next) : hints_(hints), next_(next) {}
  void on_step(const timeline::StepSpan& step) override {
    timeline::StepSpan shaped = step;
    if (hints_.shape && !batch_is_known(step)) {
      const workloads::StepShape& shape = *hints_.shape;
      shaped.decode_sequences = shape.decode_sequences;
      shaped.decode_context = shape.decode_context;
      shaped.prefill_sequences = shape.prefill_sequences;
      shaped.prefill_tokens = shape.prefill_tokens;
      shaped.prefill_context = shape.prefill_context;
      shaped.prefill_qk = static_cast<double>(shape.prefill_qk);
      shaped.prefill_qq = static_cast<double>(shape.prefill_qq);
    }
    if (shaped.decode_context == 0)
      shaped.decode_context = shaped.decode_sequences * hints_.context;
    next_.on_step(shaped);
  }
  void on_kernel(const timeline::KernelSpan& kernel) override { next_.on_kernel(kernel); }
  void on_runtime(const timeline::RuntimeSpan& call) override { next_.on_runtime(call); }
  void on_counters(const timeline::CounterSample& sample) override { next_.on_counters(sample); }

 private:
  const StepHints& hints_;
  timeline::SpanVisitor& next_;
};

class RecordCollector : public timeline::SpanVisitor {
 public:
  void on_step(const timeline::StepSpan& step) override {
    if (batch_is_known(step)) records.push_back(record_of(step));
  }
  std::vector<sim::StepRecord> records;
};

}  // namespace

void ShapedTimeline::visit(timeline::Window window, timeline::SpanVisitor& visitor) const {
  Shaping shaping(hints_, visitor);
  base_.visit(window, shaping);
}

sim::StepRecord record_of(const timeline::StepSpan& step) {
  // What a record can hold; no server comes near it.
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  constexpr double kMostPairs = 9e18;
  for (const std::int64_t n : {step.decode_sequences, step.decode_context, step.prefill_sequences,
                               step.prefill_tokens, step.prefill_context}) {
    if (n < 0 || static_cast<double>(n) > kMost)
      throw core::ConfigError(
          fmt::format("a step of the trace: expected counts from 0 to {:.0f}, got {}", kMost, n));
  }
  if (!(step.prefill_qk >= 0.0 && step.prefill_qk <= kMostPairs && step.prefill_qq >= 0.0 &&
        step.prefill_qq <= kMostPairs))
    throw core::ConfigError("a step of the trace: expected sums of q k from 0 to 9e18");
  sim::StepRecord record;
  record.decode_sequences = static_cast<std::uint32_t>(step.decode_sequences);
  // Without contexts in the annotation, the least that can be: the token at hand.
  record.decode_context =
      static_cast<std::uint32_t>(std::max(step.decode_context, step.decode_sequences));
  record.prefill_sequences = static_cast<std::uint32_t>(
      std::max<std::int64_t>(step.prefill_sequences, step.prefill_tokens > 0 ? 1 : 0));
  record.prefill_tokens = static_cast<std::uint32_t>(step.prefill_tokens);
  record.prefill_context =
      static_cast<std::uint32_t>(std::max(step.prefill_context, step.prefill_tokens));
  record.prefill_qk = static_cast<std::int64_t>(step.prefill_qk);
  record.prefill_qq = static_cast<std::int64_t>(step.prefill_qq);
  record.sampled = record.decode_sequences + record.prefill_sequences;
  return record;
}

std::vector<sim::StepRecord> step_records(const timeline::SpanSource& source) {
  RecordCollector collector;
  source.visit({}, collector);
  return collector.records;
}

sim::RunResult replay_steps(const sim::Scenario& scenario, std::vector<sim::StepRecord> steps) {
  sim::RunResult result;
  result.scenario = scenario;
  sim::StepModel model(scenario);
  core::Instant now{};
  for (sim::StepRecord& step : steps) {
    step.start = now;
    step.ledger = model.run(model.prepare(step.shape())).ledger;
    now = step.end();
    result.steps.push_back(step);
    result.counters.emplace_back();
  }
  return result;
}

}  // namespace ridgeline::whatif
