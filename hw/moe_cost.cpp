#include "hw/moe_cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "hw/hbm.hpp"

namespace ridgeline::hw {
namespace {

/// One grouped product: routed rows spread over active experts, each with its own depth x outputs
/// matrix.
struct GroupedProduct {
  double rows = 0.0;
  double active = 0.0;
  double outputs = 0.0;
  double depth = 0.0;
  core::Bytes output_element{};
  core::Bytes weight_element{};
  core::Bytes activation_element{};
  Dtype math = Dtype::bf16;
};

MoeStage stage_with(const GroupedProduct& product, const GpuSpec& gpu, const MoeSpec& spec,
                    std::int64_t tile_rows, std::int64_t tile_columns) {
  const double m = static_cast<double>(tile_rows);
  const double n = static_cast<double>(tile_columns);
  const double units = static_cast<double>(gpu.compute_units);
  const double blocks = product.active * std::max(1.0, product.rows / (product.active * m) + 0.5);

  MoeStage stage;
  stage.tile_rows = tile_rows;
  stage.tile_columns = tile_columns;
  stage.workgroups = blocks * std::ceil(product.outputs / n);
  stage.issued = core::Flop{2.0 * stage.workgroups * m * n * product.depth};
  stage.useful = core::Flop{2.0 * product.rows * product.outputs * product.depth};
  const double waves = std::max(1.0, stage.workgroups / units + 0.5);
  const double tile_efficiency = m * n / (m * n + spec.tile_load * (m + n));
  const core::FlopPerSecond unit_rate =
      gpu.peak[product.math] * (spec.rate[product.math] * tile_efficiency / units);
  const core::Bytes rows_in = product.activation_element * (product.rows * product.depth);
  const core::Bytes rows_out = product.output_element * (product.rows * product.outputs);
  const core::Seconds compute =
      core::Flop{waves * 2.0 * m * n * (product.depth + spec.extra_k)} / unit_rate +
      (rows_in + rows_out) / gpu.cache.bandwidth;

  const core::Bytes weights =
      product.weight_element * (product.active * product.outputs * product.depth);
  core::BytesPerSecond bandwidth = gpu.hbm.bandwidth * spec.stream;
  if (spec.workgroup_bandwidth.value() > 0.0)
    bandwidth = std::min(bandwidth, spec.workgroup_bandwidth * stage.workgroups);
  stage.hbm = weights;
  for (const core::Bytes rows : {rows_in, rows_out}) {
    if (!stays_in_cache(rows, gpu.cache)) stage.hbm += rows;
  }
  // Rows that miss the cache stream beside the weights; they cannot beat the peak.
  const core::Seconds memory = std::max(weights / bandwidth, stage.hbm / gpu.hbm.bandwidth);

  stage.compute = spec.fixed + compute;
  stage.memory = spec.fixed + memory;
  stage.duration = std::max(stage.compute, stage.memory);
  return stage;
}

MoeStage best_stage(const GroupedProduct& product, const GpuSpec& gpu, const MoeSpec& spec) {
  MoeStage best;
  best.duration = core::Seconds{INFINITY};
  for (const std::int64_t rows : spec.rows) {
    for (const std::int64_t columns : spec.columns) {
      const MoeStage stage = stage_with(product, gpu, spec, rows, columns);
      if (stage.duration < best.duration) best = stage;
    }
  }
  return best;
}

std::vector<std::int64_t> tile_sides(const core::Reader& in, std::string_view key) {
  const std::vector<std::int64_t> sides = in.integers(key, 1, 4096);
  in.require(!sides.empty(), key, "at least one whole number");
  return sides;
}

}  // namespace

MoeSpec read_moe_spec(const core::Reader& in) {
  MoeSpec spec;
  if (in.has("rate")) {
    const core::Reader rates = in.child("rate");
    for (const auto& choice : dtype_names()) {
      if (rates.has(choice.name)) spec.rate[choice.value] = rates.fraction(choice.name, 0.01, 1.0);
    }
  }
  const auto constant = [&](std::string_view key) {
    const double value = in.get<double>(key, 0.0);
    in.require(value >= 0.0 && value < 1e6, key, "a number from 0 to 1e6");
    return value;
  };
  spec.tile_load = constant("tile_load");
  spec.extra_k = constant("extra_k");
  if (in.has("stream")) spec.stream = in.fraction("stream", 0.01, 1.0);
  if (in.has("workgroup_bandwidth")) {
    spec.workgroup_bandwidth = in.get<core::BytesPerSecond>("workgroup_bandwidth");
    in.require(spec.workgroup_bandwidth >= core::BytesPerSecond{1e6}, "workgroup_bandwidth",
               "a rate of at least 1 MB/s");
  }
  spec.fixed = in.get<core::Seconds>("fixed", core::Seconds{});
  in.require(spec.fixed.value() >= 0.0 && spec.fixed <= core::Seconds{1.0}, "fixed",
             "a time from 0 to 1 s");
  if (in.has("rows")) spec.rows = tile_sides(in, "rows");
  if (in.has("columns")) spec.columns = tile_sides(in, "columns");
  if (in.has("spread")) spec.spread = in.fraction("spread", 0.0, 3.0);
  if (in.has("anchored_to")) spec.anchored_to = in.integer("anchored_to", 1, 1000000000);
  if (in.has("source")) static_cast<void>(in.raw("source"));
  return spec;
}

double expected_active_experts(std::int64_t tokens, std::int64_t experts, std::int64_t topk) {
  const double e = static_cast<double>(experts);
  const double missed = 1.0 - static_cast<double>(topk) / e;
  return e * (1.0 - std::pow(missed, static_cast<double>(tokens)));
}

MoeCost cost_of(const MoeQuery& query, const GpuSpec& gpu, const MoeSpec& spec) {
  if (query.tokens < 1 || query.model_dim < 1 || query.inter_dim < 1 || query.topk < 1 ||
      query.experts < query.topk)
    throw core::InvariantError("a mixture of experts needs tokens, sizes and topk of experts");
  if (!gpu.supports(query.math))
    throw core::InvariantError(gpu.name + " has no matrix rate for " +
                               std::string(name_of(query.math)));
  MoeCost cost;
  cost.active =
      query.active.value_or(expected_active_experts(query.tokens, query.experts, query.topk));
  GroupedProduct product;
  product.rows = static_cast<double>(query.tokens) * static_cast<double>(query.topk);
  product.active = cost.active;
  product.weight_element = query.weight_element;
  product.activation_element = query.activation_element;
  product.math = query.math;

  product.outputs = static_cast<double>(query.inter_dim) * (query.gated ? 2.0 : 1.0);
  product.depth = static_cast<double>(query.model_dim);
  product.output_element = query.activation_element;
  cost.gate_up = best_stage(product, gpu, spec);

  product.outputs = static_cast<double>(query.model_dim);
  product.depth = static_cast<double>(query.inter_dim);
  product.output_element = core::Bytes{2.0};  // sums of experts are kept in 16 bits
  cost.down = best_stage(product, gpu, spec);

  cost.spread = spec.anchored_to > 0 ? spec.spread : kUnmeasuredSpread;
  cost.extrapolated = query.tokens > spec.anchored_to;
  return cost;
}

}  // namespace ridgeline::hw
