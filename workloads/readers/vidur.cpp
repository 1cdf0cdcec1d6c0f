#include "workloads/readers/vidur.hpp"

#include <charconv>

#include "core/instant.hpp"
#include "workloads/limits.hpp"
#include "workloads/readers/csv_trace.hpp"

namespace ridgeline::workloads {
namespace {

constexpr CsvTraceFormat kVidur{.arrival = "arrived_at",
                                .prompt_tokens = "num_prefill_tokens",
                                .output_tokens = "num_decode_tokens",
                                .clock_text = "seconds from 0 to 1e9, like '4.314579'",
                                .clock_ns = decimal_seconds_ns};

}  // namespace

bool recognizes_vidur(std::string_view text) { return recognizes(kVidur, text); }

TraceFile read_vidur(const TraceText& trace) { return read_csv_trace(kVidur, trace); }

std::optional<std::int64_t> decimal_seconds_ns(std::string_view text) {
  double seconds = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!(seconds >= 0.0 && seconds <= kLongestSeconds)) return std::nullopt;  // "nan" is read too
  return core::round_to_ns(core::Seconds{seconds}).count;
}

}  // namespace ridgeline::workloads
