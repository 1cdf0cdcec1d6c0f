#include "diagnosis/pasted/arguments.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "diagnosis/pasted/words.hpp"

namespace ridgeline::diagnosis::pasted {
namespace {

using enum ArgumentKind;
constexpr unsigned kEngine = kServer | kOffline;  // who runs an engine
constexpr unsigned kBench = kClient | kOffline;   // who sends requests

constexpr std::array kArguments{
    Argument{"model", "model.name", text, kEngine | kClient | kLlama},
    Argument{"model_path", "model.name", text, kEngine | kClient},
    Argument{"model_id", "model.name", text, kEngine},
    Argument{"m", "model.name", text, kLlama},
    Argument{"hf_repo", "model.name", text, kLlama},
    Argument{"hf", "model.name", text, kLlama},
    Argument{"tensor_parallel_size", "engine.tensor_parallel_size", text, kEngine},
    Argument{"tp", "engine.tensor_parallel_size", text, kEngine},
    Argument{"tp_size", "engine.tensor_parallel_size", text, kEngine},
    Argument{"num_shard", "engine.tensor_parallel_size", text, kEngine},
    Argument{"pipeline_parallel_size", "engine.pipeline_parallel_size", text, kEngine},
    Argument{"pp", "engine.pipeline_parallel_size", text, kEngine},
    Argument{"pp_size", "engine.pipeline_parallel_size", text, kEngine},
    Argument{"data_parallel_size", "engine.data_parallel_size", text, kEngine},
    Argument{"dp", "engine.data_parallel_size", text, kEngine},
    Argument{"dp_size", "engine.data_parallel_size", text, kEngine},
    Argument{"enable_expert_parallel", "engine.enable_expert_parallel", flag, kEngine},
    Argument{"ep_size", "engine.expert_parallel_size", text, kEngine},
    Argument{"max_num_seqs", "engine.max_num_seqs", text, kEngine},
    Argument{"max_running_requests", "engine.max_num_seqs", text, kEngine},
    Argument{"max_batch_size", "engine.max_num_seqs", text, kEngine},
    Argument{"max_num_batched_tokens", "engine.max_num_batched_tokens", text, kEngine},
    Argument{"max_num_tokens", "engine.max_num_batched_tokens", text, kEngine},
    Argument{"chunked_prefill_size", "engine.chunked_prefill_size", text, kEngine},
    Argument{"max_prefill_tokens", "engine.max_prefill_tokens", text, kEngine},
    Argument{"max_model_len", "engine.max_model_len", text, kEngine},
    Argument{"max_seq_len", "engine.max_model_len", text, kEngine},
    Argument{"context_length", "engine.max_model_len", text, kEngine},
    Argument{"quantization", "engine.quantization", text, kEngine},
    Argument{"q", "engine.quantization", text, kEngine},
    Argument{"quantize", "engine.quantization", text, kEngine},
    Argument{"dtype", "engine.dtype", text, kEngine},
    Argument{"kv_cache_dtype", "engine.kv_cache_dtype", text, kEngine},
    Argument{"gpu_memory_utilization", "engine.gpu_memory_utilization", text, kEngine},
    Argument{"mem_fraction_static", "engine.mem_fraction_static", text, kEngine},
    Argument{"kv_cache_free_gpu_memory_fraction", "engine.kv_memory_fraction", text, kEngine},
    Argument{"enforce_eager", "engine.enforce_eager", flag, kEngine},
    Argument{"disable_cuda_graph", "engine.enforce_eager", flag, kEngine},
    Argument{"cuda_graph_max_bs", "engine.cuda_graph_max_bs", text, kEngine},
    Argument{"max_seq_len_to_capture", "engine.max_seq_len_to_capture", text, kEngine},
    Argument{"block_size", "engine.block_size", text, kEngine},
    Argument{"page_size", "engine.block_size", text, kEngine},
    Argument{"swap_space", "engine.swap_space", text, kEngine},
    Argument{"cpu_offload_gb", "engine.cpu_offload_gb", text, kEngine},
    Argument{"enable_chunked_prefill", "engine.enable_chunked_prefill", flag, kEngine},
    Argument{"no_enable_chunked_prefill", "engine.enable_chunked_prefill", off_flag, kEngine},
    Argument{"chunked_prefill_enabled", "engine.enable_chunked_prefill", flag, kEngine},
    Argument{"enable_prefix_caching", "engine.enable_prefix_caching", flag, kEngine},
    Argument{"no_enable_prefix_caching", "engine.enable_prefix_caching", off_flag, kEngine},
    Argument{"disable_radix_cache", "engine.enable_prefix_caching", off_flag, kEngine},
    Argument{"async_scheduling", "engine.async_scheduling", flag, kEngine},
    Argument{"no_async_scheduling", "engine.async_scheduling", off_flag, kEngine},
    Argument{"disable_overlap_schedule", "engine.async_scheduling", off_flag, kEngine},
    Argument{"disable_custom_all_reduce", "engine.disable_custom_all_reduce", flag, kEngine},
    Argument{"speculative_config", "engine.speculative_config", text, kEngine},
    Argument{"speculative_algorithm", "engine.speculative_config", text, kEngine},
    Argument{"speculative_model", "engine.speculative_config", text, kEngine},
    Argument{"num_speculative_tokens", "engine.num_speculative_tokens", text, kEngine},
    Argument{"num_scheduler_steps", "engine.num_scheduler_steps", text, kEngine},
    Argument{"attention_backend", "engine.attention_backend", text, kEngine},
    Argument{"scheduling_policy", "engine.scheduling_policy", text, kEngine},
    Argument{"compilation_config", "engine.compilation_config", text, kEngine},
    Argument{"distributed_executor_backend", "engine.distributed_executor_backend", text, kEngine},
    Argument{"num_prompts", "serving.requests", text, kBench},
    Argument{"num_requests", "serving.requests", text, kBench},
    Argument{"request_rate", "serving.request_rate", text, kClient},
    Argument{"max_concurrency", "serving.max_concurrency", text, kClient},
    Argument{"concurrency", "serving.max_concurrency", text, kBench},
    Argument{"random_input_len", "serving.prompt_tokens", text, kBench},
    Argument{"random_input", "serving.prompt_tokens", text, kBench},
    Argument{"input_len", "serving.prompt_tokens", text, kBench},
    Argument{"random_output_len", "serving.output_tokens", text, kBench},
    Argument{"random_output", "serving.output_tokens", text, kBench},
    Argument{"output_len", "serving.output_tokens", text, kBench},
    Argument{"batch_size", "serving.concurrency", text, kOffline},
    Argument{"batch", "serving.concurrency", text, kOffline},
    Argument{"n_gpu_layers", "engine.n_gpu_layers", text, kLlama},
    Argument{"gpu_layers", "engine.n_gpu_layers", text, kLlama},
    Argument{"ngl", "engine.n_gpu_layers", text, kLlama},
    Argument{"c", "engine.n_ctx", text, kLlama},
    Argument{"ctx_size", "engine.n_ctx", text, kLlama},
    Argument{"b", "engine.n_batch", text, kLlama},
    Argument{"batch_size", "engine.n_batch", text, kLlama},
    Argument{"ub", "engine.n_ubatch", text, kLlama},
    Argument{"ubatch_size", "engine.n_ubatch", text, kLlama},
    Argument{"np", "engine.n_parallel", text, kLlama},
    Argument{"parallel", "engine.n_parallel", text, kLlama},
    Argument{"t", "engine.n_threads", text, kLlama},
    Argument{"threads", "engine.n_threads", text, kLlama},
    Argument{"fa", "engine.flash_attn", flag, kLlama},
    Argument{"flash_attn", "engine.flash_attn", flag, kLlama},
    Argument{"ctk", "engine.cache_type_k", text, kLlama},
    Argument{"cache_type_k", "engine.cache_type_k", text, kLlama},
    Argument{"ctv", "engine.cache_type_v", text, kLlama},
    Argument{"cache_type_v", "engine.cache_type_v", text, kLlama},
    Argument{"nkvo", "engine.no_kv_offload", flag, kLlama},
    Argument{"no_kv_offload", "engine.no_kv_offload", flag, kLlama},
};

/// What stands in a dump for "not given".
bool says_nothing(std::string_view value) {
  for (const std::string_view word : {"", "None", "none", "null", "auto", "-1", "default"}) {
    if (value == word) return true;
  }
  return false;
}

std::string_view without_quotes(std::string_view value) {
  value = trim(value);
  while (!value.empty() && (value.front() == '\'' || value.front() == '"')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == '\'' || value.back() == '"')) value.remove_suffix(1);
  return value;
}

/// What a flag says that may stand for its opposite.
std::string truth(std::string_view value, bool turned) {
  std::string out = truth_text(value);
  if (turned && out == "true") return "false";
  if (turned && out == "false") return "true";
  return out;
}

}  // namespace

