#pragma once
// What a recorded timeline does not say, from the model: which linear layer each matrix product is,
// and the bytes and FLOP of every kernel. A recording has names and times; the step's annotation
// has the batch; with the model's dimensions the rest follows.
//
// Attention kernels mark the layers. Between two of them stand the same few matrix products in the
// same order in every dense decoder: output projection, feed-forward, then queries, keys and values
// of the next layer. How many there are says which are fused. Steps in which that pattern is not
// found, or whose batch is not known, stay as they were.

#include <cstdint>
#include <string>
#include <vector>

#include "hw/gpu_spec.hpp"
#include "timeline/span_source.hpp"
#include "workloads/model_spec.hpp"

namespace ridgeline::diagnosis {

class AttributedTimeline : public timeline::SpanSource {
 public:
  /// `base` must outlive this.
  AttributedTimeline(const timeline::SpanSource& base, const workloads::ModelSpec& model,
                     hw::Dtype kv_cache, const hw::GpuSpec& gpu)
      : base_(base), model_(model), kv_cache_(kv_cache), gpu_(gpu) {}

  [[nodiscard]] timeline::DeviceInfo device() const override { return base_.device(); }
  [[nodiscard]] timeline::Window extent() const override { return base_.extent(); }
  void visit(timeline::Window window, timeline::SpanVisitor& visitor) const override;

  struct Outcome {
    std::int64_t steps = 0;
    std::int64_t attributed = 0;
    std::string why_not;  // of the first step that was not: one sentence
  };
  /// How many steps of the window could be read that way.
  [[nodiscard]] Outcome outcome(timeline::Window window = {}) const;

 private:
  const timeline::SpanSource& base_;
  const workloads::ModelSpec& model_;
  hw::Dtype kv_cache_;
  hw::GpuSpec gpu_;
};

}  // namespace ridgeline::diagnosis
