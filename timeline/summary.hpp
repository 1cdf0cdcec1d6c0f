#pragma once
// What a timeline amounts to over a choice of steps: rates, kernel table, gaps, host time. The same
// for recorded and simulated ones; the diagnosis starts from it.
//
//     time = busy + gaps + host        to the nanosecond
//     busy = kernels_time              where kernels neither overlap nor reach out of their step
//
// Of a kernel that reaches out of its step, busy and gaps see the part inside; the kernel table has
// all of it.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "timeline/span_source.hpp"

namespace ridgeline::timeline {

struct KernelRow {
  std::int64_t count = 0;
  core::Nanoseconds time;
  core::Flop issued{};
  core::Flop useful{};
  core::Bytes hbm{};

  KernelRow& operator+=(const KernelRow& other) {
    count += other.count;
    time += other.time;
    issued += other.issued;
    useful += other.useful;
    hbm += other.hbm;
    return *this;
  }
};

/// How often each length of time (in ns) occurred. Simulated kernels repeat a few lengths millions
/// of times.
using DurationCounts = std::map<std::int64_t, std::int64_t>;

/// Share of the samples whose length lies in [low, high]; 0 without samples.
[[nodiscard]] double share_within(const DurationCounts& counts, core::Seconds low,
                                  core::Seconds high);
/// The length below which `fraction` of the samples lie (nearest rank); 0 s without samples.
[[nodiscard]] core::Seconds quantile(const DurationCounts& counts, double fraction);

struct Summary {
  std::int64_t steps = 0;
  core::Nanoseconds time;          // sum of the steps' lengths, host work included
  core::Nanoseconds kernels_time;  // sum of kernel lengths
  core::Nanoseconds busy;          // union of kernels
  core::Nanoseconds gaps;          // between consecutive kernels of a step; sum of gap_lengths
  core::Nanoseconds host;  // the rest of the steps: before the first kernel and after the last
  KernelRow total;
  std::map<KernelClass, KernelRow> by_class;
  std::map<std::string, KernelRow> by_role;  // by name where roles are not known
  std::map<std::int64_t, std::int64_t>
      gemm_m;  // rows of the linear layers, and how many kernels had them
  DurationCounts kernel_lengths;
  DurationCounts
      gap_lengths;  // one for each kernel but a step's first; 0 where kernels abut or overlap
  core::Bytes transient{};  // largest of any kernel
  // Of the kernels whose bytes or FLOP have to be: all but collectives, copies and scores that are
  // written out. What they would take at the roofs given to `summarize`, and what they took.
  core::Nanoseconds at_roofs;
  core::Nanoseconds under_roofs;
  // The same parted by the roof that is the nearer one of each kernel; bytes of scores count here,
  // for they do bind.
  core::Nanoseconds at_matrix_roof;
  core::Nanoseconds at_hbm_roof;
  // Where launches are recorded: of the steps' time, what the path from launch to launch takes. Up
  // to the last kernel that an idle device was told of, and after the last kernel of all, the host
  // sets the pace; kernels that ran meanwhile could have taken no time at all.
  core::Nanoseconds host_path;
  std::int64_t launches = 0;  // calls of the steps
  // Sums over the steps' shapes.
  std::int64_t decode_sequences = 0;
  std::int64_t decode_context = 0;
  std::int64_t prefill_sequences = 0;
  std::int64_t prefill_tokens = 0;
  double prefill_qk = 0.0;
  std::int64_t training_steps = 0;

  // Rates and ratios of nothing are zero, never NaN: a window without steps is an ordinary answer.
  [[nodiscard]] double kernels_per_step() const {
    return steps == 0 ? 0.0 : static_cast<double>(total.count) / static_cast<double>(steps);
  }
  /// Rates over the steps' whole time, gaps and host included: what a profiler prints.
  [[nodiscard]] core::FlopPerSecond issued_rate() const {
    return time.count == 0 ? core::FlopPerSecond{} : total.issued / time.seconds();
  }
  [[nodiscard]] core::FlopPerSecond useful_rate() const {
    return time.count == 0 ? core::FlopPerSecond{} : total.useful / time.seconds();
  }
  [[nodiscard]] core::BytesPerSecond hbm_rate() const {
    return time.count == 0 ? core::BytesPerSecond{} : total.hbm / time.seconds();
  }
  /// Share of all kernel time.
  [[nodiscard]] double share(KernelClass c) const;
};

/// Rates that the best kernels of a machine reach; zero: not known.
struct Roofs {
  core::BytesPerSecond hbm{};
  core::FlopPerSecond matrix{};
};

/// Which steps to sum over; absent means all.
using StepFilter = std::function<bool(const StepSpan&)>;

/// Sums over the steps of `window` that pass the filter. No such step gives a Summary with `steps
/// == 0`.
[[nodiscard]] Summary summarize(const SpanSource& source, Window window = {},
                                const StepFilter& filter = {}, const Roofs& roofs = {});

}  // namespace ridgeline::timeline
