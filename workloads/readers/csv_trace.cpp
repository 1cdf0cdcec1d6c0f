#include "workloads/readers/csv_trace.hpp"

#include <algorithm>
#include <string>

#include "workloads/limits.hpp"
#include "workloads/readers/csv.hpp"

namespace ridgeline::workloads {

bool recognizes(const CsvTraceFormat& format, std::string_view text) {
  const auto names = csv_header(text);
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return name == format.prompt_tokens || name == format.output_tokens;
  });
}

TraceFile read_csv_trace(const CsvTraceFormat& format, const TraceText& trace) {
  CsvRows rows(trace);
  const std::size_t arrival = rows.column(format.arrival);
  const std::size_t prompt = rows.column(format.prompt_tokens);
  const std::size_t output = rows.column(format.output_tokens);
  TraceBuilder requests;
  while (rows.next()) {
    const auto clock_ns = format.clock_ns(rows.field(arrival));
    if (!clock_ns) rows.fail(arrival, std::string(format.clock_text));
    requests.add(*clock_ns, rows.count(prompt, kMostTokens), rows.count(output, kMostTokens));
  }
  return std::move(requests).finish(trace.name);
}

}  // namespace ridgeline::workloads
