#include "sim/engine_spec.hpp"

#include <algorithm>

#include "sim/scheduler.hpp"

namespace ridgeline::sim {
namespace {

constexpr std::int64_t kMostSequences = 65536;
constexpr std::int64_t kMostGpus = 1024;
constexpr std::int64_t kMostTokens = 1 << 24;
constexpr std::int64_t kMostBlocks = 1 << 27;  // times a block of 16 still counts in 32 bits

/// vLLM's sizes: 1, 2, 4, 8 to 248 by 8, 256 and on by 16, up to twice the tokens of max_num_seqs
/// decodes, the policy's largest and the token budget.
std::vector<std::int64_t> default_capture_sizes(const EngineSpec& engine) {
  const std::int64_t most =
      std::min({2 * engine.max_num_seqs * engine.tokens_per_decode(),
                defaults_of(engine.scheduler).largest_graph, engine.max_num_batched_tokens});
  std::vector<std::int64_t> sizes;
  for (const std::int64_t s : {1, 2, 4}) {
    if (s <= most) sizes.push_back(s);
  }
  for (std::int64_t s = 8; s <= most; s += s < 256 ? 8 : 16) sizes.push_back(s);
  return sizes;
}

/// A graph of decodes holds whole sequences, so its size is a multiple of what each computes: vLLM
/// rounds the sizes up, and leaves out what then is larger than the largest.
void hold_whole_decodes(std::vector<std::int64_t>& sizes, std::int64_t tokens_per_decode) {
  if (tokens_per_decode == 1 || sizes.empty()) return;
  const std::int64_t most = sizes.back();
  for (std::int64_t& size : sizes)
    size = (size + tokens_per_decode - 1) / tokens_per_decode * tokens_per_decode;
  std::erase_if(sizes, [most](std::int64_t size) { return size > most; });
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
}

void read_speculation(EngineSpec& e, const core::Reader& in, const workloads::ModelSpec& model) {
  if (!in.has("speculative_config")) return;
  constexpr const char* kKey = "speculative_config";
  e.speculative_config = read_speculative_config(in.child(kKey), model);
  in.require(e.max_num_batched_tokens >= e.tokens_per_decode(), "max_num_batched_tokens",
             "at least the " + std::to_string(e.tokens_per_decode()) +
                 " tokens that a decode step with drafts computes of a sequence");
  if (e.num_scheduler_steps > 1)
    in.reject(kKey, "drafts are checked step by step; set engine.num_scheduler_steps=1");
  const auto& draft = e.speculative_config->draft;
  if (!draft) {
    // The host must see the tokens before it can look for them.
    if (in.has("async_scheduling") && e.async_scheduling)
      in.reject("async_scheduling",
                "n-grams are looked up by the host between two steps; set it "
                "to false, or name a draft model");
    e.async_scheduling = false;
    return;
  }
  if (e.parallelism.pipeline > 1)
    in.reject(kKey, "a draft model runs on one stage; set engine.pipeline_parallel_size=1");
  if (draft->heads % e.parallelism.tensor != 0) {
    in.reject(kKey, "the draft model's " + std::to_string(draft->heads) +
                        " heads cannot be split over engine.tensor_parallel_size = " +
                        std::to_string(e.parallelism.tensor) + " GPUs");
  }
}

}  // namespace

std::optional<std::int64_t> EngineSpec::graph_size_for(std::int64_t tokens) const {
  const auto it =
      std::lower_bound(cudagraph_capture_sizes.begin(), cudagraph_capture_sizes.end(), tokens);
  if (it == cudagraph_capture_sizes.end()) return std::nullopt;
  return *it;
}

EngineSpec read_engine_spec(const core::Reader& in, const workloads::ModelSpec& model,
                            const workloads::StackSpec& stack) {
  EngineSpec e;
  e.async_scheduling = stack.async_scheduling;
  e.scheduler = in.get<std::string>("scheduler", stack.scheduler);
  const auto known = scheduler_names();
  if (std::find(known.begin(), known.end(), e.scheduler) == known.end()) {
    in.reject("scheduler",
              "unknown scheduler '" + e.scheduler + "'" + core::suggestion(e.scheduler, known));
  }
  const auto whole = [&](std::string_view key, std::int64_t fallback, std::int64_t low,
                         std::int64_t high) {
    return in.has(key) ? in.integer(key, low, high) : fallback;
  };
  e.max_model_len = whole("max_model_len", model.max_position, 2, 1 << 30);
  in.require(e.max_model_len <= model.max_position, "max_model_len",
             "at most model.max_position (" + std::to_string(model.max_position) + ")");
  const PolicyDefaults& defaults = defaults_of(e.scheduler);
  e.enable_chunked_prefill = in.get("enable_chunked_prefill", defaults.chunked_prefill);
  e.max_num_batched_tokens =
      whole("max_num_batched_tokens",
            e.enable_chunked_prefill ? defaults.max_num_batched_tokens
                                     : std::max(defaults.max_num_batched_tokens, e.max_model_len),
            1, kMostTokens);
  // The default gives way to a small budget of tokens; what somebody wrote does not.
  e.max_num_seqs = whole("max_num_seqs", std::min(defaults.max_num_seqs, e.max_num_batched_tokens),
                         1, kMostSequences);
  in.require(e.max_num_seqs <= e.max_num_batched_tokens, "max_num_seqs",
             "at most max_num_batched_tokens (" + std::to_string(e.max_num_batched_tokens) + ")");
  e.block_size = whole("block_size", e.block_size, 1, 4096);
  if (in.has("gpu_memory_utilization"))
    e.gpu_memory_utilization = in.fraction("gpu_memory_utilization", 0.01, 1.0);
  e.parallelism.tensor = whole("tensor_parallel_size", 1, 1, kMostGpus);
  in.require(model.heads % e.parallelism.tensor == 0, "tensor_parallel_size",
             "a divisor of model.heads (" + std::to_string(model.heads) + ")");
  e.parallelism.pipeline = whole("pipeline_parallel_size", 1, 1, kMostGpus);
  in.require(e.parallelism.pipeline <= model.layers, "pipeline_parallel_size",
             "at most model.layers (" + std::to_string(model.layers) + ")");
  e.parallelism.experts = in.get("enable_expert_parallel", false);
  e.data_parallel_size = whole("data_parallel_size", 1, 1, kMostGpus);
  e.kv_cache_dtype = model.activations;
  if (in.has("kv_cache_dtype") && in.get<std::string>("kv_cache_dtype") != "auto") {
    e.kv_cache_dtype = in.choice("kv_cache_dtype", hw::dtype_names());
  }
  e.enforce_eager = in.get("enforce_eager", e.enforce_eager);
  e.enable_prefix_caching = in.get("enable_prefix_caching", defaults.prefix_caching);
  e.num_scheduler_steps = whole("num_scheduler_steps", 1, 1, 1024);
  e.async_scheduling = in.get("async_scheduling", e.async_scheduling);
  read_speculation(e, in, model);
  e.long_prefill_token_threshold = whole("long_prefill_token_threshold", 0, 0, kMostTokens);
  if (e.long_prefill_token_threshold > 0 && defaults.decodes_apart && !e.enable_chunked_prefill)
    in.reject("long_prefill_token_threshold",
              "prompts are computed whole; set engine.enable_chunked_prefill=true");
  e.scheduler_reserve_full_isl = in.get("scheduler_reserve_full_isl", e.scheduler_reserve_full_isl);
  e.watermark = in.has("watermark") ? in.fraction("watermark", 0.0, 0.5) : defaults.watermark;
  if (in.has("prefill_free_kv")) e.prefill_free_kv = in.fraction("prefill_free_kv", 0.0, 1.0);
  const auto only_with = [&](bool used, std::string_view key) {
    if (used && !defaults.decodes_apart)
      in.reject(key,
                "scheduler " + e.scheduler + " knows nothing of it; set engine.scheduler=vllm_v0");
  };
  only_with(e.prefill_free_kv > 0.0, "prefill_free_kv");
  only_with(e.num_scheduler_steps > 1, "num_scheduler_steps");
  if (in.has("num_gpu_blocks_override"))
    e.num_gpu_blocks_override = in.integer("num_gpu_blocks_override", 1, kMostBlocks);

  if (in.has("cudagraph_capture_sizes")) {
    e.cudagraph_capture_sizes = in.integers("cudagraph_capture_sizes", 1, 65536);
    std::sort(e.cudagraph_capture_sizes.begin(), e.cudagraph_capture_sizes.end());
  } else {
    e.cudagraph_capture_sizes = default_capture_sizes(e);
  }
  hold_whole_decodes(e.cudagraph_capture_sizes, e.tokens_per_decode());
  if (!e.enable_chunked_prefill && e.max_num_batched_tokens < e.max_model_len) {
    in.reject("max_num_batched_tokens", "expected at least max_model_len (" +
                                            std::to_string(e.max_model_len) +
                                            ") when enable_chunked_prefill is false, got '" +
                                            std::to_string(e.max_num_batched_tokens) + "'");
  }
  return e;
}

}  // namespace ridgeline::sim
