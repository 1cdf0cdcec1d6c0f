// Kernels of a served model, by the tokens or sequences of a step: what profilers of engines write.
// A row speaks of one layer's kernels on one of `tp` GPUs that share the model, in 16 bits, under a
// stack (`stack`, vLLM 0.19's unless it says so).

#include <algorithm>
#include <cmath>
#include <map>

#include "fidelity/operation.hpp"
#include "hw/kernel_cost.hpp"
#include "workloads/lower_inference.hpp"

namespace ridgeline::fidelity {
namespace {

using Roles = std::vector<std::string_view>;

/// What our kernels are called that do what a layer of vLLM's does.
const std::map<std::string_view, Roles>& layers() {
  static const std::map<std::string_view, Roles> words{
      {"embedding", {"embedding"}},       {"layernorm", {"input_norm"}},
      {"qkv_proj", {"qkv_proj"}},         {"qk_norm", {"q_norm", "k_norm"}},
      {"rotary_emb", {"rope"}},           {"o_proj", {"o_proj"}},
      {"gate_up_proj", {"gate_up_proj"}}, {"act_fn", {"silu_and_mul", "gelu", "silu"}},
      {"down_proj", {"down_proj"}},       {"final_layernorm", {"final_norm"}},
      {"lm_head", {"lm_head"}},           {"sampler", {"sample"}},
  };
  return words;
}

const Roles& roles_of(const Row& row) {
  const auto found = layers().find(row.text("layer"));
  if (found == layers().end()) row.fail("layer", "one of " + layer_names());
  return found->second;
}

struct Served {
  const hw::GpuSpec& gpu;
  const workloads::ModelSpec& model;
  const workloads::StackSpec& stack;
  workloads::Parallelism parallelism;
};

Served served_by(const Row& row, Machines& machines) {
  if (!row.has("model")) {
    row.fail("model",
             "a model: a column, or a folder that is named after machine, model and split, "
             "\"HW_MODEL_tp1\"");
  }
  const std::string stack = row.has("stack") ? std::string(row.text("stack")) : "vllm_v1_0_19";
  Served served{machine_of(row, machines),
                machines.model(std::string(row.text("model")), row.place()),
                machines.stack(stack, row.place()),
                {}};
  if (row.maybe("tp")) served.parallelism.tensor = row.count("tp");
  if (served.model.heads % served.parallelism.tensor != 0) {
    row.fail("tp", "a divisor of the model's " + std::to_string(served.model.heads) + " heads");
  }
  return served;
}

/// The time of those kernels of a layer, or of what stands before or behind all layers, that
/// `chosen` says yes to, run alone.
template <class Chosen>
Prediction priced(const Row& row, const Served& served, const workloads::StepShape& shape,
                  const Chosen& chosen, std::optional<double> active_experts = {}) {
  hw::KernelProgram program;
  workloads::Lowering lowering = served.stack.lowering;
  lowering.fused_rope_cache = false;  // a profiler's layers: the rotary embedding for itself
  workloads::lower_inference(served.model, lowering, served.parallelism, served.model.activations,
                             shape, shape.tokens(), program);
  Prediction p;
  double square = 0.0;  // of the parts' errors, each in seconds
  double longest = 0.0;
  for (const hw::KernelProgram::Segment& segment : program.segments()) {
    for (std::size_t k = segment.first; k < segment.first + segment.count; ++k) {
      hw::KernelWork work = program.kernels()[k];
      if (!chosen(work)) continue;
      if (auto* experts = std::get_if<hw::ExpertStage>(&work.operation))
        experts->query.active = active_experts;
      const hw::KernelCost cost =
          hw::cost_of(work, served.gpu, served.stack.efficiency, served.stack.launch.floor);
      const double seconds = cost.duration.seconds().value();
      p.seconds += seconds;
      square += cost.spread * seconds * cost.spread * seconds;
      p.floor +=
          std::max((work.useful / served.gpu.peak[work.math]).value(),
                   ((work.stream_read + work.stream_written) / served.gpu.hbm.bandwidth).value());
      if (seconds > longest) {
        longest = seconds;
        p.binds = cost.binds == hw::Binding::compute  ? "compute"
                  : cost.binds == hw::Binding::memory ? "memory"
                                                      : "floor";
      }
      if (cost.extrapolated && p.flags.empty()) p.flags.emplace_back("extrapolated");
    }
    if (p.seconds > 0.0) break;  // of layers that differ, the first
  }
  if (p.seconds <= 0.0) row.fail("model", "a model with such a layer");
  p.spread = std::sqrt(square) / p.seconds;
  return p;
}

workloads::StepShape prefill_of(std::int64_t tokens) {
  workloads::StepShape shape;
  shape.add_prefill(tokens, tokens, true);
  return shape;
}

workloads::StepShape decodes_of(std::int64_t sequences, std::int64_t context) {
  workloads::StepShape shape;
  shape.decode_sequences = shape.sampled = sequences;
  shape.decode_context = sequences * context;
  shape.decode_longest = context;
  return shape;
}

Prediction predict_layer(const Row& row, Machines& machines) {
  const Served served = served_by(row, machines);
  const Roles& roles = roles_of(row);
  const bool of_sequences = row.text("layer") == "lm_head" || row.text("layer") == "sampler";
  if (of_sequences && row.has("tokens"))
    row.fail("tokens",
             "nothing: what comes behind the layers is computed once a sequence, give sequences");
  if (row.has("tokens") && row.has("sequences")) row.fail("sequences", "nothing beside tokens");
  const workloads::StepShape shape = row.has("sequences") ? decodes_of(row.count("sequences"), 1)
                                                          : prefill_of(row.count("tokens"));
  return priced(row, served, shape, [&](const hw::KernelWork& work) {
    return std::find(roles.begin(), roles.end(), work.role) != roles.end();
  });
}

Prediction predict_attention(const Row& row, Machines& machines) {
  const Served served = served_by(row, machines);
  const std::int64_t chunk = row.count("prefill_chunk", 0);
  workloads::StepShape shape;
  if (const std::int64_t decodes = row.count("n_decode", 0); decodes > 0)
    shape = decodes_of(decodes, row.count("kv_decode"));
  if (chunk > 0) shape.add_prefill(chunk, chunk + row.count("kv_prefill", 0), false);
  if (shape.tokens() == 0) row.fail("n_decode", "sequences, or a prefill_chunk");
  return priced(row, served, shape, [](const hw::KernelWork& work) {
    return work.role == "attention" || work.role == "prefill_attention" ||
           work.role == "decode_attention";
  });
}

Prediction predict_experts(const Row& row, Machines& machines) {
  const Served served = served_by(row, machines);
  if (!served.model.has_experts()) row.fail("model", "a model with experts");
  const double active = row.number("activated_experts", 1.0);
  if (active > static_cast<double>(served.model.moe.experts)) {
    row.fail("activated_experts",
             "at most the model's " + std::to_string(served.model.moe.experts));
  }
  return priced(
      row, served, prefill_of(row.count("tokens")),
      [](const hw::KernelWork& work) { return work.kind == hw::KernelKind::experts; }, active);
}

std::optional<double> measured_layer(const Row& row) {
  const auto us = row.maybe("time_us");
  return us ? std::optional(*us * 1e-6) : std::nullopt;
}

std::string group_of(const Row& row, std::string_view what) {
  const std::string tp(row.has("tp") ? row.text("tp") : "1");
  return std::string(row.text("hw")) + " " + std::string(row.text("model")) + " tp" + tp + " " +
         std::string(what);
}
std::string group_of_layer(const Row& row) { return group_of(row, row.text("layer")); }
std::string group_of_attention(const Row& row) {
  const bool prefill = row.maybe("prefill_chunk").value_or(0.0) > 0.0;
  const bool decode = row.maybe("n_decode").value_or(0.0) > 0.0;
  return group_of(row, prefill && decode ? "attention, both"
                       : prefill         ? "attention, prefill"
                                         : "attention, decode");
}
std::string group_of_experts(const Row& row) { return group_of(row, "experts"); }

std::string constants_of_layer(const Row& row, const hw::GpuSpec&) {
  const std::string_view layer = row.text("layer");
  const bool product = layer.ends_with("_proj") || layer == "lm_head";
  return product ? "gemm.families" : "passes";
}
std::string constants_of_attention(const Row& row, const hw::GpuSpec&) {
  const bool prefill = row.maybe("prefill_chunk").value_or(0.0) > 0.0;
  const bool decode = row.maybe("n_decode").value_or(0.0) > 0.0;
  return prefill && decode ? "attention.together"
         : prefill         ? "attention.prefill"
                           : "attention.decode";
}
std::string constants_of_experts(const Row&, const hw::GpuSpec&) { return "moe"; }

}  // namespace

std::string layer_names() {
  std::string names;
  for (const auto& [name, roles] : layers())
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

const Operation kLayer{"layer",           "hw, model, layer, tokens or sequences [, tp, stack]",
                       {"layer"},         predict_layer,
                       measured_layer,    group_of_layer,
                       constants_of_layer};

const Operation kStepAttention{
    "step_attention",
    "hw, model, prefill_chunk, kv_prefill, n_decode, kv_decode [, tp, stack]",
    {"prefill_chunk", "kv_prefill", "n_decode", "kv_decode"},
    predict_attention,
    measured_layer,
    group_of_attention,
    constants_of_attention};

const Operation kStepExperts{"step_experts",
                             "hw, model, tokens, activated_experts [, tp, stack]",
                             {"tokens", "activated_experts"},
                             predict_experts,
                             measured_layer,
                             group_of_experts,
                             constants_of_experts};

}  // namespace ridgeline::fidelity
