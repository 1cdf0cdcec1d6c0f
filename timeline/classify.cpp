#include "timeline/classify.hpp"

#include <algorithm>
#include <string>

namespace ridgeline::timeline {
namespace {

using enum KernelClass;

/// The first row fits whose word, and `also` if there is one, occur in the lower-case name. Order
/// carries meaning: what a word would wrongly claim stands before it.
struct Row {
  KernelClass cls;
  std::string_view word;
  std::string_view also = "";
};

constexpr Row kRows[] = {
    // Names that say it outright.
    {gemm, "cijk_"},
    {gemm, "nvjet_"},
    {copy, "__amd_rocclr_"},
    {collective, "nccl"},
    {collective, "rccl"},
    {collective, "cross_device_reduce"},
    {collective, "multimem_all"},
    {collective, "all_reduce"},
    {collective, "allreduce"},
    {collective, "all_gather"},
    {collective, "allgather"},
    {collective, "reduce_scatter"},
    {collective, "reducescatter"},
    {collective, "all_to_all"},
    {collective, "alltoall"},
    {collective, "quick_reduce"},
    {collective, "quickreduce"},
    {collective, "mscclpp"},
    {collective, "nvshmem"},
    {collective, "deep_ep"},
    // Bookkeeping whose parameters sound like more.
    {elementwise, "multi_tensor_apply"},  // optimizers, and the norm of a gradient
    {elementwise, "distribution_"},       // random numbers: normal_, exponential_
    {elementwise, "upsample"},
    {elementwise, "kv_indices"},
    {elementwise, "page_indices"},
    {elementwise, "seqlens"},
    // Mixture of experts: routing is a softmax over experts and what follows from it; the experts
    // themselves are products.
    {softmax, "topkgating"},
    {softmax, "topk_softmax"},
    {softmax, "topk_sigmoid"},
    {softmax, "grouped_topk"},
    {softmax, "moe_fused_gate"},
    {softmax, "_topk_forward"},
    {elementwise, "routing"},
    {elementwise, "moe_align"},
    {elementwise, "moe_sum"},
    {elementwise, "moesorting"},
    {elementwise, "moe_sorting"},
    {elementwise, "finalize_m",
     "scatter"},  // _finalize_matmul_scatter_bf16: adds the experts' rows up
    {elementwise, "moe::dev::finalize"},
    {elementwise, "finalizemoe"},
    {elementwise, "expandinputrows"},
    {gemm, "fused_moe"},
    {gemm, "ck_moe"},
    {gemm, "moe_stage"},
    {gemm, "moe_gemm"},
    {gemm, "_matmul_ogs"},
    // The KV cache, before attention: some names hold both.
    {cache_write, "reshape_and_cache"},
    {cache_write, "concat_and_cache"},
    {cache_write, "store_kvcache"},
    {cache_write, "store_kv_cache"},
    {cache_write, "storekvcache"},
    {cache_write, "set_kv_buffer"},
    {cache_write, "set_mla_kv_buffer"},
    {cache_write, "appendpagedkv"},
    {cache_write, "append_paged_kv"},
    {copy, "gather_cache"},
    {copy, "copy_blocks"},
    {copy, "swap_blocks"},
    // Attention.
    {attention, "fmha"},
    {attention, "flash_fwd"},
    {attention, "flash_bwd"},
    {attention, "flash_attn"},
    {attention, "flashattn"},
    {attention, "flash_mla"},
    {attention, "paged_attention"},
    {attention, "pagedattention"},
    {attention, "unified_attention"},
    {attention, "multihead_attention"},
    {attention, "decode_attention"},
    {attention, "extend_attention"},
    {attention, "efficient_attention"},
    {attention, "attention_kernel"},
    {attention, "attn_fwd"},
    {attention, "attn_bwd"},
    {attention, "attn_states"},
    {attention, "mla_"},
    {attention, "cutlassmla"},
    {attention, "sdpa"},
    {attention, "reduce_segments"},
    {attention, "bwd_kernel_fuse"},
    {attention, "bwd_kernel_dk_dv"},
    {attention, "bwd_kernel_dq"},
    {attention, "bwd_preprocess"},
    {attention, "_fwd_kernel_stage"},
    {attention, "_fwd_grouped_kernel_stage"},
    {attention, "prefillwith"},  // flashinfer: BatchPrefillWithPagedKVCacheKernel
    {attention, "decodewith"},
    {attention, "mergestate"},
    {attention, "mha_fwd"},
    {attention, "mha_bwd"},
    {attention, "kernel_mha"},
    // Training losses, before softmax and reductions.
    {loss, "nll_loss"},
    {loss, "cross_entropy"},
    {loss, "mse_"},
    {loss, "_loss"},
    // The order of these is that of how much of a fused kernel each takes.
    {rope, "rotary"},
    {rope, "_rope"},
    {rope, "rope_"},
    {rope, "ropekernel"},
    {norm, "batch_norm"},
    {norm, "rms_norm"},
    {norm, "rmsnorm"},
    {norm, "layer_norm"},
    {norm, "layernorm"},
    {norm, "group_norm"},
    {norm, "groupnorm"},
    {norm, "batchnorm"},
    {norm, "welford"},
    {norm, "norm_kernel"},
    {norm, "gammabeta"},
    {norm, "triton_", "rsqrt"},
    {elementwise, "act_and_mul"},
    {elementwise, "silu_and_mul"},
    {elementwise, "gelu_and_mul"},
    // Compiled by Inductor: named for the operators fused.
    {gemm, "triton_tem_"},
    {gemm, "triton_mm"},
    {softmax, "triton_", "softmax"},
    {embedding, "triton_", "embedding"},
    {sampling, "triton_", "argmax"},
    {elementwise, "triton_poi_"},
    {elementwise, "triton_per_"},
    {elementwise, "triton_red_"},
    // Sampling.
    {sampling, "argmax"},
    {sampling, "argmin"},
    {sampling, "topk"},
    {sampling, "top_k"},
    {sampling, "topp"},
    {sampling, "top_p"},
    {sampling, "sampling"},
    {sampling, "sampler"},
    {sampling, "multinomial"},
    {sampling, "gumbel"},
    {sampling, "penalt"},
    {sampling, "sort"},  // radix, bitonic, onesweep: over the vocabulary
    {sampling, "onesweep"},
    {softmax, "softmax"},
    {embedding, "embedding"},
    {embedding, "indexselect"},
    {embedding, "index_select"},
    {embedding, "vectorized_gather"},
    {embedding, "compute_grad_weight"},
    // Products and convolutions of every library.
    {elementwise,
     "kernel_elementwise"},  // of composable kernel, whose layouts are spelled tensor_layout::gemm
    {copy, "nchwtonhwc"},
    {copy, "nhwctonchw"},
    {gemm, "gemm"},
    {gemm, "bmm_"},
    {gemm, "matmul"},
    {gemm, "wvsplitk"},
    {gemm, "wvspltk"},
    {gemm, "splitk"},
    {gemm, "llmm1"},
    {gemm, "gemv"},
    {gemm, "gevm"},
    {gemm, "dot_kernel"},
    {gemm, "cublas"},
    {gemm, "marlin"},
    {gemm, "machete"},
    {gemm, "exllama"},
    {gemm, "mul_mat"},
    {gemm, "cutlass::kernel"},
    {gemm, "cutlass::device_kernel"},
    {gemm, "epilogue::impl"},  // cuBLASLt's bias, apart from its product
    {gemm, "xmma_"},
    {gemm, "scudnn"},
    {gemm, "winograd"},
    {gemm, "conv"},
    {gemm, "fft2d"},  // cuDNN's convolution by transforms
    {gemm, "cask_cudnn"},
    // Movement and format.
    {copy, "gpu_kernel_impl_nocast", "direct_copy"},  // no cast: a strided copy, .contiguous()
    {cast, "direct_copy"},
    {cast, "bfloat16_copy"},
    {cast, "float16_copy"},
    {cast, "tofloat32_copy"},
    {cast, "float8_copy"},
    {cast, "quant"},
    {cast, "_to_copy"},
    {cast, "opwithcast"},
    {cast, "cast_kernel"},
    {cast, "castkernel"},
    {copy, "catarray"},
    {copy, "transpose"},
    {copy, "nchw2cnhw"},
    {copy, "cnhw2nchw"},
    {copy, "permute"},
    {copy, "im2"},
    {copy, "copy"},
    {copy, "memcpy"},
    {copy, "memset"},
    {copy, "fillbuffer"},
    // The rest of what a framework does one element at a time, or folds.
    {elementwise, "elementwise"},
    {elementwise, "reduce_kernel"},
    {elementwise, "pool"},
    {elementwise, "dropout"},
    {elementwise, "subtensorop"},
    {elementwise, "silu"},
    {elementwise, "gelu"},
    {elementwise, "swiglu"},
    {elementwise, "activation"},
    {elementwise, "index"},
    {elementwise, "scatter"},
    {elementwise, "gather"},
    {elementwise, "scan"},
    {elementwise, "rocprim"},
    {elementwise, "cub::"},
    {elementwise, "3cub"},
    {elementwise, "thrust"},
    {elementwise, "position"},
    {elementwise, "token_ids"},
    {elementwise, "arange"},
    {elementwise, "clamp"},
    {elementwise, "tril"},
    {elementwise, "triu"},
    {elementwise, "at::native::"},
};

struct Family {
  std::string_view word;
  std::string_view name;
};

constexpr Family kFamilies[] = {
    {"cijk_", "Tensile"},
    {"nvjet_", "cublas"},
    {"__amd_rocclr_", "rocclr"},
    {"nccl", "nccl"},  // RCCL keeps the names of NCCL
    {"rccl", "nccl"},
    {"ck_tile6kentry", "ck_tile"},
    {"ck_tile::kentry", "ck_tile"},
    {"at::native", "at::native"},
    {"aiter", "aiter"},
    {"vllm", "vllm"},
    {"paged_attention_ll4mi", "vllm"},
    {"wvsplitk", "vllm"},
    {"wvspltk", "vllm"},
    {"sgl_", "sgl"},
    {"flashinfer", "flashinfer"},
    {"tensorrt_llm", "trtllm"},
    {"moe::dev", "trtllm"},
    {"bmm_", "trtllm"},
    {"fmhasm", "trtllm"},
    {"flash::", "flash"},
    {"ck_tile", "ck_tile"},
    {"_zn2ck", "ck"},
    {"ck::", "ck"},
    {"triton_", "inductor"},
    {"cudnn", "cudnn"},
    {"igemm_", "miopen"},
    {"miopen", "miopen"},
    {"batched_transpose_", "miopen"},
    {"subtensorop", "miopen"},
    {"transpose_cnhw", "miopen"},
    {"transpose_nchw", "miopen"},
    {"xmma_", "cublas"},
    {"cublas", "cublas"},
    {"ampere_", "cublas"},
    {"volta_", "cublas"},
    {"turing_", "cublas"},
    {"cutlass", "cutlass"},
    {"rocprim", "rocprim"},
    {"cub::", "cub"},
    {"at::", "at::native"},
};

bool holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// A kernel of Triton bears the name of its Python function and nothing else.
bool is_python_name(std::string_view lower) {
  return !lower.starts_with("_z") && std::all_of(lower.begin(), lower.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

KernelFacts classify(std::string_view kernel_name) {
  std::string lower(kernel_name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  KernelFacts facts;
  for (const Row& row : kRows) {
    if (holds(lower, row.word) && holds(lower, row.also)) {
      facts.cls = row.cls;
      break;
    }
  }
  const auto* family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                    [&](const Family& f) { return holds(lower, f.word); });
  if (family != std::end(kFamilies)) {
    facts.family = family->name;
  } else if (is_python_name(lower) && !lower.empty()) {
    facts.family = "triton";
  }
  return facts;
}

EventClasses::EventClasses(const Recording& recording) : facts_(recording.names.size()) {
  std::vector<bool> known(facts_.size(), false);
  for (const DeviceEvent& e : recording.device_events) {
    if (e.kind != DeviceEvent::Kind::kernel || known[e.name]) continue;
    known[e.name] = true;
    facts_[e.name] = classify(recording.name(e.name));
  }
}

}  // namespace ridgeline::timeline
