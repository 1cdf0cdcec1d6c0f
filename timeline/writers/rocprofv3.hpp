#pragma once
// A timeline as rocprofv3 would have recorded it on an AMD device: its CSV files, or its JSON.
// Grids count threads, times are whole nanoseconds of a clock that starts well before the timeline,
// a graph's kernels share the correlation of their launch.
//
// Counters are those of gfx94x and gfx95x, such that the formulas of AMD's tools give the spans'
// work and bytes back exactly:
//
//   issued  = 512 SQ_INSTS_VALU_MFMA_MOPS_<type> of kernels that use the matrix cores, else 64
//   SQ_INSTS_VALU_ADD_F32 read    = 128 TCC_BUBBLE + 64 (TCC_EA0_RDREQ - TCC_BUBBLE -
//   TCC_EA0_RDREQ_32B) + 32 TCC_EA0_RDREQ_32B written = 64 TCC_EA0_WRREQ_64B + 32 (TCC_EA0_WRREQ -
//   TCC_EA0_WRREQ_64B)
//
// They are fractions where the device would have rounded up. Left out: steps and the server's
// counters, which rocprofv3 does not see; registers and scratch, which the spans do not know.

#include <cstdint>
#include <filesystem>

#include "timeline/span_source.hpp"

namespace ridgeline::timeline {

struct RocprofOptions {
  /// What the clock says at time zero: time since boot on a real machine, where it is never 0.
  std::int64_t base_time_ns = 1'000'000'000'000;
  std::int64_t host_process = 4242;
  /// HSA counts CPU sockets first: 2 on a two-socket host.
  std::int32_t agent = 2;
};

/// Writes <prefix>_kernel_trace.csv and <prefix>_hip_api_trace.csv and, where there is something to
/// say, <prefix>_memory_copy_trace.csv and <prefix>_counter_collection.csv; of those an older one
/// is removed. For a directory (it exists, or the path ends in a slash) the prefix is the process's
/// number in it. Each file is there whole or not at all, and if the source throws none is. Errors
/// (ConfigError): a device that is not AMD's, and what write_file throws.
void write_rocprofv3_csv(const SpanSource& source, Window window,
                         const std::filesystem::path& directory_or_prefix,
                         const RocprofOptions& options = {});

/// The same in one JSON file, the tool's <prefix>_results.json. The window is visited several
/// times, once for each kind of record.
void write_rocprofv3_json(const SpanSource& source, Window window,
                          const std::filesystem::path& path, const RocprofOptions& options = {});

}  // namespace ridgeline::timeline
