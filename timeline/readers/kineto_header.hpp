#pragma once
// The keys around traceEvents: which devices, which profiler, which rank, what time zero is.

#include <cstdint>
#include <string>
#include <string_view>

#include "timeline/readers/json_value.hpp"
#include "timeline/recording.hpp"

namespace ridgeline::timeline {

/// Takes what a member of the top-level object says into the recording; of no effect for the many
/// that say nothing of use.
void read_kineto_header(std::string_view key, std::string_view value, JsonParser& json,
                        Recording& recording);

}  // namespace ridgeline::timeline
