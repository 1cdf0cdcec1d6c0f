#include "timeline/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "timeline/name_index.hpp"
#include "timeline/tally.hpp"

namespace ridgeline::timeline {
namespace {

/// From a launch's return to the start of its kernel on an idle device: 8 us traced on an H100, 8
/// to 22 us on an MI300X (configs/stacks).
constexpr core::Nanoseconds kDoorbell{8'000};

/// Sums as spans arrive; nothing is allocated per kernel. Maps are filled once, in `finish`.
class Summing final : public SpanVisitor {
 public:
  Summing(const StepFilter& filter, const Roofs& roofs) : filter_(filter), roofs_(roofs) {}

  void on_step(const StepSpan& step) override {
    close_step();
    open_ = !filter_ || filter_(step);
    if (!open_) return;
    begin_ = step.start;
    end_ = step.end();
    has_kernels_ = false;
    ++sum_.steps;
    sum_.time += step.duration;
    sum_.decode_sequences += step.decode_sequences;
    sum_.decode_context += step.decode_context;
    sum_.prefill_sequences += step.prefill_sequences;
    sum_.prefill_tokens += step.prefill_tokens;
    sum_.prefill_qk += step.prefill_qk;
    if (step.training) ++sum_.training_steps;
  }

  void on_runtime(const RuntimeSpan& call) override {
    if (open_) calls_.push_back({call.correlation, call.start + call.duration});
  }

  void on_kernel(const KernelSpan& kernel) override {
    if (!open_) return;
    // The kernels of a graph come with its first.
    if (has_kernels_ && !kernel.from_graph && kernel.start > edge_)
      after_idle_.push_back({kernel.correlation, edge_, kernel.start});
    cover(kernel);
    const KernelRow row{1, kernel.duration, kernel.issued, kernel.useful,
                        kernel.hbm_read + kernel.hbm_written};
    classes_[static_cast<std::size_t>(kernel.cls)] += row;
    hold_to_roofs(kernel.cls, row);
    const std::uint32_t role = roles_.of(kernel.role.empty() ? kernel.name : kernel.role);
    if (role == role_rows_.size()) role_rows_.emplace_back();
    role_rows_[role] += row;
    lengths_.add(kernel.duration.count);
    if (kernel.cls == KernelClass::gemm && kernel.gemm.m > 0) gemm_m_.add(kernel.gemm.m);
    sum_.transient = std::max(sum_.transient, kernel.transient);
  }

  [[nodiscard]] Summary finish() {
    close_step();
    sum_.host = sum_.time - sum_.busy - sum_.gaps;
    for (std::size_t c = 0; c < kKernelClasses; ++c) {
      if (classes_[c].count > 0) sum_.by_class.emplace(static_cast<KernelClass>(c), classes_[c]);
      sum_.total += classes_[c];
    }
    sum_.kernels_time = sum_.total.time;
    for (std::uint32_t r = 0; r < role_rows_.size(); ++r)
      sum_.by_role.emplace(roles_.text(r), role_rows_[r]);
    sum_.gemm_m = gemm_m_.sorted();
    sum_.kernel_lengths = lengths_.sorted();
    sum_.gap_lengths = gaps_.sorted();
    return std::move(sum_);
  }

 private:
  void hold_to_roofs(KernelClass cls, const KernelRow& row) {
    if (!(roofs_.hbm.value() > 0.0) || cls == KernelClass::collective || cls == KernelClass::copy)
      return;
    const bool scores = cls == KernelClass::attention_scores || cls == KernelClass::softmax;
    const double bytes = scores ? 0.0 : row.hbm.value() / roofs_.hbm.value();
    const double flop =
        roofs_.matrix.value() > 0.0 ? row.useful.value() / roofs_.matrix.value() : 0.0;
    const double least = std::min(row.time.seconds().value(), std::max(bytes, flop));
    sum_.at_roofs += core::round_to_ns(core::Seconds{least});
    sum_.under_roofs += row.time;
    const double moved = row.hbm.value() / roofs_.hbm.value();
    const double issued =
        roofs_.matrix.value() > 0.0 ? row.issued.value() / roofs_.matrix.value() : 0.0;
    const double nearer = std::min(row.time.seconds().value(), std::max(moved, issued));
    (issued > moved ? sum_.at_matrix_roof : sum_.at_hbm_roof) +=
        core::round_to_ns(core::Seconds{nearer});
  }

  /// From the step's begin to its last kernel that waited for its launch: the device was idle
  /// before the launch, once it had returned, reached it.
  core::Nanoseconds path_to_last_wait() {
    const auto earlier = [](const Call& a, const Call& b) { return a.correlation < b.correlation; };
    if (!std::is_sorted(calls_.begin(), calls_.end(), earlier))
      std::sort(calls_.begin(), calls_.end(), earlier);
    for (auto kernel = after_idle_.rbegin(); kernel != after_idle_.rend(); ++kernel) {
      const auto call = std::lower_bound(calls_.begin(), calls_.end(),
                                         Call{kernel->correlation, core::Instant{}}, earlier);
      const bool found = call != calls_.end() && call->correlation == kernel->correlation;
      if (found && call->end + kDoorbell > kernel->idle_since)
        return std::clamp(kernel->start, begin_, end_) - begin_;
    }
    return first_ - begin_;
  }

  /// Kernels come in the order of their starts, so their union is one moving edge.
  void cover(const KernelSpan& kernel) {
    const core::Instant start = std::clamp(kernel.start, begin_, end_);
    const core::Instant end = std::clamp(kernel.end(), begin_, end_);
    if (!has_kernels_) {
      has_kernels_ = true;
      first_ = edge_ = start;
    } else {
      const core::Nanoseconds gap{std::max<std::int64_t>(0, start.ns - edge_.ns)};
      gap_time_ += gap;
      gaps_.add(gap.count);
      edge_ = std::max(edge_, start);
    }
    edge_ = std::max(edge_, end);
  }

  void close_step() {
    if (open_ && has_kernels_) {
      sum_.gaps += gap_time_;
      sum_.busy += edge_ - first_ - gap_time_;
      sum_.host_path += path_to_last_wait() + (end_ - edge_);
      sum_.launches += static_cast<std::int64_t>(calls_.size());
    }
    open_ = has_kernels_ = false;
    gap_time_ = {};
    calls_.clear();
    after_idle_.clear();
  }

  const StepFilter& filter_;
  const Roofs roofs_;
  Summary sum_;
  std::array<KernelRow, kKernelClasses> classes_{};
  NameIndex roles_;
  std::vector<KernelRow> role_rows_;
  Tally lengths_;
  Tally gaps_;
  Tally gemm_m_;

  bool open_ = false;  // the current step passed the filter
  bool has_kernels_ = false;
  core::Instant begin_, end_;   // of the current step
  core::Instant first_, edge_;  // its kernels cover [first_, edge_) but for gap_time_
  core::Nanoseconds gap_time_;
  struct Call {
    std::int64_t correlation;
    core::Instant end;
  };
  struct AfterIdle {  // a kernel that the device did not have to finish another for
    std::int64_t correlation;
    core::Instant idle_since;
    core::Instant start;
  };
  std::vector<Call> calls_;  // of the current step
  std::vector<AfterIdle> after_idle_;
};

std::int64_t samples_of(const DurationCounts& counts) {
  std::int64_t n = 0;
  for (const auto& [length, count] : counts) n += count;
  return n;
}

}  // namespace

double share_within(const DurationCounts& counts, core::Seconds low, core::Seconds high) {
  const std::int64_t all = samples_of(counts);
  if (all == 0 || high < low) return 0.0;
  std::int64_t inside = 0;
  const auto last = counts.upper_bound(core::round_to_ns(high).count);
  for (auto at = counts.lower_bound(core::round_to_ns(low).count); at != last; ++at)
    inside += at->second;
  return static_cast<double>(inside) / static_cast<double>(all);
}

core::Seconds quantile(const DurationCounts& counts, double fraction) {
  const std::int64_t all = samples_of(counts);
  if (all == 0) return core::Seconds{};
  // 0.07 x 100 is a little more than 7 in doubles; it must not become rank 8.
  const double exact = fraction * static_cast<double>(all) * (1.0 - 1e-12);
  std::int64_t rank = std::clamp(static_cast<std::int64_t>(std::ceil(exact)), std::int64_t{1}, all);
  for (const auto& [length, count] : counts) {
    rank -= count;
    if (rank <= 0) return core::Nanoseconds{length}.seconds();
  }
  return core::Seconds{};  // not reached: the counts add up to `all`
}

double Summary::share(KernelClass c) const {
  const auto at = by_class.find(c);
  if (at == by_class.end() || kernels_time.count == 0) return 0.0;
  return static_cast<double>(at->second.time.count) / static_cast<double>(kernels_time.count);
}

Summary summarize(const SpanSource& source, Window window, const StepFilter& filter,
                  const Roofs& roofs) {
  Summing sums(filter, roofs);
  source.visit(window, sums);
  return sums.finish();
}

}  // namespace ridgeline::timeline
