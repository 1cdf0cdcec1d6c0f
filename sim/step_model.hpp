#pragma once
// How long a step takes: the one place where host and device come together. The replica asks it
// while it serves, the timeline asks it again when somebody wants to see the kernels, and both get
// the same nanoseconds.
//
// With a draft model a step is the model's pass, the draft model's over the same tokens, and one
// more of it for every further draft, launched as the step is. Left out: the host's work between
// those passes, and that vLLM captures them piece by piece; contexts of the later passes count
// drafts that were wrong, and none that came after.

#include "hw/gpu.hpp"
#include "sim/scenario.hpp"
#include "workloads/lower_inference.hpp"
#include "workloads/lower_training.hpp"

namespace ridgeline::sim {

/// A step whose kernels are known but have not run: how they are launched, and what the host does
/// around them.
struct PreparedStep {
  hw::LaunchMode mode = hw::LaunchMode::eager;
  core::Nanoseconds host;         // work of the host outside launches
  core::Nanoseconds host_before;  // the part of it from the step's start to the first launch
};

struct StepTiming {
  hw::Execution execution;
  hw::Ledger ledger;  // host included

  [[nodiscard]] core::Nanoseconds duration() const { return ledger.total(); }
};

class StepModel {
 public:
  explicit StepModel(const Scenario& scenario);

  /// A forward pass of this shape, ready to run; how many tokens a decode computes the engine says.
  [[nodiscard]] PreparedStep prepare(const workloads::StepShape& sums);
  /// The scenario's training step.
  [[nodiscard]] PreparedStep prepare_training();

  /// Runs the step prepared last.
  [[nodiscard]] StepTiming run(const PreparedStep& step) {
    return account(gpu_.execute(program_, step.mode), step);
  }
  /// The same, with every kernel shown: `visit(work, cost, timing)`, times counted from the first
  /// launch.
  template <class Visit>
  StepTiming run(const PreparedStep& step, Visit&& visit) {
    return account(gpu_.execute(program_, step.mode, visit), step);
  }

  /// The kernels of the step prepared last.
  [[nodiscard]] const hw::KernelProgram& program() const { return program_; }

 private:
  void append_drafts(const SpeculativeConfig& speculation, const workloads::StepShape& shape,
                     std::int64_t rows, bool captured);
  [[nodiscard]] StepTiming account(const hw::Execution& execution, const PreparedStep& step) const;

  const Scenario& scenario_;
  hw::Gpu gpu_;
  hw::KernelProgram program_;
};

}  // namespace ridgeline::sim
