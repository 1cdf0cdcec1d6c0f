#include "hw/gemm_cost.hpp"

#include <algorithm>
#include <cmath>

#include "hw/hbm.hpp"

namespace ridgeline::hw {
namespace {

/// The tile that a library uses when nobody tuned it for the shape at hand.
GemmTile default_tile(const std::vector<GemmTile>& tiles) { return tiles[tiles.size() / 2]; }

/// Calls `consider(tile, splits)` with every plan that the library has.
template <class Consider>
void for_each_plan(const std::vector<GemmTile>& tiles, std::int64_t max_splits, bool tuned,
                   Consider&& consider) {
  if (!tuned) {
    consider(default_tile(tiles), 1);
    return;
  }
  for (const GemmTile tile : tiles) {
    for (std::int64_t splits = 1; splits <= max_splits; splits *= 2) consider(tile, splits);
  }
}

/// (a^p + b^p)^(1/p), never below the larger.
double overlapped(double a, double b, double p) {
  const double longer = std::max(a, b);
  const double ratio = longer > 0.0 ? std::min(a, b) / longer : 0.0;
  if (p == 1.0) return longer * (1.0 + ratio);
  if (p == 2.0) return longer * std::sqrt(1.0 + ratio * ratio);
  return longer * std::pow(1.0 + std::pow(ratio, p), 1.0 / p);
}

/// Whether weights must be unpacked: stored in a byte or less, and in less than they multiply in.
bool narrow_weights(const GemmQuery& query) {
  return bytes_of(query.weights) < std::min(bytes_of(query.math), bytes_of(Dtype::fp16));
}

/// Time to load a tile's rows and columns, all waves, at what one workgroup keeps in flight.
core::Seconds load_time(const GemmQuery& query, const TilePlan& plan, const GpuSpec& gpu,
                        const GemmFamily& family) {
  const double element = bytes_of(query.math).value();
  const double weight = narrow_weights(query) ? bytes_of(query.weights).value() : element;
  const double edges =
      static_cast<double>(plan.tile.m) * element + static_cast<double>(plan.tile.n) * weight;
  const double depth =
      static_cast<double>(query.shape.k) / static_cast<double>(plan.splits) + family.extra_k;
  const double waves = std::ceil(plan.workgroups / static_cast<double>(gpu.compute_units));
  return core::Bytes{waves * std::max(edges, family.step_edge * element) * depth} /
         family.workgroup_bandwidth;
}

GemmCost plain_cost(const GemmQuery& query, const GpuSpec& gpu) {
  const core::FlopPerSecond rate =
      gpu.peak[query.math] * (gpu.sustained[query.math] * query.compute_efficiency);
  TileConstants constants{gpu.gemm.tile_load, gpu.gemm.extra_k, gpu.gemm.split_cost};
  if (narrow_weights(query)) constants.dequantize = GemmFamily{}.dequantize;
  GemmCost best;
  core::Seconds best_time{INFINITY};
  for_each_plan(gpu.gemm.tiles, gpu.gemm.max_splits, query.tuned,
                [&](GemmTile tile, std::int64_t splits) {
                  const TilePlan plan = plan_with(query.shape, gpu, tile, splits, rate, constants);
                  const core::Seconds memory =
                      std::max(time_to_move(query.hbm, gpu.hbm, query.bandwidth_efficiency,
                                            filled(plan.workgroups, gpu)),
                               query.cached / gpu.cache.bandwidth);
                  const core::Seconds time = std::max(plan.compute, memory);
                  if (time < best_time) {
                    best.compute = plan.compute;
                    best.memory = memory;
                    best.plan = plan;
                    best_time = time;
                  }
                });
  best.spread = kUnmeasuredSpread;
  best.extrapolated = true;
  return best;
}

}  // namespace

GemmQuery cold_gemm(const GemmShape& shape, Dtype math, std::string_view flavour,
                    bool weights_cached) {
  const auto elements = [&](std::int64_t a, std::int64_t b) {
    return static_cast<double>(shape.batch) * static_cast<double>(a) * static_cast<double>(b);
  };
  const core::Bytes weights = bytes_of(math) * elements(shape.n, shape.k);
  GemmQuery query;
  query.shape = shape;
  query.math = query.weights = math;
  query.flavour = flavour;
  query.hbm = bytes_of(math) * elements(shape.m, shape.k) +
              bytes_of(Dtype::bf16) * elements(shape.m, shape.n);
  (weights_cached ? query.cached : query.hbm) += weights;
  return query;
}

GemmCost gemm_cost(const GemmQuery& query, const GpuSpec& gpu) {
  const GemmFamily* family = gpu.gemm.family(query.math, query.flavour);
  return family == nullptr ? plain_cost(query, gpu) : gemm_cost(query, gpu, *family);
}

GemmCost gemm_cost(const GemmQuery& query, const GpuSpec& gpu, const GemmFamily& family) {
  const core::FlopPerSecond rate =
      gpu.peak[query.math] *
      (std::min(1.0, gpu.sustained[query.math] * family.rate) * query.compute_efficiency);
  TileConstants constants{family.tile_load, family.extra_k, family.split_cost};
  if (narrow_weights(query)) constants.dequantize = family.dequantize;
  const core::Seconds streamed =
      std::max(query.hbm / (gpu.hbm.bandwidth * (gpu.hbm.sustained * query.bandwidth_efficiency)),
               query.cached / gpu.cache.bandwidth);

  GemmCost best;
  core::Seconds best_time{INFINITY};
  for_each_plan(
      family.tiles, family.max_splits, query.tuned, [&](GemmTile tile, std::int64_t splits) {
        const TilePlan plan = plan_with(query.shape, gpu, tile, splits, rate, constants);
        const core::Seconds memory = load_time(query, plan, gpu, family) + streamed;
        const core::Seconds time{overlapped(plan.compute.value(), memory.value(), family.overlap)};
        if (time < best_time) {
          best.compute = plan.compute;
          best.memory = memory;
          best.plan = plan;
          best_time = time;
        }
      });

  const bool computes = best.compute >= best.memory;
  best.spread = best_time < family.fixed ? family.spread.floor
                : computes               ? family.spread.compute
                                         : family.spread.memory;
  best.extrapolated = gpu.borrowed || family.borrowed || !family.m.contains(query.shape.m) ||
                      !family.n.contains(query.shape.n) || !family.k.contains(query.shape.k);
  (computes ? best.compute : best.memory) = best_time;
  best.fixed = family.fixed;
  best.compute += family.fixed;
  best.memory += family.fixed;
  return best;
}

double spread(const GemmQuery& query, const GpuSpec& gpu) { return gemm_cost(query, gpu).spread; }

GemmFamily with_constants(GemmFamily family, std::span<const double, kGemmConstants> constants) {
  family.rate = constants[0];
  family.extra_k = constants[1];
  family.workgroup_bandwidth = core::BytesPerSecond{constants[2]};
  family.fixed = core::Seconds{constants[3]};
  family.split_cost = core::Seconds{constants[4]};
  family.step_edge = constants[5];
  return family;
}

}  // namespace ridgeline::hw
