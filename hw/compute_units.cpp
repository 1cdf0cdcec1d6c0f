#include "hw/compute_units.hpp"

#include <cmath>

namespace ridgeline::hw {

TilePlan plan_with(const GemmShape& shape, const GpuSpec& gpu, GemmSpec::Tile tile,
                   std::int64_t splits, core::FlopPerSecond rate, const TileConstants& constants) {
  const auto ceil_div = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>((a + b - 1) / b);
  };
  const double m = static_cast<double>(tile.m);
  const double n = static_cast<double>(tile.n);
  const double k = static_cast<double>(shape.k);
  const double tiles =
      ceil_div(shape.m, tile.m) * ceil_div(shape.n, tile.n) * static_cast<double>(shape.batch);
  const double units = static_cast<double>(gpu.compute_units);

  TilePlan plan;
  plan.tile = tile;
  plan.splits = splits;
  plan.workgroups = tiles * static_cast<double>(splits);
  plan.issued = core::Flop{2.0 * tiles * m * n * k};
  const double waves = std::ceil(plan.workgroups / units);
  const double tile_efficiency =
      m * n / (m * n + constants.tile_load * (m + n) + constants.dequantize * n);
  const core::Flop per_tile{2.0 * m * n * (k / static_cast<double>(splits) + constants.extra_k)};
  plan.compute = waves * (per_tile / (rate / units * tile_efficiency));
  if (splits > 1) {
    const core::Bytes partials{4.0 * static_cast<double>(splits) * static_cast<double>(shape.m) *
                               static_cast<double>(shape.n) * static_cast<double>(shape.batch)};
    plan.compute +=
        constants.split_cost +
        partials / gpu.cache.bandwidth;  // fp32 partial sums, written and added in cache
  }
  return plan;
}

TilePlan plan_with(const GemmShape& shape, const GpuSpec& gpu, GemmSpec::Tile tile,
                   std::int64_t splits, core::FlopPerSecond rate) {
  return plan_with(shape, gpu, tile, splits, rate,
                   {gpu.gemm.tile_load, gpu.gemm.extra_k, gpu.gemm.split_cost});
}

}  // namespace ridgeline::hw
