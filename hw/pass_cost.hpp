#pragma once
// Kernels that pass tensors through and compute next to nothing: norms, activations, rotary
// embedding, casts, cache writes.
//
//     t = fixed + max(w s, hot / min(cache, w b) + cold / min(hbm, w b))
//
// w workgroups, one a row, started s apart, each of which pulls b; hot is what of the kernel's
// tensors still lies in the last-level cache, up to `resident` of it, cold is the rest. Where
// fitted shares make the cache the slower of the two (elementwise on H100, by 4 %), it is as fast
// as HBM: a larger cache slows no kernel. With constants of a machine the fixed time is part of
// every such kernel; without, hw/kernel_cost.hpp prices them by HBM alone.

#include "core/units.hpp"
#include "hw/memory_spec.hpp"
#include "hw/pass_spec.hpp"

namespace ridgeline::hw {

struct PassTime {
  core::Seconds fixed{};
  core::Seconds memory{};  // without it
  double hot = 0.0;        // share of the activations that HBM did not move
};

/// `activations` may lie in the cache, `streamed` never does.
[[nodiscard]] PassTime pass_time(core::Bytes activations, core::Bytes streamed, double rows,
                                 const PassSpec& spec, const PassConstants& constants,
                                 const HbmSpec& hbm, const CacheSpec& cache);

}  // namespace ridgeline::hw
