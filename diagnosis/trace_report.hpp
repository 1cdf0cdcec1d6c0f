#pragma once
// What was found in a trace, for programs.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "diagnosis/diagnose_trace.hpp"
#include "diagnosis/trace_study.hpp"

namespace ridgeline::diagnosis {

/// Everything `ridgeline inspect` shows: kernel_count, device_span_ns, device_busy_ns,
/// kernels_by_class, the `top` most expensive kernels, devices, gaps by cause, gates ... Times in
/// whole nanoseconds.
[[nodiscard]] nlohmann::ordered_json to_json(const TraceStudy& study, std::size_t top);

/// The diagnosis as of a simulated run, with `gates` and `notes`; `regime` is null, and
/// `cannot_tell` says why, where a decisive gate failed.
[[nodiscard]] nlohmann::ordered_json to_json(const TraceDiagnosis& answer);

/// JSON text; kernel names in a damaged file need not be UTF-8, what is not is replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace ridgeline::diagnosis
