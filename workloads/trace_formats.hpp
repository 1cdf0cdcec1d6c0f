#pragma once
// The formats a trace can have. A new one is a .cpp in readers/ and a line in the table of
// trace_formats.cpp.

#include <filesystem>
#include <string_view>
#include <vector>

#include "workloads/trace_file.hpp"

namespace ridgeline::workloads {

struct TraceFormat {
  std::string_view name;
  std::string_view header;  // as an error shows it
  bool (*recognizes)(std::string_view text);
  TraceFile (*read)(const TraceText& trace);
};

[[nodiscard]] const std::vector<TraceFormat>& trace_formats();

/// The requests of a trace file, its format chosen by what it begins with. Errors (ConfigError,
/// with file:line:column): no such file, empty, binary, compressed, a format nobody knows (those
/// known are listed), a field that is not what its column holds.
[[nodiscard]] TraceFile read_trace(const std::filesystem::path& path);

}  // namespace ridgeline::workloads