const Argument* find_argument(std::string_view name, Owner owner) {
  std::string plain(name);
  std::replace(plain.begin(), plain.end(), '-', '_');
  const auto* const it = std::find_if(kArguments.begin(), kArguments.end(), [&](const Argument& a) {
    return a.name == plain && (a.owners & owner) != 0;
  });
  return it == kArguments.end() ? nullptr : it;
}

void take_argument(const Argument& argument, std::string_view value, Owner owner, const Line& line,
                   Gathered& out) {
  value = without_quotes(value);
  if (says_nothing(value) || value.starts_with('$') || value.starts_with('<')) return;
  // A benchmark says what it asked for, not what it got; so does one who names a backend. A file's
  // name is worth less than the name in it.
  const bool is_request = owner == kClient || owner == kOffline ||
                          argument.key == "engine.attention_backend" ||
                          (owner == kLlama && argument.key == "model.name");
  const Source source = is_request ? Source::implied : Source::stated;
  if (argument.key == "serving.request_rate") {
    const auto rate = number_at(value);
    if (rate && rate->value > 0.0 && rate->rest.empty())
      out.add(argument.key, rate->digits + " /s", line, source);
    return;
  }
  std::string text(value);
  if (argument.kind != ArgumentKind::text) {
    text = truth(value, argument.kind == off_flag);
  } else if (text.starts_with("torch.")) {
    text.erase(0, 6);
  } else if (argument.key.starts_with("serving.") && !number_at(text)) {
    return;
  }
  out.add(argument.key, std::move(text), line, source);
}

}  // namespace ridgeline::diagnosis::pasted
