#include "timeline/kernel_names.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace ridgeline::timeline {
namespace {

/// How each library spells a number format.
struct Spelling {
  std::string_view dtype;
  std::string_view c10;   // PyTorch
  std::string_view hip;   // vLLM, HIP
  std::string_view cuda;  // vLLM, CUDA
  std::string_view ck;    // ck_tile
  std::string_view nccl;
  std::string_view tensile;  // in, out, accumulate
  std::string_view ampere;   // cuBLAS before Hopper
  std::string_view nvjet;    // cuBLAS from Hopper on
};
constexpr std::array<Spelling, 9> kSpellings{{
    {"bf16", "c10::BFloat16", "__hip_bfloat16", "__nv_bfloat16", "unsigned short", "bf16", "BBS_BH",
     "bf16_s16816gemm_bf16", "tst"},
    {"fp16", "c10::Half", "_Float16", "__half", "_Float16", "f16", "HHS_BH", "fp16_s16816gemm_fp16",
     "hsh"},
    {"fp8", "c10::Float8_e4m3fnuz", "__hip_fp8_e4m3_fnuz", "__nv_fp8_e4m3", "_BitInt(8)", "f8e4m3",
     "F8BS_BH", "e4m3_s16832gemm_bf16", "qqtst"},
    {"int8", "signed char", "signed char", "signed char", "signed char", "i8", "I8II_BH",
     "s8_i16832gemm_s8", "iii"},
    {"fp32", "float", "float", "float", "float", "f32", "SB", "sgemm", "sss"},
    {"tf32", "float", "float", "float", "float", "f32", "S_BSS_BH", "tf32_s1688gemm_tf32", "sst"},
    {"fp64", "double", "double", "double", "double", "f64", "DB", "dgemm", "ddd"},
    {"fp4", "c10::Float4_e2m1fn_x2", "unsigned char", "unsigned char", "pk_fp4_t", "u8", "F4BS_BH",
     "e2m1_s16864gemm_bf16", "ootst"},
    {"int4", "unsigned char", "unsigned char", "unsigned char", "pk_int4_t", "u8", "I4BS_BH",
     "s4_i16864gemm_s4", "i4tst"},
}};

const Spelling& spelling_of(std::string_view dtype) {
  for (const Spelling& s : kSpellings) {
    if (s.dtype == dtype) return s;
  }
  return kSpellings[0];
}

enum class Vendor : std::uint8_t { amd, nvidia };

/// One pattern. The first row that fits wins; `word` must occur in the role, "" fits any, and an
/// absent vendor or phase fits both. In a pattern {T} is PyTorch's element type, {D} the device's,
/// {K} ck_tile's, {N} NCCL's, {H} the head size; {{ and }} are braces.
struct Row {
  KernelClass cls;
  std::string_view word;
  std::optional<Vendor> vendor;
  std::optional<Phase> phase;
  std::string_view pattern;
};

using enum KernelClass;
constexpr auto kAmd = Vendor::amd;
constexpr auto kNvidia = Vendor::nvidia;
constexpr std::nullopt_t kAny = std::nullopt;

constexpr Row kRows[] = {
    {gemm, "experts", kAmd, kAny,
     "void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<{K}, {K}, float, {K}>, true, "
     "(ck::InMemoryDataOperationEnum)0, 2, (ck::TailNumber)1>(ck::GridwiseMoeGemm<{K}, {K}, float, "
     "{K}>::Argument)"},
    {gemm, "experts", kNvidia, kAny, "fused_moe_kernel"},
    {elementwise, "routing", kAny, kAny,
     "void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int, int, "
     "int, "
     "int, unsigned long, int*)"},
    {attention, "reduce", kAmd, kAny,
     "void paged_attention_ll4mi_reduce_kernel<{D}, {D}, {H}, {H}, 256, 3, false>({D}*, float "
     "const*, float const*, {D} const*, int const*, int const*, int, int, float const*)"},
    {attention, "reduce", kNvidia, kAny,
     "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<{H}, 64, 128, 4, false, "
     "false, {T}>, 8, 4, true>(flash::Flash_fwd_params)"},
    {attention, "", kAmd, Phase::decode,
     "void paged_attention_ll4mi_QKV_mfma16_kernel<{D}, {D}, (vllm::Fp8KVCacheDataType)0, {D}, 16, "
     "{H}, 256, false, 4>({D} const*, {D} const*, {D} const*, int, float, int const*, int const*, "
     "int, float const*, int, int, int, float*, float*, {D}*, {D}*, int, float const*, float "
     "const*)"},
    {attention, "", kAmd, Phase::backward,
     "void ck_tile::kentry<1, "
     "ck_tile::FmhaBwdDQDKDVKernel<ck_tile::BlockFmhaBwdDQDKDVPipelineKRKTRVRIGLP<ck_tile::"
     "BlockFmhaBwdPipelineProblem<{K}, {K}, {K}, float, {H}> > > "
     ">(ck_tile::FmhaBwdGroupModeKargs)"},
    {attention, "", kAmd, kAny,
     "void ck_tile::kentry<2, "
     "ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<ck_tile::"
     "BlockFmhaPipelineProblem<{K}, {K}, {K}, float, float, "
     "ck_tile::TileFmhaShape<ck_tile::sequence<128, 128, 32, {H}, 32, {H}> > > > > "
     ">(ck_tile::FmhaFwdGroupModeKargs)"},
    {attention, "", kNvidia, Phase::decode,
     "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<{H}, 64, 128, 4, false, false, "
     "{T}>, false, false, false, false, true, false, true, false>(flash::Flash_fwd_params)"},
    {attention, "", kNvidia, Phase::backward,
     "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<{H}, 64, "
     "128, 8, 2, 4, 4, false, false, {T}>, false, true, false, false, true, true, "
     "false>(flash::Flash_bwd_params)"},
    {attention, "", kNvidia, kAny,
     "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<{H}, 128, 64, 4, false, false, {T}>, "
     "false, true, false, false, true, true, false, false>(flash::Flash_fwd_params)"},
    {softmax, "", kAny, Phase::backward,
     "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, {T}, float, {T}, "
     "at::native::SoftMaxBackwardEpilogue>({T}*, {T} const*, {T} const*, long)"},
    {softmax, "", kAny, kAny,
     "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, {T}, float, {T}, "
     "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>({T}*, {T} const*, int)"},
    {norm, "layer_norm", kAny, Phase::backward,
     "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<{T}, float, false>({T} "
     "const*, {T} const*, float const*, float const*, {T} const*, {T}*, int)"},
    {norm, "layer_norm", kAny, kAny,
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<{T}, float>(int, float, "
     "{T} const*, {T} const*, {T} const*, float*, float*, {T}*)"},
    {norm, "", kAny, Phase::backward,
     "void at::native::(anonymous namespace)::rms_norm_grad_input_kernel<{T}, float>({T} const*, "
     "{T} const*, float const*, {T} const*, {T}*, int)"},
    {norm, "add", kAny, kAny,
     "void vllm::fused_add_rms_norm_kernel<{T}, 8>({T}*, long, {T}*, {T} const*, float, int, int)"},
    {norm, "", kAny, kAny,
     "void vllm::rms_norm_kernel<{T}>({T}*, {T} const*, long, {T} const*, float, int, int)"},
    {rope, "", kAny, kAny,
     "void vllm::rotary_embedding_kernel<{T}, true>(long const*, {T}*, {T}*, {T} const*, int, "
     "long, long, long, int, int, int)"},
    {cache_write, "", kAny, kAny,
     "void vllm::reshape_and_cache_flash_kernel<{D}, {D}, (vllm::Fp8KVCacheDataType)0>({D} const*, "
     "{D} const*, {D}*, {D}*, long const*, long, long, long, long, long, int, int, int, float "
     "const*, float const*)"},
    {elementwise, "gelu", kAny, kAny,
     "void at::native::vectorized_elementwise_kernel<4, "
     "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
     "at::native::GeluType)::{{lambda()#2}}::operator()() const::{{lambda()#4}}::operator()() "
     "const::{{lambda({T})#1}}, std::array<char*, 2ul> >(int, at::native::GeluCUDAKernelImpl, "
     "std::array<char*, 2ul>)"},
    {elementwise, "silu_mul", kAny, kAny,
     "void vllm::act_and_mul_kernel<{T}, &({T} vllm::silu_kernel<{T}>({T} const&)), true>({T}*, "
     "{T} const*, int)"},
    {elementwise, "act", kAny, kAny,
     "void vllm::act_and_mul_kernel<{T}, &({T} vllm::silu_kernel<{T}>({T} const&)), true>({T}*, "
     "{T} const*, int)"},
    {elementwise, "silu", kAny, kAny,
     "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
     "namespace)::silu_kernel(at::TensorIteratorBase&)::{{lambda()#1}}::operator()() "
     "const::{{lambda()#6}}::operator()() const::{{lambda({T})#1}}, std::array<char*, 2ul> >(int, "
     "at::native::(anonymous namespace)::silu_kernel, std::array<char*, 2ul>)"},
    {elementwise, "optimizer", kAny, kAny,
     "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
     "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false> "
     ">(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)"},
    {elementwise, "mul", kAny, kAny,
     "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<{T}, {T}, {T}, "
     "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, "
     "at::native::BinaryFunctor<{T}, {T}, {T}, at::native::binary_internal::MulFunctor<float> >, "
     "std::array<char*, 3ul>)"},
    {elementwise, "", kAny, kAny,
     "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<{T}>, "
     "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<{T}>, std::array<char*, 3ul>)"},
    {cast, "quant", kAny, kAny,
     "void vllm::scaled_fp8_quant_kernel<{T}, {D}>({D}*, {T} const*, float const*, long)"},
    {cast, "", kAny, kAny,
     "void at::native::elementwise_kernel_manual_unroll<128, 8, "
     "at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{{"
     "lambda()#3}}::operator()() const::{{lambda()#12}}::operator()() "
     "const::{{lambda({T})#1}}>(at::TensorIteratorBase&, "
     "at::native::direct_copy_kernel_cuda)::{{lambda(int, bool)#1}}>(int, "
     "at::native::gpu_kernel_impl)"},
    {embedding, "", kAny, Phase::backward,
     "void at::native::(anonymous namespace)::compute_grad_weight<{T}, float>(long*, {T} const*, "
     "long*, long, long)"},
    {embedding, "", kAny, kAny,
     "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, "
     "long, long, bool)"},
    {sampling, "", kAny, kAny,
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::ArgMaxOps<float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float, "
     "at::native::ArgMaxOps<float>, unsigned int, long, 4, 4>)"},
    {loss, "", kAny, Phase::backward,
     "void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<{T}, "
     "long>({T}*, {T} const*, long const*, {T} const*, {T} const*, bool, int, int, long, long)"},
    {loss, "", kAny, kAny,
     "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<{T}, float, "
     "long>({T}*, {T}*, {T} const*, long const*, {T} const*, bool, long, long, long, long)"},
    {copy, "", kAmd, kAny, "__amd_rocclr_copyBuffer"},
    {copy, "", kNvidia, kAny,
     "void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::"
     "TensorIteratorBase&)::{{lambda({T})#1}}> >(int, at::native::gpu_kernel_impl_nocast)"},
    {collective, "custom", kAny, kAny,
     "void vllm::cross_device_reduce_1stage<{D}, 8>(vllm::RankData*, vllm::RankSignals, "
     "vllm::Signal*, {D}*, int, int)"},
    {collective, "", kAmd, kAny, "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"},
    {collective, "", kNvidia, kAny,
     "ncclDevKernel_AllReduce_Sum_{N}_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
};

/// The second operand of attention times values is not transposed, nor is a weight in the gradient
/// of its input; in the gradient of a weight both operands are.
std::string_view operands_of(const NameFacts& facts) {
  const auto in_role = [&](std::string_view word) {
    return facts.role.find(word) != std::string_view::npos;
  };
  if (in_role("wgrad") || in_role("weight_grad")) return "Cijk_Ailk_Bjlk";
  const bool times_values = facts.cls == attention_scores && (in_role("value") || in_role("pv"));
  if (times_values || in_role("dgrad") || in_role("input_grad")) return "Cijk_Ailk_Bljk";
  return "Cijk_Alik_Bljk";
}

std::string tensile_name(const NameFacts& facts, const Spelling& spelling) {
  const std::string_view arch = facts.architecture;
  const std::string_view isa = arch.starts_with("gfx") ? arch.substr(3) : std::string_view{"942"};
  const std::string split =
      facts.splits > 1 ? fmt::format("_GSU{}_GSUAMBSK", facts.splits) : std::string{"_GSUAMBSK"};
  return fmt::format(
      "{}_{}_Bias_HA_S_SAV_UserArgs_MT{}x{}x{}_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_"
      "CADS0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8{}"
      "_GLS0_ISA{}_IU1_K1_LRVW8_MIAV0_MO40_PGR2_PLR1_PKA1_SIA3_SK0_TLDS1_USL1_WSGRA0_WSGRB0_WS64_"
      "WG32_8_1",
      operands_of(facts), spelling.tensile, facts.tile_n, facts.tile_m, facts.tile_k, split, isa);
}

std::string cublas_name(const NameFacts& facts, const Spelling& spelling) {
  const std::string_view arch = facts.architecture;
  const bool hopper_or_later =
      arch.starts_with("sm_9") || (arch.size() > 5 && arch.starts_with("sm_1"));
  if (hopper_or_later) {
    return fmt::format("nvjet_{}_{}x{}_{}x4_2x1_v_bz{}_TNN", spelling.nvjet, facts.tile_n,
                       facts.tile_m, facts.tile_k, facts.splits > 1 ? "_splitK" : "");
  }
  return fmt::format("ampere_{}_{}x{}_ldg8_f2f_stages_{}x4{}_tn", spelling.ampere, facts.tile_n,
                     facts.tile_m, facts.tile_k, facts.splits > 1 ? "_splitK" : "");
}

}  // namespace

std::string profiler_name(const NameFacts& facts) {
  const Spelling& spelling = spelling_of(facts.dtype);
  const Vendor vendor = facts.architecture.starts_with("sm_") ? Vendor::nvidia : Vendor::amd;
  const bool grouped = facts.role.find("experts") != std::string_view::npos;
  if ((facts.cls == gemm && !grouped) || facts.cls == attention_scores) {
    return vendor == Vendor::amd ? tensile_name(facts, spelling) : cublas_name(facts, spelling);
  }
  for (const Row& row : kRows) {
    if (row.cls != facts.cls || facts.role.find(row.word) == std::string_view::npos) continue;
    if ((row.vendor && *row.vendor != vendor) || (row.phase && *row.phase != facts.phase)) continue;
    return fmt::format(fmt::runtime(row.pattern), fmt::arg("T", spelling.c10),
                       fmt::arg("K", spelling.ck),
                       fmt::arg("D", vendor == Vendor::amd ? spelling.hip : spelling.cuda),
                       fmt::arg("N", spelling.nccl), fmt::arg("H", facts.head_size));
  }
  return facts.role.empty() ? std::string{"unnamed_kernel"} : std::string(facts.role);
}

}  // namespace ridgeline::timeline
