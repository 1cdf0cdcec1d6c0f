#pragma once
// rocprofiler-compute's (Omniperf's) pmc_perf.csv: the kernels of a workload with the counters of
// many passes beside one another, those of the L2 cache by channel (TCC_HIT[17]). Its other tables,
// sysinfo.csv and roofline.csv, are known and refused.

#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {

[[nodiscard]] bool recognizes_pmc_perf(const RecordingFile& file);
[[nodiscard]] Recording read_pmc_perf(const RecordingFile& file);

}  // namespace ridgeline::timeline
