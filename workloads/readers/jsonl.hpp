#pragma once
// Traces with one JSON object a line (JSONL). The keys of the first line choose the dialect:
//
//   arrival_time (s, any origin), input_toks, output_toks       what a bench client logs of a
//   server arrival_time_ns, input_toks, output_toks                    LLMServingSim (casys-kaist)
//   timestamp (ms), input_length, output_length                 Mooncake (kvcache-ai)
//
// Mooncake's rows may have hash_ids, one for every 512 tokens of the prompt and one for the rest:
// equal ids, equal tokens up to there. Further keys, whatever they hold, are passed over.

#include <cstdint>
#include <optional>
#include <string_view>

#include "workloads/trace_file.hpp"

namespace ridgeline::workloads {

[[nodiscard]] bool recognizes_jsonl(std::string_view text);
/// ConfigError with file:line:column: not an object, a key that is missing or twice, a value that
/// is not the number its key holds.
[[nodiscard]] TraceFile read_jsonl(const TraceText& trace);

/// A JSON number times `unit_ns`, a power of ten, as nanoseconds: digit by digit, since a wall
/// clock in seconds ("1787267980.0827403") has more digits than a double. What is finer than a
/// nanosecond is cut off. Nothing when the text is no such number, or is negative, or beyond the
/// year 2262.
[[nodiscard]] std::optional<std::int64_t> clock_ns(std::string_view text, std::int64_t unit_ns);

}  // namespace ridgeline::workloads
