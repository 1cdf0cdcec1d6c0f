// Matrix multiplies by the constants of a family: the closed forms, the limits, and published
// microseconds.

#include "hw/gemm_cost.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "hw/hbm.hpp"
#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Bytes;
using ridgeline::core::BytesPerSecond;
using ridgeline::core::RandomStream;
using ridgeline::core::Seconds;
using ridgeline::tests::easy_gpu;
using ridgeline::tests::product_of;
using ridgeline::tests::shipped_gpu;

/// One tile of 16x16 and no losses: on the easy machine ten tiles of depth 1,000 take 1 us.
GemmFamily easy_family() {
  GemmFamily family;
  family.name = "fp16";
  family.tiles = {{16, 16}};
  family.overlap = 100.0;  // as good as a maximum
  return family;
}

GemmQuery easy_query(std::int64_t tiles, double hbm_bytes = 0.0) {
  GemmQuery query;
  query.shape = product_of(tiles).gemm;
  query.hbm = Bytes{hbm_bytes};
  return query;
}

TEST_CASE("Full overlap takes the longer of compute and memory, and none takes their sum",
          "[hw][gemm_cost]") {
  const GpuSpec gpu = easy_gpu();
  GemmFamily family = easy_family();
  const GemmQuery query = easy_query(30, 4e6);  // 3 us of compute, 4 us of HBM
  CHECK(gemm_cost(query, gpu, family).total().value() == Approx(4e-6));
  family.overlap = 1.0;
  CHECK(gemm_cost(query, gpu, family).total().value() == Approx(7e-6));
  family.overlap = 2.0;
  CHECK(gemm_cost(query, gpu, family).total().value() == Approx(5e-6));  // 3, 4, 5
}

TEST_CASE("What binds carries the other's share, and the other keeps its own time",
          "[hw][gemm_cost]") {
  GemmFamily family = easy_family();
  family.overlap = 2.0;
  family.fixed = Seconds{1e-6};
  const GemmCost memory = gemm_cost(easy_query(30, 4e6), easy_gpu(), family);
  CHECK(memory.memory.value() == Approx(6e-6));   // 5 us and the fixed one
  CHECK(memory.compute.value() == Approx(4e-6));  // 3 us and the fixed one
  const GemmCost compute = gemm_cost(easy_query(40, 3e6), easy_gpu(), family);
  CHECK(compute.compute.value() == Approx(6e-6));
  CHECK(compute.memory.value() == Approx(4e-6));
}

TEST_CASE("A workgroup loads its rows and columns at its own bandwidth, wave by wave",
          "[hw][gemm_cost]") {
  GemmFamily family = easy_family();
  // 32 elements of 2 bytes, 1,000 deep, are 64 kB: 8 us at 8 GB/s, however few the tiles.
  family.workgroup_bandwidth = BytesPerSecond{8e9};
  CHECK(gemm_cost(easy_query(1), easy_gpu(), family).memory.value() == Approx(8e-6));
  CHECK(gemm_cost(easy_query(10), easy_gpu(), family).memory.value() == Approx(8e-6));
  CHECK(gemm_cost(easy_query(11), easy_gpu(), family).memory.value() == Approx(16e-6));
  family.step_edge = 64.0;  // waits as a tile of twice the edges does
  CHECK(gemm_cost(easy_query(1), easy_gpu(), family).memory.value() == Approx(16e-6));
}

TEST_CASE("Splitting K helps a deep product of few tiles and not one of many", "[hw][gemm_cost]") {
  GemmFamily family = easy_family();
  family.workgroup_bandwidth = BytesPerSecond{8e9};
  family.max_splits = 8;
  family.split_cost = Seconds{0.1e-6};
  // One tile: an eighth of the 8 us of loads.
  const GemmCost deep = gemm_cost(easy_query(1), easy_gpu(), family);
  CHECK(deep.plan.splits == 8);
  CHECK(deep.total().value() == Approx(1e-6).epsilon(0.01));
  CHECK(gemm_cost(easy_query(100), easy_gpu(), family).plan.splits == 1);
}

TEST_CASE("The rate of a family is a fraction of what the machine sustains, never above its peak",
          "[hw][gemm_cost]") {
  GpuSpec gpu = easy_gpu();
  GemmFamily family = easy_family();
  family.rate = 0.5;
  CHECK(gemm_cost(easy_query(10), gpu, family).compute.value() == Approx(2e-6));
  gpu.sustained[Dtype::fp16] = 0.5;
  CHECK(gemm_cost(easy_query(10), gpu, family).compute.value() == Approx(4e-6));
}

