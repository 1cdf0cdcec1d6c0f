#pragma once
// The older rocprofs' table of kernels: one row a dispatch, its counters as further columns.
//   rocprof v1  results.csv: Index, KernelName, gpu-id, …, BeginNs, EndNs
//   rocprofv2   Dispatch_ID, GPU_ID, …, Kernel_Name, Start_Timestamp, End_Timestamp, Correlation_ID
//   (also what
//               rocprofiler-compute keeps as timestamps.csv, SQ_LEVEL_WAVES.csv and the like)
// Grids count threads, of all three dimensions together. Neither has calls.

#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {

[[nodiscard]] bool recognizes_rocprof_csv(const RecordingFile& file);
[[nodiscard]] Recording read_rocprof_csv(const RecordingFile& file);

}  // namespace ridgeline::timeline
