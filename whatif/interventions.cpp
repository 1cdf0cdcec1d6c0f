#include "whatif/interventions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "sim/memory_plan.hpp"

namespace ridgeline::whatif {
namespace {

using sim::Scenario;
using Change = std::optional<Overrides>;

bool is_training(const Scenario& s) {
  return std::holds_alternative<workloads::TrainingWorkload>(s.workload);
}

const workloads::GeneratedWorkload* generated(const Scenario& s) {
  return std::get_if<workloads::GeneratedWorkload>(&s.workload);
}
const workloads::ClosedLoop* closed_loop(const Scenario& s) {
  const auto* workload = generated(s);
  return workload != nullptr ? std::get_if<workloads::ClosedLoop>(&workload->arrivals) : nullptr;
}

std::string text(std::int64_t n) { return std::to_string(n); }

/// Nothing when there is nothing in it.
Change if_any(Overrides overrides) {
  return overrides.empty() ? std::nullopt : Change(std::move(overrides));
}

bool has_wide_weights(const Scenario& s) {
  return !is_training(s) && hw::bytes_of(s.model.weights) >= hw::bytes_of(hw::Dtype::fp16);
}

/// A method of quantization, or where the model's document gives number formats instead, those.
Change quantize(const Scenario& s, const char* method, const char* weights, std::string_view math) {
  if (!has_wide_weights(s)) return std::nullopt;
  const core::Node* model = s.document.find("model");
  const bool by_format = model != nullptr && (model->find("weights") != nullptr ||
                                              model->find("math") != nullptr || *method == '\0');
  if (by_format) return {{{"model.weights", weights}, {"model.math", std::string(math)}}};
  return {{{"model.quantization", method}}};
}

Change eight_bit_weights(const Scenario& s) {
  const core::Node* model = s.document.find("model");
  // No method keeps 8-bit weights and multiplies in 16; the formats alone say it.
  if (model != nullptr && model->find("quantization") != nullptr) return std::nullopt;
  return quantize(s, "", "int8", hw::name_of(s.model.activations));
}
Change four_bit_weights(const Scenario& s) {
  return quantize(s, "awq", "int4", hw::name_of(s.model.activations));
}
Change fp8_everywhere(const Scenario& s) {
  if (!s.gpu.supports(hw::Dtype::fp8)) return std::nullopt;
  return quantize(s, "fp8", "fp8", "fp8");
}

Change fp8_kv_cache(const Scenario& s) {
  if (is_training(s) || hw::bytes_of(s.engine.kv_cache_dtype) <= hw::bytes_of(hw::Dtype::fp8))
    return std::nullopt;
  return {{{"engine.kv_cache_dtype", "fp8"}}};
}

Change fused_attention(const Scenario& s) {
  if (s.stack.lowering.prefill_attention == workloads::PrefillAttention::fused) return std::nullopt;
  return {{{"stack.lowering.prefill_attention", "fused"}}};
}

Change kv_split(const Scenario& s) {
  Overrides out;
  if (is_training(s)) return std::nullopt;
  if (!s.stack.lowering.kv_split) out.emplace_back("stack.lowering.kv_split", "true");
  if (s.stack.efficiency.of_bandwidth(hw::KernelKind::attention_decode) < 1.0)
    out.emplace_back("stack.efficiency.bandwidth.attention_decode", "1");
  if (s.stack.efficiency.of_time(hw::KernelKind::attention_decode) > 1.0)
    out.emplace_back("stack.efficiency.time.attention_decode", "1");
  return if_any(std::move(out));
}

/// vLLM's default capture sizes, up to one that holds `sequences`.
std::vector<std::int64_t> capture_sizes_for(std::int64_t sequences) {
  std::vector<std::int64_t> sizes{1, 2, 4};
  std::int64_t size = 0;
  while (size < sequences) sizes.push_back(size += size < 256 ? 8 : 16);
  return sizes;
}
std::string list(const std::vector<std::int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

Change graph_capture(const Scenario& s) {
  Overrides out;
  if (is_training(s)) return std::nullopt;
  if (!s.stack.graphs) out.emplace_back("stack.graphs", "true");
  if (s.engine.enforce_eager) out.emplace_back("engine.enforce_eager", "false");
  const auto* loop = closed_loop(s);
  const std::int64_t most =
      std::min(s.engine.max_num_seqs, loop != nullptr ? loop->concurrency : s.engine.max_num_seqs);
  if (!s.engine.graph_size_for(most))
    out.emplace_back("engine.cudagraph_capture_sizes", list(capture_sizes_for(most)));
  return if_any(std::move(out));
}

Change finer_graph_sizes(const Scenario& s) {
  const std::vector<std::int64_t>& coarse = s.engine.cudagraph_capture_sizes;
  if (is_training(s) || !s.stack.graphs || s.engine.enforce_eager || coarse.empty())
    return std::nullopt;
  const std::vector<std::int64_t> fine = capture_sizes_for(coarse.back());
  if (fine.size() <= coarse.size()) return std::nullopt;
  return {{{"engine.cudagraph_capture_sizes", list(fine)}}};
}

Change asynchronous_host(const Scenario& s) {
  if (is_training(s) || s.engine.async_scheduling) return std::nullopt;
  return {{{"engine.async_scheduling", "true"}}};
}

Change remove_casts(const Scenario& s) {
  if (!s.stack.lowering.norm_casts) return std::nullopt;
  return {{{"stack.lowering.norm_casts", "false"}}};
}

Change fusion(const Scenario& s) {
  const workloads::Lowering& l = s.stack.lowering;
  Overrides out = remove_casts(s).value_or(Overrides{});
  const auto fuse = [&out](bool fused, const char* key) {
    if (!fused) out.emplace_back(fmt::format("stack.lowering.{}", key), "true");
  };
  fuse(l.fused_activation, "fused_activation");
  fuse(l.fused_add_norm, "fused_add_norm");
  fuse(l.fused_rope_cache, "fused_rope_cache");
  fuse(l.fused_quant, "fused_quant");
  if (s.model.qk_norm) fuse(l.fused_qk_norm, "fused_qk_norm");
  if (l.qk_copies) out.emplace_back("stack.lowering.qk_copies", "false");
  return if_any(std::move(out));
}

Change gemm_tuning(const Scenario& s) {
  const hw::EfficiencySpec& e = s.stack.efficiency;
  Overrides out;
  if (!e.tuned_gemms) out.emplace_back("stack.efficiency.tuned_gemms", "true");
  if (e.of_compute(hw::KernelKind::gemm) < 1.0)
    out.emplace_back("stack.efficiency.compute.gemm", "1");
  if (e.of_bandwidth(hw::KernelKind::gemm) < 1.0)
    out.emplace_back("stack.efficiency.bandwidth.gemm", "1");
  if (e.of_time(hw::KernelKind::gemm) > 1.0) out.emplace_back("stack.efficiency.time.gemm", "1");
  return if_any(std::move(out));
}

Change faster_kernels(const Scenario& s) {
  return {{{"stack.efficiency.beyond_floor",
            fmt::format("{}", 0.5 * s.stack.efficiency.beyond_floor)}}};
}

Change larger_batch(const Scenario& s) {
  if (const auto* training = std::get_if<workloads::TrainingWorkload>(&s.workload))
    return {{{"workload.training.microbatch", text(2 * training->microbatch)}}};
  const auto* loop = closed_loop(s);
  if (loop == nullptr) return {{{"engine.max_num_seqs", text(2 * s.engine.max_num_seqs)}}};
  if (loop->concurrency == 1) return std::nullopt;  // one at a time: there is nobody to add
  Overrides out{{"workload.arrivals.closed_loop.concurrency", text(2 * loop->concurrency)},
                {"workload.requests", text(2 * generated(s)->requests)}};
  if (s.engine.max_num_seqs < 2 * loop->concurrency)
    out.emplace_back("engine.max_num_seqs",
                     text(std::min(2 * loop->concurrency, s.engine.max_num_batched_tokens)));
  return out;
}

Change smaller_prefill_chunk(const Scenario& s) {
  const std::int64_t half = s.engine.max_num_batched_tokens / 2;
  if (is_training(s) || !s.engine.enable_chunked_prefill || half < s.engine.max_num_seqs)
    return std::nullopt;
  return {{{"engine.max_num_batched_tokens", text(half)}}};
}

/// A trace may say where its prompts begin alike; whether it does shows when it is read.
Change prefix_cache(const Scenario& s) {
  const auto* workload = generated(s);
  const bool none_alike = workload != nullptr && !workload->shared_prefix;
  if (is_training(s) || none_alike || s.engine.enable_prefix_caching) return std::nullopt;
  return {{{"engine.enable_prefix_caching", "true"}}};
}

/// One dense layer of the model's own widths between its embeddings and its head: a drafting head
/// as EAGLE's (Li et al., ICML 2024, arXiv:2401.15077), which every model can have. Its
/// attention is over whole keys and values, latent or windowed as the model's may be. Its drafts
/// are assumed to be right 7 times in 10; embeddings and head, which it shares with the model, are
/// counted twice in memory.
std::string one_layer_of(const workloads::ModelSpec& m) {
  const std::int64_t ffn = m.ffn > 0 ? m.ffn : m.moe.ffn * m.moe.experts_per_token;
  return fmt::format(
      "{{name: one layer, layers: 1, hidden: {}, heads: {}, kv_heads: {}, head_dim: {}, ffn: {}, "
      "vocab: {}, "
      "max_position: {}, activations: {}}}",
      m.hidden, m.heads, m.kv_heads, m.head_dim, ffn, m.vocab, m.max_position,
      hw::name_of(m.activations));
}

Change speculative_decoding(const Scenario& s) {
  if (is_training(s) || s.engine.speculative_config || s.engine.parallelism.pipeline > 1 ||
      s.engine.num_scheduler_steps > 1)
    return std::nullopt;
  return {{{"engine.speculative_config",
            fmt::format("{{model: {}, num_speculative_tokens: 4, acceptance: 0.7}}",
                        one_layer_of(s.model))}}};
}

constexpr const char* kDrafts = "engine.speculative_config.num_speculative_tokens";

Change shorter_drafts(const Scenario& s) {
  const auto& speculation = s.engine.speculative_config;
  if (!speculation || speculation->num_speculative_tokens < 2) return std::nullopt;
  return {{{kDrafts, text(speculation->num_speculative_tokens / 2)}}};
}

Change longer_drafts(const Scenario& s) {
  const auto& speculation = s.engine.speculative_config;
  if (!speculation) return std::nullopt;
  return {{{kDrafts, text(2 * speculation->num_speculative_tokens)}}};
}

Change more_tensor_parallelism(const Scenario& s) {
  const std::int64_t twice = 2 * s.engine.parallelism.tensor;
  if (is_training(s) || twice > s.gpu.node.gpus || s.model.heads % twice != 0 ||
      s.gpu.node.libraries.empty())
    return std::nullopt;
  return {{{"engine.tensor_parallel_size", text(twice)}}};
}

Change less_tensor_parallelism(const Scenario& s) {
  const std::int64_t tensor = s.engine.parallelism.tensor;
  if (tensor % 2 != 0) return std::nullopt;
  return {{{"engine.tensor_parallel_size", text(tensor / 2)},
           {"engine.data_parallel_size", text(2 * s.engine.data_parallel_size)}}};
}

Change more_kv_memory(const Scenario& s) {
  if (is_training(s)) return std::nullopt;
  constexpr double kUtilization = 0.95;  // what is left holds transient allocations
  Scenario roomy = s;
  roomy.engine.gpu_memory_utilization = std::max(kUtilization, s.engine.gpu_memory_utilization);
  roomy.engine.num_gpu_blocks_override.reset();
  const std::int64_t fit = sim::plan_memory(roomy).kv_blocks;
  if (fit <= sim::plan_memory(s).kv_blocks) return std::nullopt;
  Overrides out{
      {"engine.gpu_memory_utilization", fmt::format("{}", roomy.engine.gpu_memory_utilization)}};
  if (s.engine.num_gpu_blocks_override)
    out.emplace_back("engine.num_gpu_blocks_override", text(fit));
  return out;
}

Change more_load(const Scenario& s) {
  constexpr double kTwice = 2.0;
  const auto* workload = generated(s);
  if (workload == nullptr) return std::nullopt;
  if (const auto* loop = closed_loop(s)) {
    if (loop->think_time.count == 0) return std::nullopt;  // its clients never rest
    return {{{"workload.arrivals.closed_loop.concurrency", text(2 * loop->concurrency)}}};
  }
  constexpr std::array<const char*, 3> kNames{"poisson", "gamma", "constant"};
  return {{{fmt::format("workload.arrivals.{}.rate", kNames[workload->arrivals.index()]),
            fmt::format("{} /s", kTwice * *workloads::rate_of(workload->arrivals))}}};
}

Change faster_links(const Scenario& s) {
  if (s.engine.parallelism.gpus() < 2) return std::nullopt;
  return {{{"hw.interconnect.rate", fmt::format("{} B/s", 2.0 * s.gpu.node.rate.value())}}};
}

constexpr std::array<Intervention, 41> kTable{{
    {"weight_quantization_8bit", "weights in int8, multiplied in 16 bit", eight_bit_weights},
    {"weight_quantization_4bit", "weights as AWQ, multiplied in 16 bit", four_bit_weights},
    {"fp8_w8a8", "weights and activations in fp8", fp8_everywhere},
    {"fp8_kv_cache", "the KV cache in fp8", fp8_kv_cache},
    {"fused_attention", "prefill attention that writes no scores", fused_attention},
    {"kv_split", "decode attention split, by the best kernel that was measured", kv_split},
    {"graph_capture", "decode steps in graphs, up to the largest batch", graph_capture},
    {"asynchronous_host", "the host plans a step while the device works", asynchronous_host},
    {"remove_casts", "norms without casts around them", remove_casts},
    {"compile_fusion", "every fusion that the stack can express, and no casts", fusion},
    {"hand_fusion", "the same kernels as compile_fusion's", fusion},
    {"gemm_tuning", "linear layers by the best kernels that were measured", gemm_tuning},
    {"faster_kernels", "every kernel half of the way to its floor", faster_kernels},
    {"larger_batch", "twice the clients, or twice the microbatch", larger_batch},
    {"smaller_prefill_chunk", "half of the tokens a step", smaller_prefill_chunk},
    {"prefix_cache", "what prompts have in common computed once, where the workload says so",
     prefix_cache, true},
    {"speculative_decoding",
     "4 drafts a step from one layer of the model's own, each assumed right 7 times in 10",
     speculative_decoding, true},
    {"more_tensor_parallelism", "every matrix over twice the GPUs", more_tensor_parallelism},
    {"less_tensor_parallelism", "twice the copies, each over half of the GPUs",
     less_tensor_parallelism},
    {"disaggregated_prefill", "one server is simulated, not two that hand over a KV cache"},
    {"more_kv_memory", "gpu_memory_utilization of 0.95, and all that is free as KV cache",
     more_kv_memory},
    {"more_load", "twice the requests a second", more_load},
    {"faster_links", "links of twice the rate", faster_links},
    {"faster_device", "another device is another scenario"},
    {"attention_backend", "one backend is simulated; fused_attention and kv_split change it"},
    {"faster_collectives", "collectives take what the library was measured to take"},
    {"overlap_communication",
     "in the simulated step a collective waits for its kernel, and the "
     "next kernel for it"},
    {"balance_experts", "every simulated device has the mean work"},
    {"weights_on_device", "simulated weights are on the device"},
    {"compute_where_weights_are", "simulated weights are on the device"},
    {"larger_transfers", "nothing is copied between host and device in a simulated step"},
    {"pinned_transfers", "nothing is copied between host and device in a simulated step"},
    {"admission_control",
     "the simulated scheduler admits as vLLM does: as long as blocks are free"},
    {"admit_more", "larger_batch raises the limit, where one is set"},
    {"kv_offload", "simulated KV blocks stay on the device"},
    {"prepared_requests", "simulated requests arrive prepared"},
    {"shorter_drafts", "half as many drafts a step", shorter_drafts, true},
    {"longer_drafts", "twice as many drafts a step", longer_drafts, true},
    {"finer_graph_sizes", "graphs of vLLM's default sizes, up to the largest batch",
     finer_graph_sizes},
    {"read_only_chosen_experts", "simulated kernels read only the experts that tokens chose"},
    {"raise_power_limit", "simulated clocks are those that were measured under load"},
}};

}  // namespace

std::span<const Intervention> interventions() { return kTable; }

const Intervention& intervention(std::string_view fix) {
  const auto it =
      std::find_if(kTable.begin(), kTable.end(), [&](const auto& i) { return i.fix == fix; });
  if (it == kTable.end()) throw core::InvariantError("no fix named " + std::string(fix));
  return *it;
}

std::optional<Scenario> changed_by(const Intervention& intervention, const Scenario& scenario,
                                   const core::ConfigLibrary& library) {
  if (intervention.overrides == nullptr) return std::nullopt;
  const Change overrides = intervention.overrides(scenario);
  if (!overrides) return std::nullopt;
  return sim::read_scenario(scenario.document, *overrides, library);
}

}  // namespace ridgeline::whatif
