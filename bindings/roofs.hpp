#pragma once
// The roofs of a machine, as Python draws them: peaks, and what clocks and long streams leave of
// them. Left out: what a library's kernels reach below that (tiles, waves, fixed times).

#include <string>

#include "hw/gpu_spec.hpp"

namespace ridgeline::bindings {

/// JSON: "gpu", "hbm_bytes_per_second" and "flop_per_second" by dtype, each as [peak, sustained].
[[nodiscard]] std::string roofs_json(const hw::GpuSpec& gpu);

}  // namespace ridgeline::bindings
