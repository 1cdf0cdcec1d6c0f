#pragma once
// A run as a profiler would have seen it. Nothing is stored: the kernels of a window are computed
// when somebody looks at it.

#include <cstddef>
#include <vector>

#include "sim/run_result.hpp"
#include "timeline/span_source.hpp"

namespace ridgeline::sim {

class RunTimeline : public timeline::SpanSource {
 public:
  /// All steps of `result`, which must outlive the timeline.
  explicit RunTimeline(const RunResult& result);
  /// Only the steps of these indices, ascending: a sample of a long run.
  RunTimeline(const RunResult& result, std::vector<std::size_t> steps)
      : result_(result), steps_(std::move(steps)) {}

  [[nodiscard]] timeline::DeviceInfo device() const override;
  [[nodiscard]] timeline::Window extent() const override;
  void visit(timeline::Window window, timeline::SpanVisitor& visitor) const override;

 private:
  const RunResult& result_;
  std::vector<std::size_t> steps_;
};

}  // namespace ridgeline::sim
