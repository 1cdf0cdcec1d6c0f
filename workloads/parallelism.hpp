#pragma once
// How one copy of a model is spread over GPUs, in vLLM's words.

#include <cstdint>

namespace ridgeline::workloads {

struct Parallelism {
  std::int64_t tensor = 1;    // GPUs that split every matrix; two all-reduces a layer
  std::int64_t pipeline = 1;  // stages that share out the layers, one after the other
  bool experts = false;       // whole experts on each of the tensor GPUs instead of slices of all

  bool operator==(const Parallelism&) const = default;

  [[nodiscard]] std::int64_t gpus() const { return tensor * pipeline; }
  [[nodiscard]] std::int64_t expert() const { return experts ? tensor : 1; }
};

}  // namespace ridgeline::workloads
