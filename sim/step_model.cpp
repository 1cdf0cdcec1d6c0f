#include "sim/step_model.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace ridgeline::sim {

StepModel::StepModel(const Scenario& scenario)
    : scenario_(scenario), gpu_(scenario.gpu, scenario.stack.efficiency, scenario.stack.launch) {}

PreparedStep StepModel::prepare(const workloads::StepShape& sums) {
  workloads::StepShape shape = sums;
  shape.tokens_per_decode = scenario_.engine.tokens_per_decode();
  PreparedStep step;
  std::int64_t rows = shape.tokens();
  bool captured = false;
  // Pure decode steps are captured whole; past the largest size they run eagerly.
  if (scenario_.stack.graphs && !scenario_.engine.enforce_eager) {
    const bool decode = shape.prefill_sequences == 0;
    const auto size = scenario_.engine.graph_size_for(rows);
    if (size && (decode || scenario_.stack.piecewise_graphs)) {
      if (decode) step.mode = hw::LaunchMode::graph;
      rows = *size;
      captured = true;
    }
  }
  const std::int64_t at_once =
      shape.prefill_sequences == 0 ? scenario_.engine.num_scheduler_steps : 1;
  step.host =
      scenario_.stack.host.time_for(shape.decode_sequences + shape.prefill_sequences, at_once);
  // Scheduling and inputs come before the kernels, sampling and detokenizing after. An asynchronous
  // host does both beside them.
  if (!scenario_.engine.async_scheduling) step.host_before = {step.host.count / 2};
  workloads::lower_inference(scenario_.model, scenario_.stack.lowering,
                             scenario_.engine.parallelism, scenario_.engine.kv_cache_dtype, shape,
                             rows, program_);
  const auto& speculation = scenario_.engine.speculative_config;
  if (speculation && speculation->draft) append_drafts(*speculation, shape, rows, captured);
  return step;
}

void StepModel::append_drafts(const SpeculativeConfig& speculation,
                              const workloads::StepShape& shape, std::int64_t rows, bool captured) {
  const auto pass = [&](const workloads::StepShape& one, std::int64_t padded) {
    workloads::append_inference(*speculation.draft, scenario_.stack.lowering,
                                scenario_.engine.parallelism, scenario_.engine.kv_cache_dtype, one,
                                padded, program_);
  };
  workloads::StepShape first = shape;
  first.sampled = shape.decode_sequences + shape.prefill_sequences;
  pass(first, rows);

  workloads::StepShape next;
  next.decode_sequences = next.sampled = first.sampled;
  next.decode_context = shape.decode_context + shape.prefill_context;
  next.decode_longest = shape.decode_longest;
  const std::int64_t size =
      captured ? scenario_.engine.graph_size_for(next.tokens()).value_or(next.tokens())
               : next.tokens();
  for (std::int64_t i = 1; i < speculation.num_speculative_tokens; ++i) pass(next, size);
}

PreparedStep StepModel::prepare_training() {
  const auto* training = std::get_if<workloads::TrainingWorkload>(&scenario_.workload);
  if (training == nullptr) throw core::InvariantError("no training workload in this scenario");
  workloads::lower_training(scenario_.model, scenario_.stack.lowering, training->microbatch,
                            training->sequence, program_);
  PreparedStep step;
  step.host = scenario_.stack.host.step;
  return step;
}

StepTiming StepModel::account(const hw::Execution& execution, const PreparedStep& step) const {
  StepTiming timing{execution, execution.ledger};
  if (scenario_.engine.async_scheduling) {
    // Only what does not fit beside the device's work shows.
    const core::Nanoseconds host_path = execution.host_free + step.host;
    timing.ledger[hw::Cause::host] =
        std::max(core::Nanoseconds{}, host_path - execution.device_end) +
        scenario_.stack.host.exposed;
  } else {
    timing.ledger[hw::Cause::host] = step.host;
  }
  return timing;
}

}  // namespace ridgeline::sim
