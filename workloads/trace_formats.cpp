#include "workloads/trace_formats.hpp"

#include <string>

#include "core/document.hpp"
#include "core/error.hpp"
#include "workloads/readers/azure.hpp"
#include "workloads/readers/jsonl.hpp"
#include "workloads/readers/quote.hpp"
#include "workloads/readers/vidur.hpp"

namespace ridgeline::workloads {
namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{8}
                                        << 30U;  // Azure's week of 27 million requests has 1.3 GB

}  // namespace

const std::vector<TraceFormat>& trace_formats() {
  static const std::vector<TraceFormat> formats{
      {"azure", "TIMESTAMP,ContextTokens,GeneratedTokens", recognizes_azure, read_azure},
      {"vidur", "arrived_at,num_prefill_tokens,num_decode_tokens", recognizes_vidur, read_vidur},
      {"jsonl", "one object a line: arrival_time,input_toks,output_toks", recognizes_jsonl,
       read_jsonl},
  };
  return formats;
}

TraceFile read_trace(const std::filesystem::path& path) {
  const std::string whole = core::read_text_file(path, kLargestFile);
  TraceText trace{.name = path.string(), .text = whole};
  if (trace.text.starts_with("\x1f\x8b")) {
    throw core::ConfigError(trace.name +
                            ": expected a trace as text, got gzip data; unpack it first");
  }
  if (trace.text.find('\0') != std::string_view::npos) {
    throw core::ConfigError(trace.name + ": expected a trace as text, got binary data");
  }
  if (trace.text.starts_with("\xef\xbb\xbf")) trace.text.remove_prefix(3);  // byte order mark
  if (trace.text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw core::ConfigError(trace.name + ": expected a trace, got an empty file");
  }
  for (const TraceFormat& format : trace_formats()) {
    if (format.recognizes(trace.text)) return format.read(trace);
  }
  std::string known;
  for (const TraceFormat& format : trace_formats()) {
    known += (known.empty() ? "" : "; ") + std::string(format.name) + " (" +
             std::string(format.header) + ")";
  }
  constexpr std::size_t kHeaderShown = 80;
  const std::string_view first = trace.text.substr(0, trace.text.find_first_of("\r\n"));
  throw core::ConfigError(trace.name + ":1:1: expected the header of a known trace format, got " +
                          quote(first, kHeaderShown) + "; known: " + known);
}

}  // namespace ridgeline::workloads
