#pragma once
// How long a collective among the GPUs of a node takes, and because of what.
//
//   latency = fixed + steps x per_step + (n - 1) x per_peer
//   wire    = (W + fill) / (rate x link_efficiency),
//             fill = min(fill_share x W, steps x (n - 1) x fill_piece)
//   local   = the tensor through the GPU's own memory, or packed bytes through the codec
//   time    = latency + wire + local;  with two GPUs latency + max(wire, local), since what
//             arrives is added while the rest still travels
//
// W is what the busiest link carries one way. An all-reduce of B bytes among n GPUs: on a mesh
// 2 B / n by two_shot and B by one_shot; through a switch 2 B (n - 1) / n and B (n - 1), and B when
// the switch adds. Gathers, scatters and all-to-alls move half of two_shot's, in one step. The
// fastest algorithm that the library has is taken. Left out: GPUs that arrive late, compute units
// taken from other kernels, and the protocol switches that put steps of a factor of 1.5 into RCCL's
// times between 64 and 512 KB.

#include "core/units.hpp"
#include "hw/interconnect.hpp"

namespace ridgeline::hw {

enum class CollectiveKind : std::uint8_t {
  all_reduce,      // bytes: the tensor that every GPU holds
  reduce_scatter,  // bytes: the tensor that goes in on every GPU
  all_gather,      // bytes: the tensor that comes out on every GPU
  all_to_all,      // bytes: what one GPU holds for all GPUs, itself included (expert parallelism)
  broadcast,       // bytes: the tensor
  send,            // bytes: the tensor, from one GPU to another (pipeline parallelism)
};

struct CollectiveQuery {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::int64_t gpus = 1;  // that take part
  core::Bytes bytes{};
  WireCodec codec = WireCodec::none;  // of 16-bit tensors
};

struct CollectiveCost {
  core::Seconds time{};  // the sum of the next three, save that two GPUs overlap the last two
  core::Seconds latency{};
  core::Seconds wire{};
  core::Seconds local{};
  core::Seconds floor{};     // link_bytes at the links' peak: no time is below it
  core::Bytes link_bytes{};  // one way over the busiest link, packed
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::two_shot;
  double spread = 0.0;       // standard deviation of log(predicted / measured)
  bool extrapolated = true;  // beyond what was measured: an all-reduce, its size, its GPUs
};

/// A pure function of its arguments; nothing among one GPU. InvariantError for no GPUs, more GPUs
/// than the node has, or negative bytes.
[[nodiscard]] CollectiveCost cost_of(const CollectiveQuery& query, const NodeSpec& node,
                                     const CollectiveLibrary& library);

}  // namespace ridgeline::hw
