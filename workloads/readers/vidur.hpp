#pragma once
// Traces as the Vidur simulator keeps them (Agrawal et al., MLSys 2024):
// arrived_at,num_prefill_tokens,num_decode_tokens, the first in seconds.

#include <cstdint>
#include <optional>
#include <string_view>

#include "workloads/trace_file.hpp"

namespace ridgeline::workloads {

[[nodiscard]] bool recognizes_vidur(std::string_view text);
[[nodiscard]] TraceFile read_vidur(const TraceText& trace);

/// "4.314579" as whole nanoseconds. Through a double, as pandas writes it ("5e-05",
/// "3501.7219369999998"): right to the nanosecond up to 52 days, where a double's steps reach half
/// of one.
[[nodiscard]] std::optional<std::int64_t> decimal_seconds_ns(std::string_view text);

}  // namespace ridgeline::workloads
