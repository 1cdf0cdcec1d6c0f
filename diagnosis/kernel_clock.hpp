#pragma once
// How long the kernels of a decode step can take where nobody timed them, from what kernels take on
// any machine: bad ones a fifth of a roof, small ones their few microseconds. Left out: prompts,
// whose kernels have no usual length.

#include "diagnosis/work.hpp"

namespace ridgeline::diagnosis {

/// The most that all kernels take, of which those at a roof take `floor` seconds at the least.
[[nodiscard]] double longest_kernels(const Evidence& evidence, const Work& work, double floor);

/// What a device takes between the kernels of a step that are launched one by one while all of them
/// are in its queue; 0 for those of a graph.
[[nodiscard]] double turning_time(const Evidence& evidence);

}  // namespace ridgeline::diagnosis
