#pragma once
// Random steps of random models on the shipped GPUs, for properties that hold for all of them.

#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "hw/gpu.hpp"
#include "tests/hw/fixtures.hpp"
#include "workloads/lower_inference.hpp"

namespace ridgeline::tests {

/// One sequence of a step, kept so that a test can add up what the step must cost without asking
/// the code under test.
struct SequenceShape {
  bool prefill = false;
  std::int64_t q = 1;        // new tokens
  std::int64_t context = 1;  // keys seen by the last of them
  bool samples = true;
};

struct RandomScenario {
  hw::GpuSpec gpu;
  hw::EfficiencySpec efficiency;
  hw::LaunchSpec launch;
  hw::LaunchMode mode = hw::LaunchMode::eager;
  workloads::ModelSpec model;
  workloads::Lowering lowering;
  hw::Dtype kv_cache = hw::Dtype::bf16;
  std::vector<SequenceShape> sequences;
  std::int64_t padding = 0;  // rows beyond the tokens, as in a graph's bucket

  [[nodiscard]] workloads::StepShape shape() const {
    workloads::StepShape shape;
    for (const SequenceShape& s : sequences) {
      if (s.prefill) {
        shape.add_prefill(s.q, s.context, s.samples);
      } else {
        shape.add_decode(s.context);
      }
    }
    return shape;
  }
  [[nodiscard]] hw::KernelProgram program() const {
    hw::KernelProgram out;
    const workloads::StepShape s = shape();
    workloads::lower_inference(model, lowering, {}, kv_cache, s, s.tokens() + padding, out);
    return out;
  }
  [[nodiscard]] hw::Execution execute() const {
    hw::Gpu device(gpu, efficiency, launch);
    return device.execute(program(), mode);
  }
};

class RandomScenarios {
 public:
  explicit RandomScenarios(std::string_view name) : random_(1, name) {
    for (const std::string& gpu : shipped().names("hw")) gpus_.push_back(shipped_gpu(gpu));
  }

  RandomScenario next() {
    RandomScenario s;
    s.gpu =
        gpus_[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(gpus_.size()) - 1))];
    for (double& share : s.efficiency.compute) share = number(0.3, 1.0);
    for (double& share : s.efficiency.bandwidth) share = number(0.3, 1.0);
    s.efficiency.tuned_gemms = chance(0.8);
    s.launch = random_launch();
    s.mode = chance(0.5) ? hw::LaunchMode::eager : hw::LaunchMode::graph;
    draw_model(s);
    draw_lowering(s.lowering);
    draw_sequences(s);
    if (chance(0.3)) s.padding = integer(0, 64);
    return s;
  }

  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) {
    return random_.uniform_int(n_++, low, high);
  }
  [[nodiscard]] double number(double low, double high) {
    return low + (high - low) * random_.uniform(n_++);
  }
  [[nodiscard]] bool chance(double p) { return random_.uniform(n_++) < p; }

 private:
  hw::LaunchSpec random_launch() {
    hw::LaunchSpec launch{};
    launch.issue = {integer(0, 60'000)};
    launch.doorbell = {integer(0, 20'000)};
    launch.dispatch = {integer(0, 10'000)};
    if (chance(0.3)) launch.queue_depth = integer(1, 64);
    launch.blocking = chance(0.1);
    launch.floor = {integer(0, 6'000)};
    launch.graph_submit = {integer(0, 2'000)};
    launch.graph_node = {integer(0, 30)};
    launch.graph_dispatch = {integer(0, 3'000)};
    launch.graph_floor = {integer(0, 6'000)};
    return launch;
  }
  void draw_model(RandomScenario& s) {
    workloads::ModelSpec& m = s.model;
    m.layers = integer(1, 12);
    m.head_dim = 32 * integer(1, 4);
    m.kv_heads = integer(1, 8);
    m.heads = m.kv_heads * (chance(0.4) ? 1 : integer(2, 8));  // multi-head, or grouped queries
    m.hidden = chance(0.7) ? m.heads * m.head_dim : 64 * integer(1, 128);
    m.ffn = 64 * integer(1, 400);
    m.vocab = integer(256, 150'000);
    m.feedforward = chance(0.7) ? workloads::Feedforward::swiglu : workloads::Feedforward::gelu;
    m.activations = chance(0.5) ? hw::Dtype::bf16 : hw::Dtype::fp16;
    m.weights = m.activations;
    m.math = m.activations;
    s.kv_cache = chance(0.3) ? hw::Dtype::fp8 : m.activations;
    if (chance(0.2)) m.weights = hw::Dtype::int4;  // weights only
    if (chance(0.2)) m.weights = m.math = hw::Dtype::fp8;
  }
  void draw_lowering(workloads::Lowering& l) {
    l.fused_qkv = chance(0.5);
    l.fused_gate_up = chance(0.5);
    l.fused_activation = chance(0.5);
    l.fused_add_norm = chance(0.5);
    l.fused_rope_cache = chance(0.5);
    l.prefill_attention = chance(0.5) ? workloads::PrefillAttention::fused
                                      : workloads::PrefillAttention::materialised;
    l.kv_split = chance(0.5);
    l.norm_casts = chance(0.3);
    l.sampling_kernels = integer(0, 6);
  }
  void draw_sequences(RandomScenario& s) {
    const std::int64_t kind = integer(0, 2);  // decode, prefill, both
    if (kind != 1) {
      for (std::int64_t i = chance(0.3) ? 1 : integer(1, 64); i > 0; --i)
        s.sequences.push_back({false, 1, integer(1, 20'000), true});
    }
    if (kind != 0) {
      for (std::int64_t i = integer(1, 4); i > 0; --i) {
        const std::int64_t q = chance(0.2) ? integer(1, 4) : integer(1, 4'000);
        s.sequences.push_back({true, q, q + (chance(0.5) ? 0 : integer(0, 10'000)), chance(0.7)});
      }
    }
  }

  core::RandomStream random_;
  std::uint64_t n_ = 0;
  std::vector<hw::GpuSpec> gpus_;
};

}  // namespace ridgeline::tests
