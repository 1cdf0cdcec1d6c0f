// Do names, grids and operators tell the same m, n, k?

#include <catch2/catch.hpp>

#include "tests/understand/made_up_recording.hpp"
#include "timeline/gemm_shapes.hpp"
#include "timeline/kernel_names.hpp"
#include "timeline/tensile.hpp"

namespace ridgeline::timeline {
namespace {

TEST_CASE("A Tensile name holds tile, instruction, transposes and format") {
  const auto tile = gemm_tile(
      "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x48x64_MI16x16x1_SN_LDSB1_GSUAMBSK_ISA942_"
      "SK0_WG32_8_1");
  REQUIRE(tile);
  CHECK(tile->n == 256);  // output features come first
  CHECK(tile->m == 48);   // and follow the batch second
  CHECK(tile->k == 64);
  CHECK(tile->instruction_n == 16);
  CHECK(tile->a_transposed);
  CHECK_FALSE(tile->b_transposed);
  CHECK(tile->dtype == "bf16");
  CHECK(tile->splits == 1);
  CHECK_FALSE(tile->stream_k);
}

TEST_CASE("Splits of k and stream-K show in a Tensile name") {
  CHECK(gemm_tile("Cijk_Ailk_Bjlk_HHS_BH_MT64x64x64_MI16x16x16x1_SN_GSU4_ISA90a")->splits == 4);
  CHECK(gemm_tile("Cijk_Ailk_Bjlk_HHS_BH_MT64x64x64_MI16x16x16x1_SN_GSU4_ISA90a")->dtype == "fp16");
  CHECK(gemm_tile("Cijk_Alik_Bljk_F8BS_BH_MT64x64x64_MI16x16x1_SK3_ISA942")->stream_k);
  CHECK(gemm_tile("Cijk_Alik_Bljk_F8BS_BH_MT64x64x64_MI16x16x1_SK3_ISA942")->dtype == "fp8");
  CHECK(gemm_tile("Cijk_Ailk_Bljk_S_B_Bias_HA_S_MT16x16x128_MI16x16x1")->dtype == "fp32");
}

TEST_CASE("Names made for a simulated timeline give their tile back") {
  for (const std::string_view arch : {"gfx942", "sm_80", "sm_90"}) {
    const auto tile = gemm_tile(profiler_name({.architecture = arch,
                                               .cls = KernelClass::gemm,
                                               .tile_m = 32,
                                               .tile_n = 128,
                                               .tile_k = 64}));
    REQUIRE(tile);
    CHECK(tile->m == 32);
    CHECK(tile->n == 128);
    CHECK(tile->k == 64);
    CHECK(tile->dtype == "bf16");
  }
}

TEST_CASE("Tiles of other libraries are read where they are plain") {
  const auto jet = gemm_tile("nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN");
  REQUIRE(jet);
  CHECK((jet->n == 144 && jet->m == 128 && jet->k == 64));
  const auto xmma = gemm_tile(
      "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x64x32_warpgroupsize1x1x1_execute");
  REQUIRE(xmma);
  CHECK((xmma->n == 128 && xmma->m == 64 && xmma->k == 32));
  const auto cutlass = gemm_tile(
      "void "
      "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_64x3_tn_align2>("
      "Params)");
  REQUIRE(cutlass);
  CHECK((cutlass->n == 256 && cutlass->m == 128 && cutlass->k == 64));
  const auto experts = gemm_tile("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x2_swiglu");
  REQUIRE(experts);
  CHECK((experts->m == 16 && experts->n == 128 && experts->k == 256));
  CHECK_FALSE(gemm_tile("attn_fwd"));
  CHECK_FALSE(gemm_tile("Cijk_nothing"));
  CHECK_FALSE(gemm_tile(""));
  CHECK_FALSE(gemm_tile("_matmul_ogs_"));
}

TEST_CASE("The grid bounds tokens when features are known, and features when tokens are") {
  // 24576 x 15360 at MT128x256: 24576/128 = 192 tiles along features, 15360/256 = 60 along tokens,
  // 192 x 60 = 11520 workgroups.
  GemmTile tile;
  tile.n = 128;
  tile.m = 256;
  tile.k = 32;
  const auto tokens = tokens_given_features(tile, 11520, 24576);
  REQUIRE(tokens);
  CHECK(tokens->low == 59 * 256 + 1);  // 60 tiles, the last with one row at least
  CHECK(tokens->high == 60 * 256);
  const auto features = features_given_tokens(tile, 11520, 15360);
  REQUIRE(features);
  CHECK(features->contains(24576));
  CHECK(features->high - features->low == 127);
  const auto both = gemm_bounds(tile, 11520);
  REQUIRE(both);
  CHECK(both->m.contains(15360));
  CHECK(both->n.contains(24576));
}

TEST_CASE(
    "A grid that contradicts what is known bounds nothing, nor does one of stream-K workers") {
  GemmTile tile;
  tile.n = 128;
  tile.m = 128;
  CHECK_FALSE(tokens_given_features(tile, 7, 256));  // 2 tiles of features do not divide 7
  tile.splits = 2;
  CHECK(tokens_given_features(tile, 8, 256)->high == 256);  // 8 / 2 splits / 2 = 2 tiles of 128
  CHECK_FALSE(gemm_bounds(tile, 7));
  tile.splits = 1;
  tile.stream_k = true;
  CHECK_FALSE(gemm_bounds(tile, 304));
}

TEST_CASE("Operators give m, n, k of the kernels they launched") {
  MadeUp made;
  made.op("aten::mm", 1, {{32, 4096}, {4096, 6144}});
  made.op("aten::addmm", 2, {{512}, {141, 512}, {512, 2048}, {}, {}});
  made.op("aten::linear", 3, {{2, 16, 4096}, {1024, 4096}});
  made.op("aten::bmm", 4, {{8, 128, 64}, {8, 64, 256}}, "float");
  made.op("aten::mm", 5, {{32, 4096}, {17, 6144}});  // inner sizes differ: no product
  for (int id = 1; id <= 6; ++id) made.kernel(id, 1, "Cijk_x").external_id = id;
  const Recording& r = made.finish();
  const GemmShapes shapes(r);
  const auto shape = [&](std::size_t i) { return shapes.of(r.device_events[i]); };
  REQUIRE(shape(0));
  CHECK((shape(0)->facts.m == 32 && shape(0)->facts.n == 6144 && shape(0)->facts.k == 4096));
  CHECK(shape(0)->flop().value() == 2.0 * 32 * 6144 * 4096);
  CHECK(shape(0)->bytes().value() == 2.0 * (32 * 4096 + 4096 * 6144 + 32 * 6144));
  CHECK((shape(1)->facts.m == 141 && shape(1)->facts.n == 2048 && shape(1)->facts.k == 512));
  CHECK((shape(2)->facts.m == 32 && shape(2)->facts.n == 1024));  // 2 x 16 rows
  CHECK((shape(3)->facts.m == 128 && shape(3)->batch == 8));
  CHECK(shape(3)->element_bytes == 4);
  CHECK(shape(4) == nullptr);
  CHECK(shape(5) == nullptr);  // no operator
}

}  // namespace
}  // namespace ridgeline::timeline
