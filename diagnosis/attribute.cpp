#include "diagnosis/attribute.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "hw/gpu.hpp"
#include "timeline/name_index.hpp"
#include "workloads/lower_inference.hpp"

namespace ridgeline::diagnosis {
namespace {

using timeline::KernelClass;
using timeline::KernelSpan;

/// The linear layers between one attention kernel and the next, by how many there are; the last
/// `after_norm` of them come before the next attention kernel.
struct LayerPattern {
  std::vector<std::string_view> roles;
  std::size_t before_attention;
  workloads::Lowering lowering;
};

workloads::Lowering lowering_of(bool fused_qkv, bool fused_gate_up) {
  workloads::Lowering l;
  l.fused_qkv = fused_qkv;
  l.fused_gate_up = fused_gate_up;
  return l;
}

/// Patterns of SwiGLU models and, where a gate is missing, of others. A new one is one line.
std::optional<LayerPattern> pattern_of(std::size_t products, workloads::Feedforward feedforward) {
  if (feedforward == workloads::Feedforward::gelu) {
    if (products == 4)
      return LayerPattern{
          {"o_proj", "up_proj", "down_proj", "qkv_proj"}, 1, lowering_of(true, true)};
    if (products == 6)
      return LayerPattern{{"o_proj", "up_proj", "down_proj", "q_proj", "k_proj", "v_proj"},
                          3,
                          lowering_of(false, true)};
    return std::nullopt;
  }
  switch (products) {
    case 4:
      return LayerPattern{
          {"o_proj", "gate_up_proj", "down_proj", "qkv_proj"}, 1, lowering_of(true, true)};
    case 5:
      return LayerPattern{
          {"o_proj", "gate_proj", "up_proj", "down_proj", "qkv_proj"}, 1, lowering_of(true, false)};
    case 6:
      return LayerPattern{{"o_proj", "gate_up_proj", "down_proj", "q_proj", "k_proj", "v_proj"},
                          3,
                          lowering_of(false, true)};
    case 7:
      return LayerPattern{
          {"o_proj", "gate_proj", "up_proj", "down_proj", "q_proj", "k_proj", "v_proj"},
          3,
          lowering_of(false, false)};
    default:
      return std::nullopt;
  }
}

KernelClass class_of(hw::KernelKind kind) {
  switch (kind) {
    case hw::KernelKind::norm:
      return KernelClass::norm;
    case hw::KernelKind::elementwise:
      return KernelClass::elementwise;
    case hw::KernelKind::rope:
      return KernelClass::rope;
    case hw::KernelKind::cache_write:
      return KernelClass::cache_write;
    default:
      return KernelClass::other;
  }
}

/// One step's kernels, held back until the step is whole, then filled in and passed on.
class StepAttribution {
 public:
  StepAttribution(const workloads::ModelSpec& model, hw::Dtype kv_cache, const hw::GpuSpec& gpu)
      : model_(model), kv_cache_(kv_cache), machine_(gpu, {}, {}) {}

  /// Fills the kernels in; a sentence saying why not otherwise.
  std::string fill(const timeline::StepSpan& step, std::vector<KernelSpan>& kernels) {
    if (step.decode_sequences + step.prefill_tokens == 0)
      return "the step's batch is not known: no annotation says it";
    if (model_.has_experts() || model_.is_latent() || model_.windowed_layers() > 0)
      return "layers of " + model_.name +
             " are not plain dense ones: experts, latent attention or windows";
    const auto layers = attention_groups(kernels);
    if (static_cast<std::int64_t>(layers.size()) != model_.layers) {
      return "the step has " + std::to_string(layers.size()) + " attention kernels, the model " +
             std::to_string(model_.layers) + " layers";
    }
    const auto products = products_between(kernels, layers);
    const auto pattern = pattern_of(products, model_.feedforward);
    if (!pattern)
      return std::to_string(products) + " matrix products a layer fit no known way of fusing them";
    price(step, *pattern);
    name_products(kernels, layers, *pattern);
    fill_attention(kernels, layers);
    fill_the_rest(kernels);
    return "";
  }

 private:
  struct Group {
    std::size_t first;  // kernel indices
    std::size_t last;
  };

