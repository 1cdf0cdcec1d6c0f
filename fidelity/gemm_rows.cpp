// Matrix multiplies: a row is M tokens by N outputs by K, perhaps a batch of them.

#include <algorithm>

#include "fidelity/operation.hpp"
#include "hw/gemm_cost.hpp"

namespace ridgeline::fidelity {
namespace {

hw::GemmShape shape_of(const Row& row) {
  return {row.count("M"), row.count("N"), row.count("K"),
          row.has("batch") ? row.count("batch") : 1};
}

std::string library_of(const Row& row) {
  return std::string(row.text("dtype")) + " " + std::string(row.text("lib"));
}

Prediction predict_gemm(const Row& row, Machines& machines) {
  const hw::GpuSpec& gpu = machine_of(row, machines);
  const NumberFormat format = number_format(row.text("dtype"));
  if (!gpu.supports(format.dtype))
    row.fail("dtype", "a number format that " + gpu.name + " multiplies");
  const hw::GemmShape shape = shape_of(row);
  const hw::GemmQuery query =
      hw::cold_gemm(shape, format.dtype, flavour_of(library_of(row), format.dtype, gpu.gemm));
  const hw::GemmCost cost = hw::gemm_cost(query, gpu);

  Prediction p;
  p.seconds = cost.total().value();
  p.spread = cost.spread;
  p.floor = std::max((shape.flop() / gpu.peak[format.dtype]).value(),
                     (query.hbm / gpu.hbm.bandwidth).value());
  p.binds = cost.compute > cost.memory ? "compute" : "memory";
  if (cost.fixed.value() > 0.5 * p.seconds) p.binds = "floor";
  if (!format.sure) p.flags.emplace_back("dtype unknown, taken as bf16");
  if (cost.extrapolated) p.flags.emplace_back("extrapolated");
  return p;
}

std::string constants_of_gemm(const Row& row, const hw::GpuSpec& gpu) {
  const hw::Dtype dtype = number_format(row.text("dtype")).dtype;
  const hw::GemmFamily* family =
      gpu.gemm.family(dtype, flavour_of(library_of(row), dtype, gpu.gemm));
  return family == nullptr ? "gemm" : "gemm.families." + family->name;
}

std::optional<double> measured_gemm(const Row& row) {
  if (!row.has("K")) return std::nullopt;  // another kind of operator in the same table
  for (const char* column : {"time_us", "median_us"}) {
    if (const auto us = row.maybe(column)) return *us * 1e-6;
  }
  // Tables of rates: useful FLOP over the rate.
  if (const auto tflops = row.maybe("tflops"); tflops && *tflops > 0.0)
    return shape_of(row).flop().value() / (*tflops * 1e12);
  return std::nullopt;
}

std::string group_of_gemm(const Row& row) {
  const std::string lib = row.has("lib") ? " " + std::string(row.text("lib")) : "";
  const std::string hw(row.has("gpu") ? row.text("gpu") : row.text("hw"));
  return hw + " " + std::string(row.text("dtype")) + lib;
}

}  // namespace

const Operation kGemm{"gemm",           "hw, M, N, K, dtype [, batch]",
                      {"M", "N", "K"},  predict_gemm,
                      measured_gemm,    group_of_gemm,
                      constants_of_gemm};

}  // namespace ridgeline::fidelity
