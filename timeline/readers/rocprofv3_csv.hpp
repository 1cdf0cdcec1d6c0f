#pragma once
// rocprofv3's CSV files (rocprofiler-sdk, also what `rocpd convert` writes): one file a kind of
// record, or a directory of them read as one recording whose records are joined by Correlation_Id
// and Dispatch_Id. Which kind a file is, its header says:
//
//   kernel_trace             kernels; grids count threads. Columns changed over the releases: any
//   order and subset will do counter_collection       hardware counters, one row each, of the
//   kernels of kernel_trace, or kernels of its own hip_*, hsa_*, rccl_*     calls marker_api_trace
//   annotations memory_copy_trace        copies, without their size memory_allocation_trace,
//   scratch_memory_trace   calls that allocate
//
// Tables of statistics are known and refused. Source: the samples of rocprofiler-sdk's
// documentation.

#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {

[[nodiscard]] bool recognizes_rocprofv3_csv(const RecordingFile& file);
/// A file, or a directory with such files in it or up to two folders below (%hostname%/%pid%,
/// pass_n).
[[nodiscard]] Recording read_rocprofv3_csv(const RecordingFile& file);

}  // namespace ridgeline::timeline
