#pragma once
// The one way to look at a timeline, whether it was recorded or simulated: visit the spans of a
// window in time order.

#include <string>

#include "timeline/span.hpp"

namespace ridgeline::timeline {

struct Window {
  core::Instant begin{0};
  core::Instant end = core::kNever;  // exclusive

  [[nodiscard]] bool holds(core::Instant t) const { return begin <= t && t < end; }
};

/// Receives spans. Steps come in time order; the kernels, calls and counters of a step come right
/// after it, each kind in the order of its start.
class SpanVisitor {
 public:
  virtual ~SpanVisitor() = default;
  virtual void on_step(const StepSpan&) {}
  virtual void on_kernel(const KernelSpan&) {}
  virtual void on_runtime(const RuntimeSpan&) {}
  virtual void on_counters(const CounterSample&) {}
};

struct DeviceInfo {
  std::string name;
  std::string architecture;
  std::int64_t compute_units = 0;
  std::int64_t wave_size = 64;
  core::Bytes memory{};
};

class SpanSource {
 public:
  virtual ~SpanSource() = default;
  [[nodiscard]] virtual DeviceInfo device() const = 0;
  /// Where the timeline begins and ends.
  [[nodiscard]] virtual Window extent() const = 0;
  /// Every step that starts in the window, whole, with everything in it.
  virtual void visit(Window window, SpanVisitor& visitor) const = 0;
};

}  // namespace ridgeline::timeline
