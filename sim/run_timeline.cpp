#include "sim/run_timeline.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "sim/step_model.hpp"
#include "timeline/kernel_names.hpp"

namespace ridgeline::sim {
namespace {

using hw::KernelKind;
using timeline::KernelClass;

constexpr std::int32_t kThreads = 256;  // of a workgroup; what most kernels of this kind use
constexpr std::int64_t kCorrelationsPerStep =
    1 << 20;  // more than any step launches, so that ids stay unique

KernelClass class_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::gemm:
      return KernelClass::gemm;
    case KernelKind::attention_prefill:
    case KernelKind::attention_backward:
    case KernelKind::attention_decode:
      return KernelClass::attention;
    case KernelKind::attention_scores:
    case KernelKind::attention_values:
      return KernelClass::attention_scores;
    case KernelKind::softmax:
      return KernelClass::softmax;
    case KernelKind::norm:
      return KernelClass::norm;
    case KernelKind::elementwise:
      return KernelClass::elementwise;
    case KernelKind::rope:
      return KernelClass::rope;
    case KernelKind::cache_write:
      return KernelClass::cache_write;
    case KernelKind::cast:
      return KernelClass::cast;
    case KernelKind::embedding:
      return KernelClass::embedding;
    case KernelKind::sampling:
      return KernelClass::sampling;
    case KernelKind::loss:
      return KernelClass::loss;
    case KernelKind::quantize:
      return KernelClass::cast;
    case KernelKind::routing:
      return KernelClass::elementwise;
    case KernelKind::experts:
      return KernelClass::gemm;
    case KernelKind::copy:
      return KernelClass::copy;
    case KernelKind::collective:
      return KernelClass::collective;
  }
  return KernelClass::other;
}

timeline::Phase phase_of(KernelKind kind, bool training) {
  if (kind == KernelKind::attention_decode) return timeline::Phase::decode;
  if (kind == KernelKind::attention_backward) return timeline::Phase::backward;
  return training ? timeline::Phase::forward : timeline::Phase::prefill;
}

/// Shows the steps of a run, one after the other, remembering names and prices between them.
class Expander {
 public:
  Expander(const RunResult& result, timeline::SpanVisitor& visitor)
      : result_(result),
        visitor_(visitor),
        model_(result.scenario),
        cuda_(result.scenario.gpu.architecture.starts_with("sm_")),
        training_(std::holds_alternative<workloads::TrainingWorkload>(result.scenario.workload)) {}

  void show(std::size_t index) {
    const StepRecord& record = result_.steps[index];
    show_step(index, record);
    names_.assign(names_.size(), {});
    const PreparedStep step =
        training_ ? model_.prepare_training() : model_.prepare(record.shape());
    graph_ = step.mode == hw::LaunchMode::graph;
    const core::Instant origin = record.start + step.host_before;
    std::int64_t ordinal = 0;
    model_.run(step, [&](const hw::KernelWork& work, const hw::KernelCost& cost,
                         const hw::KernelTiming& timing) {
      show_kernel(static_cast<std::int64_t>(index), ordinal++, origin, work, cost, timing);
    });
    show_counters(index, record);
  }

 private:
  void show_step(std::size_t index, const StepRecord& record) {
    timeline::StepSpan span;
    span.index = static_cast<std::int64_t>(index);
    span.start = record.start;
    span.duration = record.duration();
    span.training = training_;
    span.decode_sequences = record.decode_sequences;
    span.decode_context = record.decode_context;
    span.tokens_per_decode = result_.scenario.engine.tokens_per_decode();
    span.prefill_sequences = record.prefill_sequences;
    span.prefill_tokens = record.prefill_tokens;
    span.prefill_context = record.prefill_context;
    span.prefill_qk = static_cast<double>(record.prefill_qk);
    span.prefill_qq = static_cast<double>(record.prefill_qq);
    visitor_.on_step(span);
  }

  void show_counters(std::size_t index, const StepRecord& record) {
    if (training_) return;  // no server
    const CounterRecord& counters = result_.counters[index];
    const double blocks = static_cast<double>(std::max<std::int64_t>(1, result_.memory.kv_blocks));
    visitor_.on_counters({record.start, counters.running, counters.waiting,
                          counters.kv_blocks_used / blocks, counters.preemptions});
  }

