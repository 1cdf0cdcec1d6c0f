#pragma once
// The experts of a mixture-of-experts layer: two grouped matrix products, gate and up (stage 1),
// then down (stage 2), over the tokens that each expert received.
//
//   active experts  A = E (1 - (1 - k / E)^tokens)   with routing even over E experts, unless given
//   row blocks        = A max(1, tokens k / (A m) + 1/2)       every expert pads its last block
//   waves             = max(1, workgroups / units + 1/2)       expected, block counts are random
//   compute           = waves x 2 m n (depth + extra_k) / (rate per unit x tile efficiency)
//                       + routed rows in and out / cache bandwidth
//   memory            = weights of active experts /
//                       min(stream x peak, workgroups x workgroup_bandwidth)
//   stage             = fixed + max(compute, memory), the best tile m x n of a small set
//
// `tile efficiency` is m n / (m n + tile_load (m + n)), as hw/compute_units.hpp has it. A fused
// shared expert counts as one more expert and one more of top-k. Left out: uneven routing (fewer
// distinct experts, larger blocks), sorting as a kernel of its own, and weights still in the cache
// from the step before.

#include <cstdint>
#include <optional>

#include "core/units.hpp"
#include "hw/gpu_spec.hpp"
#include "hw/moe_spec.hpp"

namespace ridgeline::hw {

struct MoeQuery {
  std::int64_t tokens = 0;
  std::int64_t model_dim = 0;
  std::int64_t inter_dim = 0;  // on this GPU
  std::int64_t experts = 0;    // on this GPU
  std::int64_t topk = 0;
  bool gated = true;                 // gate and up, or up alone
  core::Bytes weight_element{};      // bytes of a weight
  core::Bytes activation_element{};  // bytes of an activation as it goes into a product
  Dtype math = Dtype::bf16;          // whose matrix rate the products run at
  std::optional<double> active;      // distinct experts that receive a token, where known
};

struct MoeStage {
  core::Seconds compute{};  // each of the two contains the fixed time
  core::Seconds memory{};
  core::Seconds duration{};  // the longer
  core::Flop issued{};       // padded to tiles
  core::Flop useful{};
  core::Bytes hbm{};  // weights of active experts, and rows too many for the cache
  std::int64_t tile_rows = 0;
  std::int64_t tile_columns = 0;
  double workgroups = 0.0;
};

struct MoeCost {
  MoeStage gate_up;
  MoeStage down;
  double active = 0.0;       // distinct experts
  double spread = 0.0;       // standard deviation of log(predicted / measured) of the sum
  bool extrapolated = true;  // beyond the token counts that were measured

  [[nodiscard]] core::Seconds duration() const { return gate_up.duration + down.duration; }
};

/// Experts that receive at least one of the tokens, expected, when every token picks `topk` of
/// `experts` evenly.
[[nodiscard]] double expected_active_experts(std::int64_t tokens, std::int64_t experts,
                                             std::int64_t topk);

/// A pure function of its arguments. InvariantError for a query without tokens, experts or sizes,
/// or a dtype that the machine has no matrix rate for.
[[nodiscard]] MoeCost cost_of(const MoeQuery& query, const GpuSpec& gpu, const MoeSpec& spec);

}  // namespace ridgeline::hw
