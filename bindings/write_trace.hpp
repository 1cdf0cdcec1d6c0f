#pragma once
// The window of a run's timeline as a file of another tool.

#include <filesystem>
#include <string>

#include "sim/run_result.hpp"
#include "timeline/span_source.hpp"

namespace ridgeline::bindings {

/// From `begin_s` on, and before `end_s`, both in simulated seconds; infinity is the end.
/// ConfigError unless that is a stretch of time.
[[nodiscard]] timeline::Window window_between(double begin_s, double end_s);

/// `format` is one that `ridgeline trace` knows. ConfigError for another, for a window in which no
/// step begins, and when the file cannot be written.
void write_trace(const sim::RunResult& result, const std::filesystem::path& path,
                 const std::string& format, timeline::Window window);

}  // namespace ridgeline::bindings