TEST_CASE("Narrow weights are fewer bytes to load and more work a tile, so they pay at few rows",
          "[hw][gemm_cost]") {
  GpuSpec gpu = easy_gpu();
  GemmFamily family = easy_family();
  family.tiles = {{16, 16}, {128, 128}};
  family.dequantize = 16.0;
  gpu.gemm.families = {family};
  const auto cost = [&](std::int64_t m, Dtype weights) {
    GemmQuery query;
    query.shape = {m, 1280, 1024, 1};
    query.weights = weights;
    query.hbm = bytes_of(weights) * (1280.0 * 1024.0);
    return gemm_cost(query, gpu);
  };
  CHECK(cost(1, Dtype::int4).memory.value() == Approx(cost(1, Dtype::fp16).memory.value() / 4.0));
  // 128 rows of work and 16 more, on the large tile.
  CHECK(cost(1280, Dtype::int4).compute.value() ==
        Approx(cost(1280, Dtype::fp16).compute.value() * 144.0 / 128.0));
  CHECK(cost(1280, Dtype::int4).total() > cost(1280, Dtype::fp16).total());
}

TEST_CASE("A family is found by dtype and flavour, then by dtype, then as the other 16-bit format",
          "[hw][gemm_cost]") {
  GemmSpec gemm = easy_gpu().gemm;
  CHECK(gemm.family(Dtype::fp8) == nullptr);
  for (const char* name : {"fp8", "fp8_blockscale", "bf16", "bf16_ck"}) {
    gemm.families.push_back(easy_family());
    gemm.families.back().name = name;
  }
  const auto found = [&](Dtype dtype, std::string_view flavour = {}) {
    const GemmFamily* family = gemm.family(dtype, flavour);
    return family == nullptr ? std::string("none") : family->name;
  };
  CHECK(found(Dtype::fp8) == "fp8");
  CHECK(found(Dtype::fp8, "blockscale") == "fp8_blockscale");
  CHECK(found(Dtype::fp8, "block") == "fp8");
  CHECK(found(Dtype::fp16) == "bf16");
  CHECK(found(Dtype::fp16, "ck") == "bf16_ck");
  CHECK(found(Dtype::fp32) == "none");
  gemm.families.push_back(easy_family());
  gemm.families.back().name = "default";
  CHECK(found(Dtype::fp32) == "default");
}

TEST_CASE("A prediction says how far it may be off, and whether anybody measured there",
          "[hw][gemm_cost]") {
  GpuSpec gpu = easy_gpu();
  GemmFamily family = easy_family();
  family.spread = {0.1, 0.2, 0.3};
  family.m = {1, 160};
  gpu.gemm.families = {family};
  CHECK(spread(easy_query(10), gpu) == 0.1);
  CHECK(spread(easy_query(10, 2e6), gpu) == 0.2);
  CHECK_FALSE(gemm_cost(easy_query(10), gpu).extrapolated);
  CHECK(gemm_cost(easy_query(11), gpu).extrapolated);
  gpu.gemm.families[0].fixed = Seconds{5e-6};
  CHECK(spread(easy_query(10), gpu) == 0.3);
  CHECK(spread(easy_query(10), easy_gpu()) == kUnmeasuredSpread);
  CHECK(gemm_cost(easy_query(10), easy_gpu()).extrapolated);
}

