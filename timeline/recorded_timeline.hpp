#pragma once
// A recording seen as any other timeline, so that summaries and the diagnosis work on it: the steps
// found in it, and in each the events of its busiest device. Copies and sets come as kernels of
// class copy: the device is busy with them. FLOP and bytes are set where operators' shapes or a
// kernel's own counters give them.

#include <unordered_map>
#include <vector>

#include "timeline/classify.hpp"
#include "timeline/gemm_shapes.hpp"
#include "timeline/span_source.hpp"
#include "timeline/steps.hpp"

namespace ridgeline::timeline {

class RecordedTimeline final : public SpanSource {
 public:
  /// Keeps references to both: they must outlive it.
  RecordedTimeline(const Recording& recording, const Steps& steps);

  [[nodiscard]] DeviceInfo device() const override;
  [[nodiscard]] Window extent() const override;
  void visit(Window window, SpanVisitor& visitor) const override;

 private:
  /// What a kernel's own counters amount to.
  struct Counted {
    core::Flop issued{};
    core::Bytes read{};
    core::Bytes written{};
  };
  void gather_counters();
  [[nodiscard]] KernelSpan kernel(std::size_t event, std::int64_t step) const;

  const Recording& recording_;
  const Steps& steps_;
  std::int32_t device_;
  EventClasses classes_;
  GemmShapes shapes_;
  std::vector<std::vector<std::size_t>> events_;  // by step
  std::vector<std::vector<std::size_t>> calls_;   // by step, those that launched its events
  std::vector<CounterSample> samples_;            // of the server, by time
  std::unordered_map<std::int64_t, Counted> counted_;
};

}  // namespace ridgeline::timeline
