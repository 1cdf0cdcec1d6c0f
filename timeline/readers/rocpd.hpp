#pragma once
// rocpd, what rocprofv3 writes since ROCm 7.0: SQLite, tables named rocpd_*_<uuid> below views of
// fixed names. The views are read, for the tables changed between releases (start and end moved
// into a table of their own) and the views did not:
//   kernels, memory_copies, memory_allocations, regions (calls and markers), pmc_events (counters)
// What joins a kernel to its launch is stack_id, the tool's internal correlation; corr_id is the
// external one. Source: data_views.sql and the writer of rocprofiler-sdk.

#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {

[[nodiscard]] bool recognizes_rocpd(const RecordingFile& file);
[[nodiscard]] Recording read_rocpd(const RecordingFile& file);

}  // namespace ridgeline::timeline