  /// Runs of attention kernels with no matrix product in between: a layer's attention, with its
  /// reductions.
  static std::vector<Group> attention_groups(const std::vector<KernelSpan>& kernels) {
    std::vector<Group> groups;
    bool open = false;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i].cls == KernelClass::gemm) open = false;
      if (kernels[i].cls != KernelClass::attention) continue;
      if (open) {
        groups.back().last = i;
      } else {
        groups.push_back({i, i});
        open = true;
      }
    }
    return groups;
  }

  static std::vector<std::size_t> products_in(const std::vector<KernelSpan>& kernels,
                                              std::size_t begin, std::size_t end) {
    std::vector<std::size_t> out;
    for (std::size_t i = begin; i < end; ++i) {
      if (kernels[i].cls == KernelClass::gemm) out.push_back(i);
    }
    return out;
  }

  /// Matrix products between two attention kernels; 0 when layers differ.
  static std::size_t products_between(const std::vector<KernelSpan>& kernels,
                                      const std::vector<Group>& layers) {
    if (layers.size() < 2) return 0;
    const std::size_t count = products_in(kernels, layers[0].last, layers[1].first).size();
    for (std::size_t i = 1; i + 1 < layers.size(); ++i) {
      if (products_in(kernels, layers[i].last, layers[i + 1].first).size() != count) return 0;
    }
    return count;
  }

  /// What each role asks of the machine, by role and, for the small kernels, by class.
  void price(const timeline::StepSpan& step, const LayerPattern& pattern) {
    workloads::StepShape shape;
    shape.decode_sequences = step.decode_sequences;
    shape.decode_context = step.decode_context;
    shape.prefill_sequences = step.prefill_sequences;
    shape.prefill_tokens = step.prefill_tokens;
    shape.prefill_context = step.prefill_context;
    shape.prefill_qk = static_cast<std::int64_t>(step.prefill_qk);
    shape.prefill_qq = static_cast<std::int64_t>(step.prefill_qq);
    shape.sampled = step.decode_sequences + step.prefill_sequences;
    workloads::lower_inference(model_, pattern.lowering, {}, kv_cache_, shape, shape.tokens(),
                               program_);
    roles_.clear();
    attention_ = {};
    small_.clear();
    for (const hw::KernelProgram::Segment& segment : program_.segments()) {
      for (std::size_t i = segment.first; i < segment.first + segment.count; ++i) {
        const hw::KernelWork& work = program_.kernels()[i];
        const hw::KernelCost cost = machine_.price(work, hw::LaunchMode::eager);
        const Amounts amounts{cost.useful, cost.useful, cost.hbm_read, cost.hbm_written, work.gemm};
        if (work.kind == hw::KernelKind::gemm) {
          roles_[work.role] = amounts;
        } else if (work.kind == hw::KernelKind::attention_decode ||
                   work.kind == hw::KernelKind::attention_prefill) {
          attention_ += amounts;
        } else {
          Amounts all = amounts;
          all *= static_cast<double>(segment.repeat);
          small_[class_of(work.kind)] += all;
        }
      }
    }
  }

  void name_products(std::vector<KernelSpan>& kernels, const std::vector<Group>& layers,
                     const LayerPattern& pattern) {
    const std::size_t after =
        pattern.roles.size() - pattern.before_attention;  // products of a layer after its attention
    const auto name = [&](std::size_t kernel, std::string_view role) {
      fill_one(kernels[kernel], role, roles_.at(role));
    };
    // Before the first attention stand the first layer's own, whatever came before them.
    const auto head = products_in(kernels, 0, layers.front().first);
    for (std::size_t i = 0; i < std::min(head.size(), pattern.before_attention); ++i) {
      name(head[head.size() - 1 - i], pattern.roles[pattern.roles.size() - 1 - i]);
    }
    for (std::size_t layer = 0; layer + 1 < layers.size(); ++layer) {
      const auto products = products_in(kernels, layers[layer].last, layers[layer + 1].first);
      for (std::size_t i = 0; i < products.size(); ++i) name(products[i], pattern.roles[i]);
    }
    // After the last attention: the rest of the last layer, then the head.
    const auto tail = products_in(kernels, layers.back().last, kernels.size());
    for (std::size_t i = 0; i < tail.size(); ++i) {
      if (i < after) {
        name(tail[i], pattern.roles[i]);
      } else if (i == after) {
        name(tail[i], "lm_head");
      }
    }
  }

  /// A layer's attention may be several kernels; the longest did the work.
  void fill_attention(std::vector<KernelSpan>& kernels, const std::vector<Group>& layers) const {
    for (const Group& layer : layers) {
      std::size_t longest = layer.first;
      for (std::size_t i = layer.first; i <= layer.last; ++i) {
        if (kernels[i].cls == KernelClass::attention &&
            kernels[i].duration > kernels[longest].duration)
          longest = i;
      }
      fill_one(kernels[longest], "attention", attention_);
    }
  }

  /// Norms, activations and the like are not told apart one by one: each gets its class's bytes in
  /// proportion to its time.
  void fill_the_rest(std::vector<KernelSpan>& kernels) const {
    std::map<KernelClass, core::Nanoseconds> time;
    for (const KernelSpan& kernel : kernels) time[kernel.cls] += kernel.duration;
    for (KernelSpan& kernel : kernels) {
      const auto it = small_.find(kernel.cls);
      if (it == small_.end() || kernel.cls == KernelClass::other || time[kernel.cls].count == 0)
        continue;
      const double share = kernel.duration.seconds() / time[kernel.cls].seconds();
      kernel.hbm_read = it->second.hbm_read * share;
      kernel.hbm_written = it->second.hbm_written * share;
    }
  }

  struct Amounts {
    core::Flop useful{};
    core::Flop issued{};
    core::Bytes hbm_read{};
    core::Bytes hbm_written{};
    hw::GemmShape gemm{};

    Amounts& operator+=(const Amounts& other) {
      useful += other.useful;
      issued += other.issued;
      hbm_read += other.hbm_read;
      hbm_written += other.hbm_written;
      return *this;
    }
    Amounts& operator*=(double n) {
      useful *= n;
      issued *= n;
      hbm_read *= n;
      hbm_written *= n;
      return *this;
    }
  };

  static void fill_one(KernelSpan& kernel, std::string_view role, const Amounts& amounts) {
    kernel.role = role;
    kernel.useful = amounts.useful;
    kernel.issued = amounts.issued;
    kernel.hbm_read = amounts.hbm_read;
    kernel.hbm_written = amounts.hbm_written;
    kernel.gemm = {amounts.gemm.m, amounts.gemm.n, amounts.gemm.k};
  }

  const workloads::ModelSpec& model_;
  hw::Dtype kv_cache_;
  hw::Gpu machine_;
  hw::KernelProgram program_;
  std::map<std::string_view, Amounts> roles_;
  Amounts attention_;
  std::map<KernelClass, Amounts> small_;
};

