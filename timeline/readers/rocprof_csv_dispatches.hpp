#pragma once
// One row a kernel, counters as columns: the table that rocprof v1, rocprofv2 and
// rocprofiler-compute share under other names.

#include <string>
#include <string_view>
#include <vector>

#include "timeline/readers/formats.hpp"

namespace ridgeline::timeline {

/// Whether a column is about the dispatch (its grid, registers, times), as in "Wave_Size" and
/// "Wave_Size_3", and so not a counter. rocprofiler-compute numbers the columns that its passes
/// have in common.
[[nodiscard]] bool describes_dispatch(std::string_view column);

/// Reads the table. A counter's channels, X[0], X[1], …, become their sum, X_sum. If the table has
/// a column of that name too it is of another pass and differs a little; the channels of all
/// counters of a cache are of one pass, so their sums go together.
[[nodiscard]] Recording read_dispatch_table(const RecordingFile& file, std::string format);

}  // namespace ridgeline::timeline
