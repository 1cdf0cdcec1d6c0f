#pragma once
// What rocprofv3's two formats have in common: which records a timeline amounts to, and the
// hardware counters of a kernel.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/name_index.hpp"
#include "timeline/span_source.hpp"
#include "timeline/writers/rocprofv3.hpp"

namespace ridgeline::timeline {

inline constexpr std::array<std::string_view, 13> kRocprofCounters{"SQ_INSTS_VALU_MFMA_MOPS_BF16",
                                                                   "SQ_INSTS_VALU_MFMA_MOPS_F16",
                                                                   "SQ_INSTS_VALU_MFMA_MOPS_F8",
                                                                   "SQ_INSTS_VALU_MFMA_MOPS_F6F4",
                                                                   "SQ_INSTS_VALU_MFMA_MOPS_I8",
                                                                   "SQ_INSTS_VALU_MFMA_MOPS_F32",
                                                                   "SQ_INSTS_VALU_MFMA_MOPS_F64",
                                                                   "SQ_INSTS_VALU_ADD_F32",
                                                                   "TCC_BUBBLE_sum",
                                                                   "TCC_EA0_RDREQ_sum",
                                                                   "TCC_EA0_RDREQ_32B_sum",
                                                                   "TCC_EA0_WRREQ_sum",
                                                                   "TCC_EA0_WRREQ_64B_sum"};
/// The last five count memory traffic.
inline constexpr std::size_t kFirstTrafficCounter = 8;

using RocprofCounters = std::array<double, kRocprofCounters.size()>;
/// A counter's value as the tool prints it, with six decimals, or with as many as it takes.
[[nodiscard]] std::string rocprof_value(double value);

/// Spans that the profiler shows as copies, by the name a copy has in a PyTorch trace ("Memcpy HtoD
/// …"): the direction as rocprofv3 calls it. Empty for a kernel, and copies by blit kernels are
/// kernels here too.
[[nodiscard]] std::string_view rocprof_copy(const KernelSpan& kernel);

/// One look at the window: what there is, before anything is written.
struct RocprofContents {
  RocprofContents(const SpanSource& source, Window window);

  [[nodiscard]] RocprofCounters counters_of(const KernelSpan& kernel);

  NameIndex kernel_names;
  std::vector<std::size_t>
      matrix_counters;  // by name: which counter its matrix instructions advance
  NameIndex functions;
  std::int64_t kernels = 0;
  std::int64_t copies = 0;
  std::array<bool, kRocprofCounters.size()>
      counted{};  // a run collects the same counters of every kernel
  bool any_counter = false;
  core::Instant begin;
  core::Instant end;
};

/// ConfigError for a device that rocprofv3 cannot record.
void check_rocprof_device(const DeviceInfo& device);

}  // namespace ridgeline::timeline
