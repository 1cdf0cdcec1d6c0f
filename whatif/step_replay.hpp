#pragma once
// The steps of a timeline, taken out of it and run again on a scenario's machine, one after the
// other. What a replay of fixed steps leaves out: queueing, admission, anything by which a faster
// server would have formed other batches.

#include <optional>
#include <vector>

#include "sim/run_result.hpp"
#include "timeline/span_source.hpp"
#include "workloads/step_shape.hpp"

namespace ridgeline::whatif {

/// What the user adds to steps whose annotations are missing or leave out the contexts.
struct StepHints {
  std::optional<workloads::StepShape> shape;  // of every step that no annotation describes
  std::int64_t context = 0;  // of each decoding sequence, where an annotation counts them alone
};

/// A timeline whose steps were given what their annotations leave out.
class ShapedTimeline : public timeline::SpanSource {
 public:
  /// `base` must outlive this.
  ShapedTimeline(const timeline::SpanSource& base, StepHints hints)
      : base_(base), hints_(std::move(hints)) {}

  [[nodiscard]] timeline::DeviceInfo device() const override { return base_.device(); }
  [[nodiscard]] timeline::Window extent() const override { return base_.extent(); }
  void visit(timeline::Window window, timeline::SpanVisitor& visitor) const override;

 private:
  const timeline::SpanSource& base_;
  StepHints hints_;
};

/// Whether it is known what a step holds.
[[nodiscard]] inline bool batch_is_known(const timeline::StepSpan& step) {
  return step.decode_sequences + step.prefill_tokens > 0;
}

/// The batch of a step, start and ledger empty.
[[nodiscard]] sim::StepRecord record_of(const timeline::StepSpan& step);

/// The batches of all steps that are known.
[[nodiscard]] std::vector<sim::StepRecord> step_records(const timeline::SpanSource& source);

/// The same steps on the scenario's machine. A result without requests.
[[nodiscard]] sim::RunResult replay_steps(const sim::Scenario& scenario,
                                          std::vector<sim::StepRecord> steps);

}  // namespace ridgeline::whatif
