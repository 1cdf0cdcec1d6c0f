#include "whatif/from_trace/step_facts.hpp"

#include <algorithm>
#include <unordered_map>

#include "whatif/step_replay.hpp"

namespace ridgeline::whatif {
namespace {

using core::Seconds;
using timeline::KernelClass;

/// Beyond it a gap is a wait for something else, not the cost of launching; as the gaps of an
/// inspection have it (timeline/launches.hpp).
constexpr core::Nanoseconds kWait{1'000'000};

KernelGroup group_of(KernelClass cls, bool decodes_only) {
  switch (cls) {
    case KernelClass::gemm:
      return KernelGroup::gemm;
    case KernelClass::attention:
      return decodes_only ? KernelGroup::attention_decode : KernelGroup::attention_prefill;
    case KernelClass::attention_scores:
    case KernelClass::softmax:
      return KernelGroup::attention_scores;
    case KernelClass::collective:
      return KernelGroup::collective;
    default:
      return KernelGroup::small;
  }
}

/// Gathers a step's spans and adds them up when the next begins.
class FactCollector : public timeline::SpanVisitor {
 public:
  void on_step(const timeline::StepSpan& step) override {
    close();
    open_ = batch_is_known(step);
    facts_ = {};
    facts_.record = record_of(step);
    facts_.duration = step.duration;
    start_ = step.start;
  }
  void on_kernel(const timeline::KernelSpan& kernel) override {
    if (!open_) return;
    KernelTally& tally = facts_.classes[kernel.cls];
    ++tally.count;
    tally.time += kernel.duration;
    if (kernel.role == "decode_attention") facts_.decode_attention += kernel.duration;
    ++facts_.kernels;
    if (kernel.from_graph) ++facts_.graph_kernels;
    kernels_.push_back({kernel.start, kernel.end(), kernel.correlation, kernel.from_graph});
  }
  void on_runtime(const timeline::RuntimeSpan& call) override {
    if (open_) calls_.push_back(call);
  }
  std::vector<StepFacts> finish() {
    close();
    return std::move(steps_);
  }

 private:
  struct Kernel {
    core::Instant start;
    core::Instant end;
    std::int64_t correlation;
    bool from_graph;
  };

  void close() {
    if (open_ && !kernels_.empty()) {
      std::stable_sort(kernels_.begin(), kernels_.end(),
                       [](const Kernel& a, const Kernel& b) { return a.start < b.start; });
      measure_launches();
      measure_device();
      steps_.push_back(std::move(facts_));
    }
    kernels_.clear();
    calls_.clear();
    open_ = false;
  }

  void measure_launches() {
    facts_.launches = static_cast<std::int64_t>(calls_.size());
    core::Nanoseconds sum{};
    std::int64_t intervals = 0;
    for (std::size_t i = 1; i < calls_.size(); ++i) {
      const core::Nanoseconds interval = calls_[i].start - calls_[i - 1].start;
      if (interval.count < 0 || interval > kWait) continue;
      sum += interval;
      ++intervals;
    }
    if (intervals > 0) facts_.issue = sum.seconds() / static_cast<double>(intervals);
  }

  void measure_device() {
    std::unordered_map<std::int64_t, const timeline::RuntimeSpan*> call_of;
    for (const timeline::RuntimeSpan& call : calls_) call_of.emplace(call.correlation, &call);
    core::Instant busy_until = kernels_.front().start;
    core::Nanoseconds queued_gaps{};
    std::int64_t queued = 0;
    std::vector<double> doorbells;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const Kernel& k = kernels_[i];
      const auto found = call_of.find(k.correlation);
      const bool same_graph = i > 0 && k.from_graph && kernels_[i - 1].correlation == k.correlation;
      const core::Nanoseconds gap = k.start - busy_until;
      if (same_graph || (i > 0 && found != call_of.end() &&
                         found->second->start + found->second->duration < busy_until)) {
        if (gap <= kWait) queued_gaps += std::max(core::Nanoseconds{}, gap);
        ++queued;
      } else if (found != call_of.end()) {
        const timeline::RuntimeSpan& call = *found->second;
        const core::Instant issued = call.start + call.duration;
        if (k.from_graph) {
          // The host may have been ahead of the step: its device was not free before it.
          const core::Nanoseconds ahead = k.start - std::max(call.start, start_);
          if (i == 0 && ahead.count >= 0 && ahead <= kWait) facts_.graph_ahead = ahead.seconds();
        } else if (k.start >= issued && k.start - issued <= kWait) {
          doorbells.push_back((k.start - issued).seconds().value());
        }
      }
      facts_.busy += std::max(core::Nanoseconds{}, k.end - std::max(k.start, busy_until));
      busy_until = std::max(busy_until, k.end);
    }
    if (queued > 0) facts_.dispatch = queued_gaps.seconds() / static_cast<double>(queued);
    if (!doorbells.empty()) facts_.doorbell = Seconds{median_of(std::move(doorbells))};
  }

  bool open_ = false;
  StepFacts facts_;
  core::Instant start_;
  std::vector<Kernel> kernels_;
  std::vector<timeline::RuntimeSpan> calls_;  // their names are not looked at
  std::vector<StepFacts> steps_;
};

}  // namespace

const std::vector<hw::KernelKind>& kinds_of(KernelGroup group) {
  using hw::KernelKind;
  static const std::array<std::vector<KernelKind>, kKernelGroups> kinds{{
      {KernelKind::gemm, KernelKind::experts},
      {KernelKind::attention_decode},
      {KernelKind::attention_prefill},
      {KernelKind::attention_scores, KernelKind::softmax, KernelKind::attention_values},
      {KernelKind::collective},
      {KernelKind::norm, KernelKind::elementwise, KernelKind::rope, KernelKind::cache_write,
       KernelKind::cast, KernelKind::embedding, KernelKind::sampling, KernelKind::quantize,
       KernelKind::routing, KernelKind::copy},
  }};
  return kinds[static_cast<std::size_t>(group)];
}

core::Nanoseconds StepFacts::time_of(KernelGroup group) const {
  core::Nanoseconds sum{};
  for (const auto& [cls, tally] : classes) {
    if (group_of(cls, decodes_only()) == group) sum += tally.time;
  }
  return sum;
}

std::int64_t StepFacts::count_of(KernelGroup group) const {
  std::int64_t sum = 0;
  for (const auto& [cls, tally] : classes) {
    if (group_of(cls, decodes_only()) == group) sum += tally.count;
  }
  return sum;
}

std::vector<StepFacts> step_facts(const timeline::SpanSource& source) {
  FactCollector collector;
  source.visit({}, collector);
  return collector.finish();
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace ridgeline::whatif
