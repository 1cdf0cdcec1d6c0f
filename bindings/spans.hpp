#pragma once
// The spans of a timeline's window as rows: steps, kernels, and calls of the runtime on the host.
// Names are numbers into a list.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings/records.hpp"
#include "timeline/name_index.hpp"
#include "timeline/span_source.hpp"

namespace ridgeline::bindings {

/// Whole nanoseconds, FLOP, bytes; -1 or 0 where the source does not know, as timeline/span.hpp has
/// it.
struct KernelRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t step = -1;
  std::int64_t correlation = 0;
  std::int64_t workgroups = 0;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  double issued_flop = 0.0;
  double useful_flop = 0.0;
  double hbm_read_bytes = 0.0;
  double hbm_written_bytes = 0.0;
  std::uint32_t name = 0;
  std::uint32_t role = 0;
  std::int32_t stream = 0;
  std::int32_t threads = 0;  // of a workgroup
  std::uint8_t kernel_class = 0;
  bool from_graph = false;
};

struct CallRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t step = -1;
  std::int64_t correlation = 0;
  std::uint32_t name = 0;
};

struct StepRow {
  std::int64_t index = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t decode_sequences = 0;
  std::int64_t decode_context = 0;
  std::int64_t prefill_sequences = 0;
  std::int64_t prefill_tokens = 0;
  std::int64_t prefill_context = 0;
};

class Spans : public std::enable_shared_from_this<Spans> {
 public:
  /// Of every step that begins in the window.
  [[nodiscard]] static std::shared_ptr<Spans> of(const timeline::SpanSource& source,
                                                 timeline::Window window);

  [[nodiscard]] Records kernels() const;
  [[nodiscard]] Records calls() const;
  [[nodiscard]] Records steps() const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  friend class Collector;
  std::vector<KernelRow> kernels_;
  std::vector<CallRow> calls_;
  std::vector<StepRow> steps_;
  timeline::NameIndex names_;
};

}  // namespace ridgeline::bindings
