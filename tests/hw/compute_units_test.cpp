#include "hw/compute_units.hpp"

#include <catch2/catch.hpp>

#include "core/random.hpp"
#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Flop;
using ridgeline::core::FlopPerSecond;
using ridgeline::core::RandomStream;
using ridgeline::core::Seconds;
using ridgeline::tests::easy_gpu;
using ridgeline::tests::product_of;

constexpr GemmSpec::Tile kTile{16, 16};
constexpr FlopPerSecond kRate{5.12e12};

TilePlan plan(const GpuSpec& gpu, const GemmShape& shape, std::int64_t splits = 1) {
  return plan_with(shape, gpu, kTile, splits, kRate);
}

TEST_CASE("A wave takes as long as one tile, however full it is", "[hw][compute_units]") {
  const GpuSpec gpu = easy_gpu();
  for (const std::int64_t tiles : {1, 5, 10}) {
    CHECK(plan(gpu, product_of(tiles).gemm).compute.value() == Approx(1e-6));  // 1 us a tile
  }
}

TEST_CASE("One tile more than there are units costs a whole wave more", "[hw][compute_units]") {
  const GpuSpec gpu = easy_gpu();
  CHECK(plan(gpu, product_of(11).gemm).compute.value() == Approx(2e-6));
  CHECK(plan(gpu, product_of(20).gemm).compute.value() == Approx(2e-6));
  CHECK(plan(gpu, product_of(21).gemm).compute.value() == Approx(3e-6));
}

TEST_CASE("Full waves of whole tiles run at the peak rate", "[hw][compute_units]") {
  const TilePlan p = plan(easy_gpu(), product_of(40).gemm);
  CHECK(p.issued == product_of(40).gemm.flop());
  CHECK((p.issued / p.compute).value() == Approx(kRate.value()));
}

TEST_CASE("One row issues a whole tile", "[hw][compute_units]") {
  const TilePlan p = plan(easy_gpu(), {1, 16, 1000, 1});
  CHECK(p.issued / GemmShape{1, 16, 1000, 1}.flop() == Approx(16.0));
  CHECK(plan(easy_gpu(), {17, 17, 1000, 1}).workgroups == 4.0);  // 2 x 2 tiles
}

TEST_CASE("Independent products share the waves", "[hw][compute_units]") {
  const TilePlan p = plan(easy_gpu(), {16, 16, 1000, 25});
  CHECK(p.workgroups == 25.0);
  CHECK(p.compute.value() == Approx(3e-6));  // 10 + 10 + 5 tiles
}

TEST_CASE("Loading a tile's edges and filling its pipeline cost as the formula says",
          "[hw][compute_units]") {
  GpuSpec gpu = easy_gpu();
  gpu.gemm.tile_load = 8.0;  // 256 / (256 + 8 * 32) = 1/2 of the rate
  CHECK(plan(gpu, product_of(1).gemm).compute.value() == Approx(2e-6));
  gpu.gemm.extra_k = 500.0;  // 1,500 deep instead of 1,000
  CHECK(plan(gpu, product_of(1).gemm).compute.value() == Approx(3e-6));
  CHECK(plan(gpu, product_of(1).gemm).issued ==
        product_of(1).gemm.flop());  // overheads are time, not work
}

TEST_CASE("Splitting K spreads one tile over several units and pays for adding up",
          "[hw][compute_units]") {
  GpuSpec gpu = easy_gpu();
  const TilePlan split = plan(gpu, product_of(1).gemm, 4);
  CHECK(split.workgroups == 4.0);
  CHECK(split.issued == product_of(1).gemm.flop());  // the same work
  // 250 deep: 0.25 us; four fp32 partials of 16 x 16, 4,096 bytes, at 10 TB/s: 0.4096 ns.
  CHECK(split.compute.value() == Approx(0.25e-6 + 0.4096e-9));
  gpu.gemm.split_cost = Seconds{1e-6};
  CHECK(plan(gpu, product_of(1).gemm, 4).compute.value() == Approx(1.25e-6 + 0.4096e-9));
}

TEST_CASE("No plan issues less than is useful, nor runs faster than the rate",
          "[hw][compute_units]") {
  const GpuSpec gpu = ridgeline::tests::shipped_gpu("mi300x");
  const RandomStream random(1, "plans");
  std::uint64_t n = 0;
  for (int i = 0; i < 5'000; ++i) {
    const GemmShape shape{random.uniform_int(n, 1, 5'000), random.uniform_int(n + 1, 1, 20'000),
                          random.uniform_int(n + 2, 1, 20'000), random.uniform_int(n + 3, 1, 4)};
    const auto& tile = gpu.gemm.tiles[static_cast<std::size_t>(
        random.uniform_int(n + 4, 0, static_cast<std::int64_t>(gpu.gemm.tiles.size()) - 1))];
    const std::int64_t splits = std::int64_t{1} << random.uniform_int(n + 5, 0, 3);
    n += 6;
    const TilePlan p = plan_with(shape, gpu, tile, splits, kRate);
    REQUIRE(p.issued >= shape.flop());
    REQUIRE(p.compute >= p.issued / kRate);
    REQUIRE(p.workgroups >= static_cast<double>(splits * shape.batch));
  }
}

}  // namespace
