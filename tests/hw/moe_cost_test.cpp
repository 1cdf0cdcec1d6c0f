#include "hw/moe_cost.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "core/error.hpp"
#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using namespace ridgeline::core::literals;
using ridgeline::core::Bytes;
using ridgeline::core::BytesPerSecond;
using ridgeline::tests::easy_gpu;
using ridgeline::tests::error_of;
using ridgeline::tests::shipped_gpu;

MoeQuery fp8(std::int64_t tokens, std::int64_t model_dim, std::int64_t inter_dim,
             std::int64_t experts, std::int64_t topk) {
  MoeQuery query;
  query.tokens = tokens;
  query.model_dim = model_dim;
  query.inter_dim = inter_dim;
  query.experts = experts;
  query.topk = topk;
  query.weight_element = Bytes{1.0};
  query.activation_element = Bytes{1.0};
  query.math = Dtype::fp8;
  return query;
}

/// Constants as they were fitted to ROCm/aiter's fused experts on MI300X.
MoeSpec mi300x_moe() {
  MoeSpec spec;
  spec.rate[Dtype::fp8] = 0.673;
  spec.rate[Dtype::bf16] = 0.554;
  spec.tile_load = 53.0;
  spec.extra_k = 256.0;
  spec.stream = 0.814;
  spec.workgroup_bandwidth = BytesPerSecond{20.7e9};
  spec.fixed = 8.58_us;
  return spec;
}

TEST_CASE("Experts fill up as tokens come", "[hw][moe_cost]") {
  CHECK(expected_active_experts(1, 128, 8) == Approx(8.0));
  CHECK(expected_active_experts(2, 16, 8) == Approx(12.0));  // 16 (1 - 1 / 4)
  CHECK(expected_active_experts(100000, 128, 8) == Approx(128.0));
  CHECK(expected_active_experts(1, 4, 4) == Approx(4.0));
}

TEST_CASE("One token on a neutral machine reads the weights of its experts at peak bandwidth",
          "[hw][moe_cost]") {
  // The easy machine: HBM moves 1 MB in 1 us, a unit multiplies 16 x 16 x 1000 in 1 us, ten units.
  MoeSpec spec;
  spec.rows = {16};
  spec.columns = {16};
  MoeQuery query = fp8(1, 1000, 80, 4, 2);
  const MoeCost cost = cost_of(query, easy_gpu(), spec);
  CHECK(cost.active == 2.0);
  // gate and up: 2 experts x 160 x 1000 bytes; 2 x 10 tiles on 10 units: 2 waves and half a one
  CHECK(cost.gate_up.memory.value() == Approx(0.32e-6));
  CHECK(cost.gate_up.workgroups == 20.0);
  CHECK(cost.gate_up.compute.value() == Approx(2.5e-6).epsilon(1e-3));  // rows cost 0.2 ns
  CHECK(cost.gate_up.issued.value() == Approx(20 * 2.0 * 16 * 16 * 1000));
  CHECK(cost.gate_up.useful.value() == Approx(2.0 * 2 * 160 * 1000));
  // down: 2 experts x 1000 x 80 bytes
  CHECK(cost.down.hbm.value() == Approx(160e3));
  CHECK(cost.down.memory.value() == Approx(0.16e-6));
  query.gated = false;
  CHECK(cost_of(query, easy_gpu(), spec).gate_up.hbm.value() == Approx(160e3));
}

TEST_CASE("Few workgroups cannot pull the bandwidth", "[hw][moe_cost]") {
  MoeSpec spec;
  spec.rows = {16};
  spec.columns = {64};
  spec.workgroup_bandwidth = BytesPerSecond{1e9};
  // 1 expert x 2 x 64 outputs: 2 workgroups, 2 GB/s for 128 x 1000 bytes
  const MoeCost cost = cost_of(fp8(1, 1000, 64, 1, 1), easy_gpu(), spec);
  CHECK(cost.gate_up.memory.value() == Approx(64e-6));
}

TEST_CASE("The fixed time is in both of a stage's times", "[hw][moe_cost]") {
  MoeSpec spec;
  const MoeCost before = cost_of(fp8(64, 1024, 512, 8, 2), easy_gpu(), spec);
  spec.fixed = 5.0_us;
  const MoeCost after = cost_of(fp8(64, 1024, 512, 8, 2), easy_gpu(), spec);
  CHECK((after.gate_up.compute - before.gate_up.compute).value() == Approx(5e-6));
  CHECK((after.gate_up.memory - before.gate_up.memory).value() == Approx(5e-6));
  CHECK((after.duration() - before.duration()).value() == Approx(10e-6));
}

