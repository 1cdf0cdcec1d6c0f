#pragma once
// What one step of a timeline shows, recorded or simulated alike, in the few numbers by which the
// two are held against each other: its batch, its length, its kernels by group, how they were
// launched. Left out: which stream a kernel ran on; where kernels overlap, `busy` counts their
// union and the groups each of them.

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "hw/kernel_work.hpp"
#include "sim/step_record.hpp"
#include "timeline/span_source.hpp"

namespace ridgeline::whatif {

/// Kinds of kernels that a recording can tell apart and that share one factor of calibration.
/// Attention is of a decode step or of any other; small kernels are all that neither multiply nor
/// attend nor communicate.
enum class KernelGroup : std::uint8_t {
  gemm,
  attention_decode,
  attention_prefill,
  attention_scores,
  collective,
  small,
};
inline constexpr std::size_t kKernelGroups = 6;
inline constexpr std::array<std::string_view, kKernelGroups> kKernelGroupNames{
    "gemm", "attention_decode", "attention_prefill", "attention_scores", "collective", "small"};

/// The simulator's kinds in a group, by which a stack's efficiencies are named.
[[nodiscard]] const std::vector<hw::KernelKind>& kinds_of(KernelGroup group);

struct KernelTally {
  std::int64_t count = 0;
  core::Nanoseconds time;
};

struct StepFacts {
  sim::StepRecord record;  // the batch
  core::Nanoseconds duration;
  core::Nanoseconds busy;
  std::map<timeline::KernelClass, KernelTally> classes;
  core::Nanoseconds decode_attention;  // of a step with prefills, where roles tell: the part of it
  std::int64_t kernels = 0;
  std::int64_t graph_kernels = 0;
  std::int64_t launches = 0;                 // calls that launched kernels
  std::optional<core::Seconds> issue;        // from one launch call to the next, mean; waits out
  std::optional<core::Seconds> doorbell;     // idle device: from a call's end to its kernel, median
  std::optional<core::Seconds> dispatch;     // from a kernel to the next, already queued: mean
  std::optional<core::Seconds> graph_ahead;  // from a graph's launch call to its first kernel

  [[nodiscard]] bool decodes_only() const {
    return record.prefill_sequences == 0 && record.decode_sequences > 0;
  }
  [[nodiscard]] core::Nanoseconds time_of(KernelGroup group) const;
  [[nodiscard]] std::int64_t count_of(KernelGroup group) const;
};

/// Of every step whose batch is known and that has kernels, in the order of time.
[[nodiscard]] std::vector<StepFacts> step_facts(const timeline::SpanSource& source);

/// The middle of values, the mean of the two middle ones of an even number; 0 of none.
[[nodiscard]] double median_of(std::vector<double> values);

}  // namespace ridgeline::whatif
