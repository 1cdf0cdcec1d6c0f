#pragma once
// A recorded trace, opened: what it holds, the steps found in it, whether it can be believed, and
// its numbers. Everything that the commands on traces start from.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/config_library.hpp"
#include "hw/gpu_spec.hpp"
#include "timeline/inspection.hpp"
#include "timeline/integrity.hpp"
#include "timeline/recorded_timeline.hpp"
#include "workloads/model_spec.hpp"

namespace ridgeline::diagnosis {

struct TraceStudy {
  /// Reads the file ("-" is standard input). Errors as timeline/readers/formats.hpp has them.
  explicit TraceStudy(const std::filesystem::path& path);
  TraceStudy(const TraceStudy&) = delete;  // its parts refer to one another
  TraceStudy& operator=(const TraceStudy&) = delete;

  timeline::Recording recording;
  timeline::Steps steps;
  std::vector<timeline::Gate> gates;
  timeline::Inspection inspection;
  timeline::RecordedTimeline timeline;
};

/// Whether a path is a profiler's file (or directory of rocprofv3 CSV) rather than typed evidence
/// or a run's directory, by its name.
[[nodiscard]] bool looks_like_trace(const std::filesystem::path& path);

/// What the user adds to a trace that does not say it.
struct TraceContext {
  std::optional<hw::GpuSpec> gpu;
  std::optional<workloads::ModelSpec> model;
};

/// The shipped GPU that a device's name names ("AMD Instinct MI300X VF": mi300x), or nothing.
[[nodiscard]] std::optional<hw::GpuSpec> gpu_named(const std::string& device_name,
                                                   const core::ConfigLibrary& library);

/// `hw` and `model` are names or paths of configurations, or empty. An empty `hw` means the GPU
/// that the trace names, if it is known.
[[nodiscard]] TraceContext trace_context(const TraceStudy& study, const std::string& hw,
                                         const std::string& model,
                                         const core::ConfigLibrary& library);

}  // namespace ridgeline::diagnosis