  void show_kernel(std::int64_t step, std::int64_t ordinal, core::Instant origin,
                   const hw::KernelWork& work, const hw::KernelCost& cost,
                   const hw::KernelTiming& timing) {
    const std::int64_t correlation = step * kCorrelationsPerStep + 1 + (graph_ ? 0 : ordinal);
    if (!graph_ || ordinal == 0) {
      visitor_.on_runtime({origin + timing.issue_begin, timing.issue_end - timing.issue_begin,
                           call_name(work), step, correlation});
    }
    timeline::KernelSpan span;
    span.start = origin + timing.start;
    span.duration = timing.end - timing.start;
    span.name = name_of_kernel(work, cost);
    span.role = work.role;
    span.cls = class_of(work.kind);
    span.step = step;
    span.correlation = correlation;
    span.from_graph = graph_;
    span.grid = static_cast<std::int64_t>(
        cost.workgroups > 0.0 ? cost.workgroups
                              : static_cast<double>(result_.scenario.gpu.compute_units));
    span.block = kThreads;
    if (work.gemm.m > 0) span.gemm = {work.gemm.m, work.gemm.n, work.gemm.k};
    span.issued = cost.issued;
    span.useful = cost.useful;
    span.hbm_read = cost.hbm_read;
    span.hbm_written = cost.hbm_written;
    span.transient = work.transient;
    visitor_.on_kernel(span);
  }

  [[nodiscard]] std::string_view call_name(const hw::KernelWork& work) const {
    if (graph_) return cuda_ ? "cudaGraphLaunch" : "hipGraphLaunch";
    if (cuda_) return "cudaLaunchKernel";
    return work.gemm.m > 0 ? "hipExtModuleLaunchKernel"
                           : "hipLaunchKernel";  // Tensile launches the former way
  }

  /// A program has few kernels and runs each many times, so names are looked up once a program.
  [[nodiscard]] std::string_view name_of_kernel(const hw::KernelWork& work,
                                                const hw::KernelCost& cost) {
    const auto& kernels = model_.program().kernels();
    const auto index = static_cast<std::size_t>(&work - kernels.data());
    if (names_.size() < kernels.size()) names_.resize(kernels.size());
    if (!names_[index].empty()) return names_[index];
    const std::tuple key(work.kind, work.math, work.role.data(), cost.tile_m, cost.tile_n,
                         cost.splits);
    auto [it, fresh] = known_names_.try_emplace(key);
    if (fresh) {
      timeline::NameFacts facts;
      facts.architecture = result_.scenario.gpu.architecture;
      facts.cls = class_of(work.kind);
      facts.role = work.role;
      facts.dtype = hw::name_of(work.kind == KernelKind::gemm ? work.math
                                                              : result_.scenario.model.activations);
      facts.tile_m = cost.tile_m;
      facts.tile_n = cost.tile_n;
      facts.splits = std::max<std::int64_t>(1, cost.splits);
      facts.phase = phase_of(work.kind, training_);
      facts.head_size = result_.scenario.model.head_dim;
      it->second = timeline::profiler_name(facts);
    }
    names_[index] = it->second;
    return names_[index];
  }

  const RunResult& result_;
  timeline::SpanVisitor& visitor_;
  StepModel model_;
  bool cuda_;
  bool training_;
  bool graph_ = false;
  std::vector<std::string_view> names_;  // of the program at hand
  std::map<std::tuple<KernelKind, hw::Dtype, const char*, std::int32_t, std::int32_t, std::int32_t>,
           std::string>
      known_names_;
};

}  // namespace

RunTimeline::RunTimeline(const RunResult& result) : result_(result), steps_(result.steps.size()) {
  std::iota(steps_.begin(), steps_.end(), std::size_t{0});
}

timeline::DeviceInfo RunTimeline::device() const {
  const hw::GpuSpec& gpu = result_.scenario.gpu;
  return {gpu.name, gpu.architecture, gpu.compute_units, gpu.wave_size, gpu.hbm.capacity};
}

timeline::Window RunTimeline::extent() const {
  if (steps_.empty()) return {core::Instant{}, core::Instant{}};
  return {result_.steps[steps_.front()].start, result_.steps[steps_.back()].end()};
}

void RunTimeline::visit(timeline::Window window, timeline::SpanVisitor& visitor) const {
  Expander expander(result_, visitor);
  const auto first = std::lower_bound(
      steps_.begin(), steps_.end(), window.begin,
      [&](std::size_t index, core::Instant t) { return result_.steps[index].start < t; });
  for (auto it = first; it != steps_.end() && result_.steps[*it].start < window.end; ++it)
    expander.show(*it);
}

}  // namespace ridgeline::sim
