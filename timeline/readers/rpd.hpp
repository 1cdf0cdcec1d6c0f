#pragma once
// RPD, the SQLite files of rocmProfileData's tracer (schema 2): rocpd_op is what ran on a device,
// rocpd_api the host's calls, rocpd_api_ops joins them, rocpd_kernelapi and rocpd_copyapi are the
// calls' arguments, rocpd_monitor is the clock over time. A call's grid counts workgroups, except
// hipExtModuleLaunchKernel's, which counts threads.

#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {

[[nodiscard]] bool recognizes_rpd(const RecordingFile& file);
[[nodiscard]] Recording read_rpd(const RecordingFile& file);

}  // namespace ridgeline::timeline
