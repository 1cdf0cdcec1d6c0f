#pragma once
// rocprofv3's JSON (rocprofiler-sdk's tool): {"rocprofiler-sdk-tool": [a process, …]}. Read of each
// process: kernels, copies, calls of HIP, HSA and RCCL, allocations, roctx ranges, hardware
// counters, agents. Left out: code objects, page migration, samples.
//   kernel_dispatch     names through kernel_symbols by kernel_id; grids count threads
//   *_api, memory_copy  names through strings.buffer_records by kind and operation
//   counter_collection  joined to kernels by dispatch_id, or kernels of its own where no trace was
//   recorded; a counter's instances
//                       (XCC, SE, channel) are added up, as in rocprofv3's own CSV

#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {

[[nodiscard]] bool recognizes_rocprofv3_json(const RecordingFile& file);
[[nodiscard]] Recording read_rocprofv3_json(const RecordingFile& file);

}  // namespace ridgeline::timeline
