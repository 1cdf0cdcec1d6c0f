#pragma once
// A timeline written down by hand, for tests: steps with everything that belongs to them, given to
// a visitor as the contract says.

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "timeline/span_source.hpp"

namespace ridgeline::timeline {

struct MadeUpStep {
  StepSpan step;
  std::vector<KernelSpan> kernels;
  std::vector<RuntimeSpan> calls;
  std::vector<CounterSample> counters;
};

class MadeUpTimeline final : public SpanSource {
 public:
  explicit MadeUpTimeline(std::vector<MadeUpStep> steps, std::string architecture = "gfx942")
      : steps_(std::move(steps)), architecture_(std::move(architecture)) {}

  [[nodiscard]] DeviceInfo device() const override {
    return {"AMD Instinct MI300X", architecture_, 304, 64, core::Bytes{206141652992.0}};
  }
  [[nodiscard]] Window extent() const override {
    return steps_.empty() ? Window{} : Window{steps_.front().step.start, steps_.back().step.end()};
  }
  void visit(Window window, SpanVisitor& visitor) const override {
    for (const MadeUpStep& s : steps_) {
      if (!window.holds(s.step.start)) continue;
      visitor.on_step(s.step);
      for (const KernelSpan& k : s.kernels) visitor.on_kernel(k);
      for (const RuntimeSpan& r : s.calls) visitor.on_runtime(r);
      for (const CounterSample& c : s.counters) visitor.on_counters(c);
    }
  }

 private:
  std::vector<MadeUpStep> steps_;
  std::string architecture_;
};

/// A kernel with start and length in ns.
inline KernelSpan kernel_at(std::int64_t start, std::int64_t length, std::string_view name,
                            KernelClass cls = KernelClass::other) {
  KernelSpan k;
  k.start = core::Instant{start};
  k.duration = core::Nanoseconds{length};
  k.name = name;
  k.cls = cls;
  return k;
}

inline StepSpan step_at(std::int64_t index, std::int64_t start, std::int64_t length) {
  StepSpan s;
  s.index = index;
  s.start = core::Instant{start};
  s.duration = core::Nanoseconds{length};
  return s;
}

}  // namespace ridgeline::timeline
