#pragma once
// The PyTorch profiler's trace (Kineto, Chrome JSON) of ROCm, recorded through roctracer or
// rocprofiler-sdk, and of CUDA; traces that rpd2tracing and rocprof v1 write in the same form,
// without categories; and what timeline/writers/kineto.hpp writes.
//
// Read: kernels, copies, memsets, runtime calls, operators with their shapes, annotations, counters
// (C). Left out: stacks (python_function), arrows other than rpd2tracing's, memory instants,
// synchronisation events of the device, profiler overhead. Put right: hipExtModuleLaunchKernel's
// grid counts threads; ROCm calls most copies device to device, the call knows better.

#include <cstddef>

#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {

[[nodiscard]] bool recognizes_kineto(const RecordingFile& file);
[[nodiscard]] Recording read_kineto(const RecordingFile& file);
/// The same, its events read in so many parts at once. What comes out does not depend on it.
[[nodiscard]] Recording read_kineto(const RecordingFile& file, std::size_t parts);

}  // namespace ridgeline::timeline