TEST_CASE("Without families a product costs what the plain formula says, to the last bit",
          "[hw][gemm_cost]") {
  const GpuSpec gpu = shipped_gpu("mi300x_datasheet");
  REQUIRE(gpu.gemm.families.empty());
  const RandomStream random(1, "plain");
  std::uint64_t n = 0;
  for (int i = 0; i < 300; ++i) {
    GemmQuery query =
        cold_gemm({random.uniform_int(n, 1, 5'000), random.uniform_int(n + 1, 1, 30'000),
                   random.uniform_int(n + 2, 1, 30'000), 1},
                  Dtype::fp8);
    n += 3;
    Seconds best{INFINITY};
    for (const GemmTile tile : gpu.gemm.tiles) {
      for (std::int64_t splits = 1; splits <= gpu.gemm.max_splits; splits *= 2) {
        const TilePlan plan = plan_with(query.shape, gpu, tile, splits,
                                        gpu.peak[query.math] * gpu.sustained[query.math]);
        best = std::min(best, std::max(plan.compute, time_to_move(query.hbm, gpu.hbm, 1.0,
                                                                  filled(plan.workgroups, gpu))));
      }
    }
    REQUIRE(gemm_cost(query, gpu).total() == best);
  }
}

TEST_CASE("No product beats its bytes at peak bandwidth or its arithmetic at peak rate",
          "[hw][gemm_cost]") {
  const RandomStream random(1, "floors");
  std::uint64_t n = 0;
  for (const char* machine : {"mi300x", "mi325x", "a100", "h100", "rtx4090", "rtx_pro_6000"}) {
    const GpuSpec gpu = shipped_gpu(machine);
    for (const GemmFamily& family : gpu.gemm.families) {
      const Dtype math = family.name.starts_with("fp8")    ? Dtype::fp8
                         : family.name.starts_with("int8") ? Dtype::int8
                                                           : Dtype::bf16;
      for (int i = 0; i < 200; ++i) {
        const auto size = [&](double largest) {
          return static_cast<std::int64_t>(std::exp(random.uniform(n++) * std::log(largest)));
        };
        const GemmQuery query = cold_gemm({size(1e5), size(1e5), size(1e5), size(10)}, math);
        const Seconds time = gemm_cost(query, gpu, family).total();
        INFO(machine << " " << family.name << " " << query.shape.m << "x" << query.shape.n << "x"
                     << query.shape.k);
        REQUIRE(time >= query.hbm / gpu.hbm.bandwidth);
        REQUIRE(time >= query.shape.flop() / gpu.peak[math]);
      }
    }
  }
}

struct Published {
  const char* machine;
  Dtype math;
  const char* flavour;
  GemmShape shape;
  double microseconds;
};

TEST_CASE("Published kernels are met within two and a half spreads", "[hw][gemm_cost]") {
  // int8: ROCm/aiter fbb52ddfad; blockscale: 466ccb7d0d; bf16: AMD, Measuring Max-Achievable FLOPs,
  // part 2; fp16: microsoft/vidur 7d475133.
  const std::vector<Published> rows{
      {"mi300x", Dtype::int8, "", {16, 1280, 8192, 1}, 12.76},
      {"mi300x", Dtype::int8, "", {16, 8192, 8192, 1}, 28.75},
      {"mi300x", Dtype::int8, "", {512, 8192, 8192, 1}, 97.41},
      {"mi300x", Dtype::int8, "", {8192, 57344, 8192, 1}, 7243.54},
      {"mi300x", Dtype::fp8, "blockscale", {16, 17408, 5120, 1}, 27.35},
      {"mi300x", Dtype::fp8, "blockscale", {1024, 17408, 5120, 1}, 243.64},
      {"mi300x", Dtype::fp8, "blockscale", {79488, 17408, 5120, 1}, 17178.31},
      {"mi300x", Dtype::bf16, "", {4096, 4864, 32896, 1}, 1851.37},
      {"mi325x", Dtype::bf16, "", {4096, 4864, 32896, 1}, 1554.89},
      {"a100", Dtype::fp16, "", {4096, 15360, 5120, 1}, 2682.0},
  };
  for (const Published& row : rows) {
    const GemmCost cost =
        gemm_cost(cold_gemm(row.shape, row.math, row.flavour), shipped_gpu(row.machine));
    const double off = std::log(cost.total().value() * 1e6 / row.microseconds);
    INFO(row.machine << " " << row.shape.m << "x" << row.shape.n << "x" << row.shape.k << ": "
                     << cost.total().value() * 1e6 << " us, measured " << row.microseconds);
    CHECK(std::abs(off) < 2.5 * cost.spread);
    CHECK(cost.extrapolated == shipped_gpu(row.machine).borrowed);  // a sibling's constants
  }
}

TEST_CASE("A family is read with its units, and what it cannot be is refused", "[hw][gemm_cost]") {
  const auto read = [](const std::string& families) {
    const std::string text =
        "{tiles: [16x16], tile_load: 0, extra_k: 0, max_splits: 4, split_cost: 1 us, families: " +
        families + "}";
    const ridgeline::core::Node node = ridgeline::core::parse_yaml(text, "g.yaml");
    const ridgeline::core::Reader in(node);
    const GemmSpec gemm = read_gemm_spec(in, true);
    in.finish();
    return gemm;
  };
  const GemmSpec gemm = read(
      "{fp8: {extra_k: 100, workgroup_bandwidth: 50 GB/s, fixed: 2 us, "
      "anchored: {m: [1, 64], n: [16, 32], k: [8, 8]}}, fp8_x: {like: fp8, max_splits: 1}}");
  REQUIRE(gemm.families.size() == 2);
  const GemmFamily& family = gemm.families[0];
  CHECK((family.name == "fp8" && family.tiles == gemm.tiles && family.max_splits == 4));
  CHECK(family.workgroup_bandwidth == BytesPerSecond{50e9});
  CHECK(family.split_cost == Seconds{1e-6});
  CHECK((family.m.contains(64) && !family.m.contains(65) && !family.borrowed));
  CHECK((gemm.families[1].borrowed && gemm.families[1].max_splits == 1));
  CHECK(gemm.families[1].extra_k == 100.0);
  const auto error = [&](const std::string& families) {
    return ridgeline::tests::error_of([&] { static_cast<void>(read(families)); });
  };
  CHECK_FALSE(error("{fp8: {like: int8}}").empty());
  CHECK_FALSE(error("{fp8: {extra_k: 1, workgroup_bandwidth: 0 GB/s, fixed: 0 us}}").empty());
  CHECK_FALSE(
      error("{fp8: {extra_k: 1, workgroup_bandwidth: 1 GB/s, fixed: 0 us, overlap: 0.5}}").empty());
  CHECK_FALSE(
      error("{fp8: {extra_k: 1, workgroup_bandwidth: 1 GB/s, fixed: 0 us, rate: 2}}").empty());
  CHECK_FALSE(error("{fp8: {extra_k: 1, workgroup_bandwidth: 1 GB/s, fixed: 0 us, "
                    "anchored: {m: [2, 1], n: [1, 1], k: [1, 1]}}}")
                  .empty());
  CHECK_FALSE(
      error("{fp8: {extra_k: 1, workgroup_bandwidth: 1 GB/s, fixed: 0 us, speed: 1}}").empty());
}

}  // namespace
