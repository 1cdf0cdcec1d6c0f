// The fused experts of a mixture-of-experts layer.

#include <algorithm>

#include "fidelity/operation.hpp"
#include "hw/moe_cost.hpp"

namespace ridgeline::fidelity {
namespace {

Prediction predict_moe(const Row& row, Machines& machines) {
  const hw::GpuSpec& gpu = machine_of(row, machines);
  const NumberFormat activations = number_format(row.text("act_dtype"));
  const NumberFormat weights =
      row.has("w_dtype") ? number_format(row.text("w_dtype")) : activations;
  hw::MoeQuery query;
  query.tokens = row.count("tokens");
  query.model_dim = row.count("model_dim");
  query.inter_dim = row.count("inter_dim_per_gpu");
  query.experts = row.count("experts");
  query.topk = row.count("topk");
  if (query.topk > query.experts) row.fail("topk", "at most the number of experts");
  query.math = activations.dtype;
  if (!gpu.supports(query.math))
    row.fail("act_dtype", "a number format that " + gpu.name + " multiplies");
  query.weight_element = hw::bytes_of(weights.dtype);
  query.activation_element = hw::bytes_of(activations.dtype);
  if (row.has("activated_experts")) {  // an average over layers may be no whole number
    query.active = row.number("activated_experts", 1.0);
    if (*query.active > static_cast<double>(query.experts))
      row.fail("activated_experts", "at most the number of experts");
  }
  const hw::MoeCost cost = hw::cost_of(query, gpu, gpu.moe);

  Prediction p;
  p.seconds = cost.duration().value();
  p.spread = cost.spread;
  const core::Flop useful = cost.gate_up.useful + cost.down.useful;
  p.floor = std::max((useful / gpu.peak[query.math]).value(),
                     ((cost.gate_up.hbm + cost.down.hbm) / gpu.hbm.bandwidth).value());
  const core::Seconds compute = cost.gate_up.compute + cost.down.compute;
  const core::Seconds memory = cost.gate_up.memory + cost.down.memory;
  p.binds = compute > memory ? "compute" : "memory";
  if (!activations.sure) p.flags.emplace_back("dtype unknown, taken as bf16");
  if (cost.extrapolated || gpu.borrowed) p.flags.emplace_back("extrapolated");
  return p;
}

std::optional<double> measured_moe(const Row& row) {
  for (const char* column : {"total_us", "time_us"}) {
    if (const auto us = row.maybe(column)) return *us * 1e-6;
  }
  const auto first = row.maybe("stage1_us");
  const auto second = row.maybe("stage2_us");
  if (first && second) return (*first + *second) * 1e-6;
  return std::nullopt;
}

std::string group_of_moe(const Row& row) {
  return std::string(row.text("hw")) + " " + std::string(row.text("w_dtype"));
}

}  // namespace

const Operation kMoe{"moe",
                     "hw, tokens, model_dim, inter_dim_per_gpu, experts, topk, act_dtype [, "
                     "w_dtype, activated_experts]",
                     {"tokens", "model_dim", "inter_dim_per_gpu", "experts", "topk"},
                     predict_moe,
                     measured_moe,
                     group_of_moe,
                     [](const Row&, const hw::GpuSpec&) { return std::string("moe"); }};

}  // namespace ridgeline::fidelity
