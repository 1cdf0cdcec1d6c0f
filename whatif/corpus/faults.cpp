#include "whatif/corpus/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ridgeline::whatif {
namespace {

using Sketch = ServerSketch;

bool trains(const Sketch& s) { return s.load == LoadKind::training; }
bool serves(const Sketch& s) { return !trains(s); }
bool decodes(const Sketch& s) { return serves(s) && s.load != LoadKind::prompts_alone; }
bool long_prompts(const Sketch& s) {
  constexpr std::int64_t kLong = 4000;  // from here a score matrix weighs more than the weights
  return serves(s) && s.prompt >= kLong && !s.quantized.is_latent();
}
bool many(const Sketch& s) {
  return (s.load == LoadKind::saturated || s.load == LoadKind::overloaded) && s.batch >= 8;
}

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} us", seconds * 1e6)
                        : fmt::format("{:.3g} ms", seconds * 1e3);
}
std::string share(double x) { return fmt::format("{:.3g}", x); }

void untuned_gemm(Sketch& s, Draw& draw) {
  if (draw.chance(0.5)) {
    s.set("stack.efficiency.tuned_gemms", "false");
    return;
  }
  s.set("stack.efficiency.compute.gemm", share(draw.uniform(0.15, 0.6)));
  s.set("stack.efficiency.bandwidth.gemm", share(draw.uniform(0.15, 0.6)));
}

void no_kv_split(Sketch& s, Draw& draw) {
  s.set("stack.lowering.kv_split", "false");
  if (draw.chance(0.5))
    s.set("stack.efficiency.bandwidth.attention_decode", share(draw.uniform(0.1, 0.5)));
}

void eager_launch(Sketch& s, Draw& draw) {
  s.set("engine.enforce_eager", "true");
  s.set("stack.launch.issue", time_text(draw.log_uniform(5e-6, 40e-6)));
}

void slow_host(Sketch& s, Draw& draw) {
  const double factor = draw.log_uniform(3.0, 30.0);
  const workloads::HostSpec& host = s.stack->spec.host;
  s.set("stack.host.step", time_text(factor * host.step.seconds().value()));
  s.set("stack.host.per_sequence", time_text(factor * host.per_sequence.seconds().value()));
  if (draw.chance(0.7)) s.set("engine.async_scheduling", "false");
}

void small_kv(Sketch& s, Draw& draw) {
  constexpr double kBlock = 16.0;
  const double whole = static_cast<double>(s.batch) * static_cast<double>(s.prompt + s.output);
  const double longest = static_cast<double>(s.prompt + s.output) * s.longest;
  const double tokens = std::max(whole * draw.uniform(0.1, 0.6), 1.1 * longest + 512.0);
  s.set("engine.num_gpu_blocks_override", fmt::format("{:.0f}", tokens / kBlock));
}

void materialised_attention(Sketch& s, Draw& draw) {
  s.set("stack.lowering.prefill_attention", "materialised");
  if (draw.chance(0.5)) {
    const std::string reach = share(draw.uniform(0.4, 1.0));
    for (const char* kind : {"attention_scores", "softmax", "attention_values"})
      s.set(fmt::format("stack.efficiency.bandwidth.{}", kind), reach);
  }
}

void coarse_graphs(Sketch& s, Draw& draw) {
  const std::int64_t size = draw.chance(0.5) ? 512 : std::min<std::int64_t>(2048, 8 * s.batch);
  s.set("engine.cudagraph_capture_sizes", fmt::format("[{}]", size));
}

void slow_link(Sketch& s, Draw& draw) {
  const double rate = s.machine->spec.node.rate.value() / draw.log_uniform(4.0, 40.0);
  s.set("hw.interconnect.rate", fmt::format("{:.3g} GB/s", rate * 1e-9));
  if (draw.chance(0.5))
    s.set("stack.efficiency.bandwidth.collective", share(draw.uniform(0.2, 0.6)));
}

void excess_prefill(Sketch& s, Draw& draw) {
  s.output = draw.whole(8.0, 32.0);
  s.prompt = std::max(s.prompt, draw.whole(500.0, 4000.0));
}

void casts(Sketch& s, Draw&) {
  s.set("stack.lowering.norm_casts", "true");
  for (const char* fusion : {"fused_add_norm", "fused_activation"})
    s.set(fmt::format("stack.lowering.{}", fusion), "false");
}

constexpr std::array<Fault, 10> kFaults{{
    {"untuned_gemm", "one tile for every shape, or kernels far below the best", 1.0,
     [](const Sketch&) { return true; }, untuned_gemm},
    {"no_kv_split", "decode attention with a workgroup a sequence and KV head", 1.0,
     [](const Sketch& s) { return decodes(s) && s.prompt >= 1000; }, no_kv_split},
    {"eager_launch", "no graphs, and every launch through a slow host", 1.5, decodes, eager_launch},
    {"slow_host", "scheduling and sampling take many times as long", 2.0, decodes, slow_host},
    {"small_kv", "too few KV blocks for the clients", 4.0, many, small_kv},
    {"materialised_attention", "prefill attention writes its scores out", 2.0, long_prompts,
     materialised_attention},
    {"coarse_graphs", "one captured size, far above the batch", 1.0,
     [](const Sketch& s) {
       return decodes(s) && s.batch <= 256 && s.stack->spec.graphs &&
              s.load != LoadKind::mostly_idle;
     },
     coarse_graphs},
    {"slow_link", "links at a fraction of their rate", 3.0,
     [](const Sketch& s) { return s.tensor > 1; }, slow_link},
    {"excess_prefill", "short answers to long prompts", 0.7, many, excess_prefill},
    {"casts", "norms in fp32 between casts, and unfused passes", 0.7,
     [](const Sketch& s) { return !s.quantized.has_experts(); }, casts},
}};

}  // namespace

std::span<const Fault> faults() { return kFaults; }

}  // namespace ridgeline::whatif
