#pragma once
// How long an attention kernel takes.
//
// Forward and backward. A sequence of q new tokens is cut into ceil(q / rows) tiles a head. Tile i
// takes in the keys that its last row sees, in whole steps:
//
//     steps_i = ceil(keys_i / step),    tile_i = start + steps_i x rows x step x FLOP a pair / rate
//     a unit
//
// with 2 (d + d_v) FLOP a pair forward and 6 d + 4 d_v backward, where a step also adds its part of
// the query gradient to memory. Tiles go to compute units in
// waves. Equal tiles take ceil(tiles / units) times one; unequal ones their sum over the units, and
// some of the longest sticks out. A kernel that pairs a long with a short tile has equal ones.
// Where power sets the clock, idle units let the others run faster: makespan x busy^throttle.
//
// Decode. The query heads of a KV head share a workgroup; its keys are split over `splits`
// workgroups until the machine is full. Then
//
//     compute = fixed + waves x (start + steps x time of a step)
//     memory  = fixed + waves x start + max(bytes / bandwidth,
//                                           keys of the fullest workgroup / (pull x a unit's
//                                           share))
//
// Together (AttentionTogether): one kernel whose workgroups are the prefills' tiles, one tile for
// every query head of every decode, and the empty ones of a grid as long as the longest prefill.
// The query heads of a KV head read the same keys; HBM serves each of them anew once a head's keys
// outgrow the last cache, except those that run side by side.
//
// The simulator knows a step by sums over its sequences: costs are those of equal sequences with
// the same sums, exact when they are equal. Left out: pages longer than a step, dies out of step,
// clusters.
//
// Residuals by machine and phase are in configs/hw, beside the constants.

#include <cstdint>

#include "core/units.hpp"
#include "hw/attention_spec.hpp"
#include "hw/dtype.hpp"
#include "hw/gpu_spec.hpp"

namespace ridgeline::hw {

enum class AttentionPhase : std::uint8_t { prefill, decode, backward };

/// One attention kernel of a step; sums run over the step's sequences of this phase.
struct AttentionQuery {
  AttentionPhase phase = AttentionPhase::prefill;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 128;
  std::int64_t v_head_dim = 128;
  double sequences = 0.0;
  double new_tokens = 0.0;  // sum of q
  double qk = 0.0;          // sum of q k, k the context after the step
  double qq = 0.0;          // sum of q q
  double context = 0.0;     // sum of k
  double longest = 0.0;     // the largest k; 0 when unknown, which says that all are equal
  std::int64_t window = 0;  // keys that a token sees at most; 0 is all of them
  bool causal = true;
  bool kv_split = true;  // decode: whether the kernel can split a sequence's keys
  Dtype math = Dtype::bf16;
  core::Bytes kv_read{};         // cache bytes, always from HBM
  core::Bytes q_bytes{};         // activations read and written: in the last cache when they fit
  core::Bytes kv_activations{};  // k and v that come as activations instead (training)
  core::Bytes o_bytes{};
  // As the lowering counts them. The neutral physics prices `issued` and `workgroups` (0: enough to
  // fill the machine) as they are; no phase runs `useful` faster than the peak.
  core::Flop useful{};
  core::Flop issued{};
  double workgroups = 0.0;
};

/// What the software makes of the machine's kernels: 1 is the kernel that was measured.
struct AttentionEfficiency {
  double compute = 1.0;
  double bandwidth = 1.0;
};

struct AttentionCost {
  core::Seconds compute{};  // contains the kernel's fixed time, as `memory` does
  core::Seconds memory{};
  core::Seconds fixed{};
  core::Flop issued{};  // whole tiles
  core::Bytes hbm_read{};
  core::Bytes hbm_written{};
  double workgroups = 0.0;  // 0 when unknown (neutral physics)
  double splits = 1.0;      // of a sequence's keys
  double spread = 0.0;      // of ln(time); doubled outside what was measured. 0: nothing measured
  bool extrapolated = false;

  [[nodiscard]] core::Seconds time() const { return compute > memory ? compute : memory; }
};

/// Cost of one kernel. Never less than useful FLOP over the peak rate nor HBM bytes over the peak
/// bandwidth. InvariantError when the machine has no matrix rate for query.math.
[[nodiscard]] AttentionCost attention_cost(const AttentionQuery& query, const GpuSpec& gpu,
                                           const AttentionSpec& spec,
                                           const AttentionEfficiency& efficiency = {});

/// Cost of one kernel for the prefills and the decodes of a step; the machine must have
/// AttentionTogether constants (InvariantError).
[[nodiscard]] AttentionCost attention_cost_together(const AttentionQuery& prefill,
                                                    const AttentionQuery& decode,
                                                    const GpuSpec& gpu, const AttentionSpec& spec,
                                                    const AttentionEfficiency& efficiency = {});

}  // namespace ridgeline::hw
