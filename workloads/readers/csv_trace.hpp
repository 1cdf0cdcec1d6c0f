#pragma once
// A trace with one request a row, and a column each for when it came and how long it was. A format
// is which columns these are and how its clock is written.

#include <cstdint>
#include <optional>
#include <string_view>

#include "workloads/trace_file.hpp"

namespace ridgeline::workloads {

struct CsvTraceFormat {
  std::string_view arrival;
  std::string_view prompt_tokens;
  std::string_view output_tokens;
  std::string_view clock_text;  // what an error says it expected of `arrival`
  /// Nanoseconds from the format's own origin, or nothing when the text is not a time.
  std::optional<std::int64_t> (*clock_ns)(std::string_view text);
};

/// Whether the header has one of the token columns. One is enough: the other's absence is then an
/// error that names it.
[[nodiscard]] bool recognizes(const CsvTraceFormat& format, std::string_view text);

[[nodiscard]] TraceFile read_csv_trace(const CsvTraceFormat& format, const TraceText& trace);

}  // namespace ridgeline::workloads
