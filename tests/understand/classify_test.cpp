// Is a kernel's name understood, whoever wrote the kernel?

#include <catch2/catch.hpp>
#include <string>

#include "timeline/classify.hpp"
#include "timeline/kernel_names.hpp"

namespace ridgeline::timeline {
namespace {

using enum KernelClass;

void check(std::string_view name, KernelClass cls, std::string_view family) {
  INFO(name);
  const KernelFacts facts = classify(name);
  CHECK(name_of(facts.cls) == name_of(cls));
  CHECK(facts.family == family);
}

TEST_CASE("Kernels of ROCm are known by their names") {
  check("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x48x64_MI16x16x1_SN_LDSB1", gemm,
        "Tensile");
  check("void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>(int)", attention, "vllm");
  check("kernel_unified_attention_2d", attention, "triton");
  check("reduce_segments", attention, "triton");
  check("attn_fwd", attention, "triton");
  check("_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40Block", attention,
        "ck_tile");
  check("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16EEvPT0_", norm, "aiter");
  check("void rotary_embedding_kernel<c10::BFloat16, true>(long const*)", rope, "");
  check("void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(StoreKVCacheParams)",
        cache_write, "");
  check("_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4silu",
        elementwise, "sgl");
  check("__amd_rocclr_copyBuffer", copy, "rocclr");
  check("__amd_rocclr_fillBufferAligned", copy, "rocclr");
  check("void wvSplitK_hf_sml_<__hip_bfloat16, 64, 2>(int)", gemm, "vllm");
  check("batched_transpose_16x32_half", copy, "miopen");
  check("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", gemm, "miopen");
  check("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", collective, "nccl");
  check("void vllm::cross_device_reduce_2stage<__hip_bfloat16, 8>(vllm::RankData*)", collective,
        "vllm");
}

TEST_CASE("Kernels of CUDA are known by their names") {
  check("nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN", gemm, "cublas");
  check(
      "void "
      "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>("
      "Params)",
      gemm, "cutlass");
  check("void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)", gemm, "cublas");
  check("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
        attention, "trtllm");
  check("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>>(Params)",
        attention, "flash");
  check("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
        collective, "");
  check("void moe::dev::routing::routingIndicesHistogramKernel<routingRenormalize>(int)",
        elementwise, "trtllm");
  check("ampere_sgemm_128x64_nn", gemm, "cublas");
  check("void cudnn::ops::nchwToNhwcKernel<float, float>(float)", copy, "cudnn");
}

TEST_CASE("The experts of a mixture are products, their routing is not") {
  check("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", gemm, "triton");
  check("fused_moe_kernel", gemm, "triton");
  check("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3", gemm, "trtllm");
  check("void vllm::moe::topkGatingSoftmax<8, 128>(float*)", softmax, "vllm");
  check("_topk_forward", softmax, "triton");
  check("_finalize_matmul_scatter_bf16", elementwise, "triton");
  check("void vllm::moe::moe_align_block_size_kernel<int>(int*)", elementwise, "vllm");
}

TEST_CASE("A strided copy is a copy, and a copy that changes the format is a cast") {
  // PyTorch calls both direct_copy; only the second goes through a kernel that converts.
  check(
      "void at::native::elementwise_kernel<128, 4, "
      "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::"
      "TensorIteratorBase&)::{lambda()#3}>",
      copy, "at::native");
  check(
      "void at::native::elementwise_kernel<512, 1, "
      "at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{"
      "lambda()#3}>",
      cast, "at::native");
  check(
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)>",
      cast, "at::native");
}

TEST_CASE("What is compiled is known by the operators fused into it") {
  check("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", norm, "inductor");
  check("triton_poi_fused_mul_silu_1", elementwise, "inductor");
  check("triton_per_fused__softmax_2", softmax, "inductor");
}

TEST_CASE("A name that says nothing is of no class") { check("_ZN4acme7frobbleEv", other, ""); }

TEST_CASE("Every name that a simulated timeline makes reads as its own class") {
  for (std::size_t c = 0; c < kKernelClasses; ++c) {
    const auto cls = static_cast<KernelClass>(c);
    for (const Phase phase : {Phase::prefill, Phase::decode, Phase::forward, Phase::backward}) {
      for (const std::string_view dtype :
           {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4", "int4"}) {
        for (const std::string_view arch : {"gfx942", "gfx1100", "sm_80", "sm_90"}) {
          for (const std::string_view role : {"", "add_norm", "layer_norm", "reduce", "quant",
                                              "custom", "optimizer", "silu_mul", "gelu"}) {
            if (cls == other && !role.empty()) continue;  // keeps its role as its name
            const std::string name = profiler_name({.architecture = arch,
                                                    .cls = cls,
                                                    .role = role,
                                                    .dtype = dtype,
                                                    .tile_m = 128,
                                                    .tile_n = 128,
                                                    .phase = phase});
            // A product inside attention is named like any other.
            const KernelClass expected = cls == attention_scores ? gemm : cls;
            INFO(name);
            CHECK(name_of(classify(name).cls) == name_of(expected));
          }
        }
      }
    }
  }
}

TEST_CASE("Copies and sets are copies whatever they are called") {
  Recording r;
  DeviceEvent e;
  e.name = r.names.of("Cijk_Alik");
  r.device_events.push_back(e);
  const EventClasses classes(r);
  CHECK(classes[e].cls == gemm);
  e.kind = DeviceEvent::Kind::set;
  CHECK(classes[e].cls == copy);
}

}  // namespace
}  // namespace ridgeline::timeline