/// Holds a step's kernels back, passes everything else through in its place.
class Attributing : public timeline::SpanVisitor {
 public:
  Attributing(StepAttribution& attribution, timeline::SpanVisitor* next)
      : attribution_(attribution), next_(next) {}

  void on_step(const timeline::StepSpan& step) override {
    close();
    open_ = true;
    step_ = step;
    if (next_ != nullptr) next_->on_step(step);
  }
  void on_kernel(const KernelSpan& kernel) override {
    kernels_.push_back(kernel);
    // The texts of a span live as long as its visit; a name index keeps ours.
    kernels_.back().name = names_.text(names_.of(kernel.name));
    kernels_.back().role = names_.text(names_.of(kernel.role));
  }
  void on_runtime(const timeline::RuntimeSpan& call) override {
    if (next_ != nullptr) next_->on_runtime(call);
  }
  void on_counters(const timeline::CounterSample& sample) override {
    if (next_ != nullptr) next_->on_counters(sample);
  }

  AttributedTimeline::Outcome finish() {
    close();
    return outcome_;
  }

 private:
  void close() {
    if (open_) {
      ++outcome_.steps;
      const std::string why_not = attribution_.fill(step_, kernels_);
      if (why_not.empty()) {
        ++outcome_.attributed;
      } else if (outcome_.why_not.empty()) {
        outcome_.why_not = why_not;
      }
    }
    if (next_ != nullptr) {
      for (const KernelSpan& kernel : kernels_) next_->on_kernel(kernel);
    }
    kernels_.clear();
    open_ = false;
  }

  StepAttribution& attribution_;
  timeline::SpanVisitor* next_;
  timeline::NameIndex names_;
  timeline::StepSpan step_;
  bool open_ = false;
  std::vector<KernelSpan> kernels_;
  AttributedTimeline::Outcome outcome_;
};

}  // namespace

void AttributedTimeline::visit(timeline::Window window, timeline::SpanVisitor& visitor) const {
  StepAttribution attribution(model_, kv_cache_, gpu_);
  Attributing attributing(attribution, &visitor);
  base_.visit(window, attributing);
  static_cast<void>(attributing.finish());
}

AttributedTimeline::Outcome AttributedTimeline::outcome(timeline::Window window) const {
  StepAttribution attribution(model_, kv_cache_, gpu_);
  Attributing attributing(attribution, nullptr);
  base_.visit(window, attributing);
  return attributing.finish();
}

}  // namespace ridgeline::diagnosis
