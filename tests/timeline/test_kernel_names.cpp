// Do simulated kernels have the names that tools look for?

#include <catch2/catch.hpp>
#include <string>

#include "timeline/kernel_names.hpp"

namespace ridgeline::timeline {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("A Tensile name has the tile along features first and along tokens second") {
  // q_proj of a decode step with 32 sequences: 32 tokens, a tile of 64 features by 32 tokens.
  const std::string name = profiler_name({.cls = KernelClass::gemm,
                                          .role = "q_proj",
                                          .dtype = "bf16",
                                          .tile_m = 32,
                                          .tile_n = 64,
                                          .tile_k = 256});
  CHECK_THAT(name,
             StartsWith("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_"));
  CHECK_THAT(name, Contains("_ISA942_"));
  CHECK(name.find_first_of(" <>():") ==
        std::string::npos);  // a plain symbol, as a code object has it
}

TEST_CASE("A split of k shows as GSU, and no split does not") {
  NameFacts facts{.cls = KernelClass::gemm, .tile_m = 128, .tile_n = 256};
  CHECK_THAT(profiler_name(facts), !Contains("_GSU1_"));
  facts.splits = 2;
  CHECK_THAT(profiler_name(facts), Contains("_GSU2_"));
}

TEST_CASE("The number format shows in the name of a product") {
  NameFacts facts{.cls = KernelClass::gemm, .tile_m = 128, .tile_n = 256};
  facts.dtype = "fp16";
  CHECK_THAT(profiler_name(facts), Contains("_HHS_BH_"));
  facts.dtype = "fp8";
  CHECK_THAT(profiler_name(facts), Contains("_F8BS_BH_"));
  facts.architecture = "gfx90a";
  CHECK_THAT(profiler_name(facts), Contains("_ISA90a_"));
}

TEST_CASE("Probabilities times values read the values untransposed") {
  NameFacts facts{.cls = KernelClass::attention_scores,
                  .role = "attention_scores",
                  .tile_m = 128,
                  .tile_n = 128};
  CHECK_THAT(profiler_name(facts), StartsWith("Cijk_Alik_Bljk_"));
  facts.role = "attention_values";
  CHECK_THAT(profiler_name(facts), StartsWith("Cijk_Ailk_Bljk_"));
}

TEST_CASE("Attention on gfx is ck_tile in prefill and paged_attention in decode") {
  NameFacts facts{.cls = KernelClass::attention, .phase = Phase::prefill, .head_size = 64};
  CHECK_THAT(profiler_name(facts),
             Contains("ck_tile::FmhaFwdKernel") && Contains("sequence<128, 128, 32, 64, 32, 64>"));
  facts.phase = Phase::decode;
  CHECK_THAT(
      profiler_name(facts),
      Contains("paged_attention_ll4mi_QKV_mfma16_kernel<__hip_bfloat16") && Contains(", 64, 256,"));
  facts.role = "decode_attention_reduce";
  CHECK_THAT(profiler_name(facts), Contains("paged_attention_ll4mi_reduce_kernel"));
  facts = {.cls = KernelClass::attention, .phase = Phase::backward};
  CHECK_THAT(profiler_name(facts), Contains("FmhaBwdDQDKDVKernel"));
}

TEST_CASE("Small kernels have the names of vLLM and PyTorch") {
  const auto name = [](KernelClass cls, std::string_view role) {
    return profiler_name({.cls = cls, .role = role});
  };
  CHECK_THAT(name(KernelClass::norm, "input_norm"),
             Contains("vllm::rms_norm_kernel<c10::BFloat16>"));
  CHECK_THAT(name(KernelClass::norm, "add_norm"), Contains("vllm::fused_add_rms_norm_kernel"));
  CHECK_THAT(name(KernelClass::norm, "layer_norm"), Contains("vectorized_layer_norm_kernel"));
  CHECK_THAT(name(KernelClass::rope, "rope"), Contains("vllm::rotary_embedding_kernel"));
  CHECK_THAT(name(KernelClass::cache_write, "kv_write"),
             Contains("vllm::reshape_and_cache_flash_kernel"));
  CHECK_THAT(name(KernelClass::elementwise, "silu_mul"),
             Contains("vllm::act_and_mul_kernel") && Contains("silu_kernel"));
  CHECK_THAT(name(KernelClass::elementwise, "residual_add"),
             Contains("CUDAFunctor_add<c10::BFloat16>"));
  CHECK_THAT(name(KernelClass::elementwise, "mul"), Contains("MulFunctor"));
  CHECK_THAT(name(KernelClass::elementwise, "gelu"),
             Contains("GeluCUDAKernelImpl") && Contains("{lambda(c10::BFloat16)#1}"));
  CHECK_THAT(name(KernelClass::cast, "cast"), Contains("direct_copy_kernel_cuda"));
  CHECK_THAT(name(KernelClass::softmax, "softmax"), Contains("cunn_SoftMaxForward"));
  CHECK_THAT(name(KernelClass::sampling, "argmax"), Contains("ArgMaxOps"));
  CHECK_THAT(name(KernelClass::collective, "all_reduce"), StartsWith("ncclDevKernel_"));
  CHECK(name(KernelClass::copy, "") == "__amd_rocclr_copyBuffer");
}

TEST_CASE("On sm_ products are cuBLAS and attention is flash attention") {
  NameFacts facts{.architecture = "sm_90", .cls = KernelClass::gemm, .tile_m = 128, .tile_n = 192};
  CHECK_THAT(profiler_name(facts), StartsWith("nvjet_tst_192x128_64x4_"));
  facts.architecture = "sm_100";
  CHECK_THAT(profiler_name(facts), StartsWith("nvjet_tst_"));
  facts.architecture = "sm_80";
  facts.dtype = "fp16";
  CHECK_THAT(profiler_name(facts), StartsWith("ampere_fp16_s16816gemm_fp16_192x128_"));
  facts.cls = KernelClass::attention;
  CHECK_THAT(
      profiler_name(facts),
      Contains("flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128") && Contains("c10::Half"));
  facts.phase = Phase::decode;
  CHECK_THAT(profiler_name(facts), Contains("flash_fwd_splitkv_kernel"));
  facts = {.architecture = "sm_90", .cls = KernelClass::collective, .dtype = "fp16"};
  CHECK(profiler_name(facts) ==
        "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
}

TEST_CASE("Every class has a name in every phase, format and on every vendor's device") {
  for (std::size_t c = 0; c < kKernelClasses; ++c) {
    for (const Phase phase : {Phase::prefill, Phase::decode, Phase::forward, Phase::backward}) {
      for (const std::string_view dtype :
           {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4", "int4", "unheard_of"}) {
        for (const std::string_view arch : {"gfx942", "gfx1100", "sm_80", "sm_90", ""}) {
          const std::string name = profiler_name({.architecture = arch,
                                                  .cls = static_cast<KernelClass>(c),
                                                  .dtype = dtype,
                                                  .phase = phase});
          CHECK_FALSE(name.empty());
          CHECK(name.find("{{") == std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("A kernel of no known class keeps its role as its name") {
  CHECK(profiler_name({.cls = KernelClass::other, .role = "my_kernel"}) == "my_kernel");
}

}  // namespace
}  // namespace ridgeline::timeline
