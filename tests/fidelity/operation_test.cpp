// What all kinds of operations share: names, number formats, flavours of kernels, intervals.

#include "fidelity/operation.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::flavour_of;
using fidelity::number_format;
using fidelity::Prediction;
using hw::Dtype;

TEST_CASE("operations are found by their names", "[operation]") {
  for (const auto& operation : fidelity::operations())
    CHECK(&fidelity::operation_named(operation.name) == &operation);
  CHECK(fidelity::operations().size() == 8);
  CHECK(error_of([] { (void)fidelity::operation_named("gem"); }) ==
        "predict: expected one of gemm, attention, allreduce, moe, stream, layer, "
        "step_attention, step_experts, got 'gem'; did you mean 'gemm'?");
}

TEST_CASE("a cell names a number format in many ways", "[operation]") {
  struct Named {
    const char* text;
    Dtype dtype;
  };
  const auto named = GENERATE(
      Named{"bf16", Dtype::bf16}, Named{"bfloat16", Dtype::bf16},
      Named{"torch.bfloat16", Dtype::bf16}, Named{"BF16 (+bias)", Dtype::bf16},
      Named{"fp16", Dtype::fp16}, Named{"half", Dtype::fp16}, Named{"float16", Dtype::fp16},
      Named{"int8 (a8w8 rowwise CK)", Dtype::int8},
      Named{"fp8 e4m3fnuz blockscale 1x128/128x128 (CK)", Dtype::fp8},
      Named{"float8_e4m3fnuz", Dtype::fp8}, Named{"a8w8 preshuffled-B (CK-tile)", Dtype::fp8},
      Named{"fp8 in, bf16 out", Dtype::fp8}, Named{"tf32", Dtype::tf32}, Named{"FP32", Dtype::fp32},
      Named{"fp64", Dtype::fp64}, Named{"fp4", Dtype::fp4}, Named{"int4", Dtype::int4});
  INFO(named.text);
  CHECK(number_format(named.text).dtype == named.dtype);
  CHECK(number_format(named.text).sure);
}

TEST_CASE("a cell that names no number format is taken as bf16, and not surely", "[operation]") {
  for (const char* text : {"", "?", "posit16"}) {
    CHECK(number_format(text).dtype == Dtype::bf16);
    CHECK_FALSE(number_format(text).sure);
  }
}

TEST_CASE("a flavour is the longest of which every word is in the text", "[operation]") {
  hw::GemmSpec gemm;
  for (const char* name :
       {"int8", "int8_preshuffled", "int8_blockscale", "int8_blockscale_preshuffled", "fp8_fast"})
    gemm.families.emplace_back().name = name;
  CHECK(flavour_of("int8 (a8w8 rowwise CK)", Dtype::int8, gemm).empty());
  CHECK(flavour_of("int8 a8w8 Preshuffled-B", Dtype::int8, gemm) == "preshuffled");
  CHECK(flavour_of("int8 blockscale", Dtype::int8, gemm) == "blockscale");
  CHECK(flavour_of("preshuffled, blockscale", Dtype::int8, gemm) == "blockscale_preshuffled");
  CHECK(flavour_of("fast", Dtype::int8, gemm).empty());  // another dtype's
  CHECK(flavour_of("blockscale", Dtype::fp8, gemm).empty());
  CHECK(flavour_of("anything", Dtype::int8, {}).empty());
}

TEST_CASE("nine of ten measurements lie within 1.645 standard deviations, never below the floor",
          "[operation]") {
  Prediction p;
  p.seconds = 100e-6;
  p.spread = 0.1;
  CHECK(p.low() == Approx(100e-6 / 1.1788));  // e^0.1645
  CHECK(p.high() == Approx(117.88e-6).epsilon(1e-4));
  p.floor = 95e-6;
  CHECK(p.low() == 95e-6);
  p.spread = 0.0;  // nobody measured
  CHECK(p.low() == 100e-6);
  CHECK(p.high() == 100e-6);
}

}  // namespace
}  // namespace ridgeline::tests
