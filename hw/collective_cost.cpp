#include "hw/collective_cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace ridgeline::hw {
namespace {

/// What an algorithm asks of the links.
struct Plan {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::two_shot;
  double steps = 1.0;
  double link_share = 1.0;  // bytes over the busiest link one way / bytes of the message
};

/// One of the two steps of two_shot: everybody sends a share of 1 / n to everybody.
double share_to_everybody(Topology topology, double n) {
  return topology == Topology::full_mesh ? 1.0 / n : (n - 1.0) / n;
}

Plan plan_of(CollectiveKind kind, CollectiveAlgorithm algorithm, Topology topology, double n) {
  const bool mesh = topology == Topology::full_mesh;
  const double share = share_to_everybody(topology, n);
  switch (kind) {
    case CollectiveKind::all_reduce:
      if (algorithm == CollectiveAlgorithm::one_shot) return {algorithm, 1.0, mesh ? 1.0 : n - 1.0};
      if (algorithm == CollectiveAlgorithm::in_switch) return {algorithm, 2.0, 1.0};
      return {CollectiveAlgorithm::two_shot, 2.0, 2.0 * share};
    case CollectiveKind::broadcast:
      if (algorithm == CollectiveAlgorithm::one_shot) return {algorithm, 1.0, mesh ? 1.0 : n - 1.0};
      if (algorithm == CollectiveAlgorithm::in_switch) return {algorithm, 1.0, 1.0};
      return {CollectiveAlgorithm::two_shot, 2.0, mesh ? 2.0 / n : 2.0 * (n - 1.0) / n};
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      return {algorithm, 1.0, share};
    case CollectiveKind::send:
      return {algorithm, 1.0, 1.0};
  }
  return {};
}

CollectiveCost cost_with(const Plan& plan, const CollectiveQuery& query, const NodeSpec& node,
                         const CollectiveLibrary& library) {
  const double n = static_cast<double>(query.gpus);
  const bool packed = query.codec != WireCodec::none;
  const core::Bytes carried = query.bytes * wire_ratio(query.codec);

  CollectiveCost cost;
  cost.algorithm = plan.algorithm;
  cost.link_bytes = carried * plan.link_share;
  cost.floor = cost.link_bytes / node.rate;
  cost.latency = library.fixed + library.per_step * plan.steps + library.per_peer * (n - 1.0);
  if (packed) cost.latency += library.codec_fixed;
  const core::Bytes fill =
      std::min(cost.link_bytes * library.fill_share, library.fill_piece * (plan.steps * (n - 1.0)));
  cost.wire = (cost.link_bytes + fill) / (node.rate * library.link_efficiency);
  const core::BytesPerSecond through = packed ? library.codec_rate : library.local_rate;
  if (through.value() > 0.0) cost.local = carried / through;
  cost.time =
      cost.latency + (query.gpus == 2 ? std::max(cost.wire, cost.local) : cost.wire + cost.local);
  return cost;
}

}  // namespace

CollectiveCost cost_of(const CollectiveQuery& query, const NodeSpec& node,
                       const CollectiveLibrary& library) {
  if (query.gpus < 1 || query.gpus > node.gpus || !(query.bytes.value() >= 0.0))
    throw core::InvariantError("a collective needs 1 to as many GPUs as the node has, and bytes");
  if (query.gpus == 1) return {};
  CollectiveCost best;
  best.time = core::Seconds{INFINITY};
  for (const CollectiveAlgorithm algorithm : library.algorithms) {
    const Plan plan =
        plan_of(query.kind, algorithm, node.topology, static_cast<double>(query.gpus));
    const CollectiveCost cost = cost_with(plan, query, node, library);
    if (cost.time < best.time) best = cost;
  }
  best.spread = library.spread;
  const bool measured = query.kind == CollectiveKind::all_reduce &&
                        query.bytes >= library.anchored_from &&
                        query.bytes <= library.anchored_to && query.gpus <= library.anchored_gpus;
  best.extrapolated = !measured;
  return best;
}

}  // namespace ridgeline::hw