TEST_CASE("Known routing replaces the expectation", "[hw][moe_cost]") {
  MoeQuery query = fp8(256, 2048, 768, 128, 8);
  query.active = 16.0;
  CHECK(cost_of(query, shipped_gpu("mi300x"), mi300x_moe()).active == 16.0);
}

TEST_CASE(
    "Experts beat neither the peak matrix rate nor the peak bandwidth, and more tokens never "
    "take less time",
    "[hw][moe_cost]") {
  const GpuSpec gpu = shipped_gpu("mi300x");
  for (const MoeSpec& spec : {MoeSpec{}, mi300x_moe()}) {
    for (const MoeQuery& shape : {fp8(1, 7168, 2048, 33, 9), fp8(1, 6144, 256, 257, 9),
                                  fp8(1, 3072, 384, 256, 8), fp8(1, 64, 32, 4, 4)}) {
      double before = 0.0;
      for (std::int64_t tokens = 1; tokens <= 65536; tokens *= 2) {
        MoeQuery query = shape;
        query.tokens = tokens;
        const MoeCost cost = cost_of(query, gpu, spec);
        for (const MoeStage& stage : {cost.gate_up, cost.down}) {
          REQUIRE(stage.issued >= stage.useful);
          REQUIRE(stage.duration >= stage.useful / gpu.peak[Dtype::fp8]);
          REQUIRE(stage.duration >= stage.hbm / gpu.hbm.bandwidth);
        }
        REQUIRE(cost.duration().value() >= before);
        before = cost.duration().value();
      }
    }
  }
}

TEST_CASE("Published fused experts on MI300X come out within 25 %", "[hw][moe_cost]") {
  // ROCm/aiter aiter/configs: tokens, model and expert width, experts, topk, both stages in us.
  struct Row {
    MoeQuery query;
    double us;
  };
  for (const Row& row : std::vector<Row>{{fp8(1, 7168, 2048, 33, 9), 99.2},
                                         {fp8(32, 7168, 2048, 33, 9), 355.3},
                                         {fp8(1024, 7168, 2048, 33, 9), 1091.0},
                                         {fp8(16384, 7168, 2048, 33, 9), 13796.9},
                                         {fp8(8, 3072, 384, 256, 8), 62.3},
                                         {fp8(64, 6144, 256, 257, 9), 251.7}}) {
    INFO(row.query.tokens << " tokens, " << row.query.model_dim << " x " << row.query.inter_dim);
    CHECK(cost_of(row.query, shipped_gpu("mi300x"), mi300x_moe()).duration().value() * 1e6 ==
          Approx(row.us).epsilon(0.25));
  }
}

TEST_CASE("What the experts' constants leave out is neutral", "[hw][moe_cost]") {
  const auto read = [](const std::string& text) {
    const ridgeline::core::Node node = ridgeline::core::parse_yaml(text, "m.yaml");
    const ridgeline::core::Reader in(node);
    MoeSpec spec = read_moe_spec(in);
    in.finish();
    return spec;
  };
  CHECK(read("{}") == MoeSpec{});
  const MoeSpec spec = read("rate: {fp8: 0.5}\nworkgroup_bandwidth: 20 GB/s\nrows: [16, 32]\n");
  CHECK((spec.rate[Dtype::fp8] == 0.5 && spec.rate[Dtype::bf16] == 1.0));
  CHECK(spec.workgroup_bandwidth.value() == Approx(20e9));
  CHECK(spec.rows == std::vector<std::int64_t>{16, 32});
  CHECK(error_of([&] {
          static_cast<void>(read("rows: [16, x]\n"));
        }).find("expected whole numbers from 1 to 4096, got 'x'") != std::string::npos);
  CHECK(error_of([&] { static_cast<void>(read("rate: {fp9: 0.5}\n")); }).find("unknown key") !=
        std::string::npos);
}

TEST_CASE("A query without tokens, or with more of topk than experts, is ours to avoid",
          "[hw][moe_cost]") {
  CHECK_THROWS_AS(cost_of(fp8(0, 64, 64, 8, 2), easy_gpu(), MoeSpec{}),
                  ridgeline::core::InvariantError);
  CHECK_THROWS_AS(cost_of(fp8(1, 64, 64, 2, 8), easy_gpu(), MoeSpec{}),
                  ridgeline::core::InvariantError);
}

}  // namespace
