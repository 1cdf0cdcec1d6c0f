#include "workloads/stack_spec.hpp"

namespace ridgeline::workloads {
namespace {

Lowering read_lowering(const core::Reader& in) {
  Lowering l;
  l.fused_qkv = in.get("fused_qkv", l.fused_qkv);
  l.fused_gate_up = in.get("fused_gate_up", l.fused_gate_up);
  l.fused_activation = in.get("fused_activation", l.fused_activation);
  l.fused_add_norm = in.get("fused_add_norm", l.fused_add_norm);
  l.fused_rope_cache = in.get("fused_rope_cache", l.fused_rope_cache);
  if (in.has("prefill_attention")) {
    l.prefill_attention = in.choice<PrefillAttention>(
        "prefill_attention",
        {{"fused", PrefillAttention::fused}, {"materialised", PrefillAttention::materialised}});
  }
  l.kv_split = in.get("kv_split", l.kv_split);
  l.attention_together = in.get("attention_together", l.attention_together);
  l.fused_qk_norm = in.get("fused_qk_norm", l.fused_qk_norm);
  l.qk_copies = in.get("qk_copies", l.qk_copies);
  l.fused_quant = in.get("fused_quant", l.fused_quant);
  if (in.has("routing_kernels")) l.routing_kernels = in.integer("routing_kernels", 0, 100);
  if (in.has("skinny_rows")) l.skinny_rows = in.integer("skinny_rows", 0, 1024);
  l.gemm_library = in.get<std::string>("gemm_library", l.gemm_library);
  l.collectives = in.get<std::string>("collectives", l.collectives);
  l.norm_casts = in.get("norm_casts", l.norm_casts);
  if (in.has("sampling_kernels")) l.sampling_kernels = in.integer("sampling_kernels", 0, 1000);
  return l;
}

HostSpec read_host(const core::Reader& in) {
  const auto time = [&](std::string_view key) {
    const core::Seconds value = in.get<core::Seconds>(key);
    in.require(value <= core::Seconds{10.0}, key, "a time of at most 10 s");
    return core::round_to_ns(value);
  };
  const auto time_or_none = [&](std::string_view key) {
    return in.has(key) ? time(key) : core::Nanoseconds{};
  };
  return {time("step"), time("per_sequence"), time_or_none("per_sequence_ahead"),
          time_or_none("exposed")};
}

}  // namespace

StackSpec read_stack_spec(const core::Reader& in) {
  StackSpec stack;
  stack.name = in.get<std::string>("name");
  if (in.has("lowering")) stack.lowering = read_lowering(in.child("lowering"));
  if (in.has("efficiency")) stack.efficiency = hw::read_efficiency(in.child("efficiency"));
  stack.launch = hw::read_launch(in.child("launch"));
  stack.host = read_host(in.child("host"));
  stack.scheduler = in.get("scheduler", stack.scheduler);
  stack.async_scheduling = in.get("async_scheduling", true);
  stack.graphs = in.get("graphs", true);
  stack.piecewise_graphs = in.get("piecewise_graphs", false);
  stack.memory_overhead = in.get<core::Bytes>("memory_overhead", core::Bytes{});
  in.require(stack.memory_overhead.value() >= 0.0, "memory_overhead", "bytes, not below zero");
  if (in.has("sources")) static_cast<void>(in.raw("sources"));
  return stack;
}

}  // namespace ridgeline::workloads
