#pragma once
// Azure's LLM inference traces: TIMESTAMP,ContextTokens,GeneratedTokens. 2023 (Patel et al.,
// "Splitwise", ISCA 2024) writes the clock in 100 ns and without an offset; 2024 (Stojkovic et al.,
// "DynamoLLM", HPCA 2025) in microseconds with "+00:00". Columns besides the three (NumImages in
// 2025) are ignored.

#include <cstdint>
#include <optional>
#include <string_view>

#include "workloads/trace_file.hpp"

namespace ridgeline::workloads {

[[nodiscard]] bool recognizes_azure(std::string_view text);
[[nodiscard]] TraceFile read_azure(const TraceText& trace);

/// Nanoseconds since 1970 (UTC) of "2023-11-16 18:15:46.6805900" or
/// "2024-05-10T00:00:00.009930+00:00"; exact, up to nine decimals. Without an offset the clock is
/// taken as UTC.
[[nodiscard]] std::optional<std::int64_t> wall_clock_ns(std::string_view text);

}  // namespace ridgeline::workloads
