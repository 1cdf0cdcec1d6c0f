#include "bindings/write_trace.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "sim/run_timeline.hpp"
#include "timeline/writers/kineto.hpp"
#include "timeline/writers/perfetto.hpp"
#include "timeline/writers/rocprofv3.hpp"

namespace ridgeline::bindings {
namespace {

using Write = void (*)(const timeline::SpanSource&, timeline::Window, const std::filesystem::path&);

struct Format {
  const char* name;
  Write write;
};

constexpr std::array<Format, 4> kFormats{{
    {"kineto", [](const auto& s, auto w, const auto& p) { timeline::write_kineto_file(s, w, p); }},
    {"perfetto",
     [](const auto& s, auto w, const auto& p) { timeline::write_perfetto_file(s, w, p); }},
    {"rocprofv3-csv",
     [](const auto& s, auto w, const auto& p) { timeline::write_rocprofv3_csv(s, w, p); }},
    {"rocprofv3-json",
     [](const auto& s, auto w, const auto& p) { timeline::write_rocprofv3_json(s, w, p); }},
}};

Write writer_of(const std::string& name) {
  std::vector<std::string> known;
  for (const Format& format : kFormats) {
    if (name == format.name) return format.write;
    known.emplace_back(format.name);
  }
  throw core::ConfigError("format: unknown name '" + name + "'" + core::suggestion(name, known));
}

}  // namespace

timeline::Window window_between(double begin_s, double end_s) {
  constexpr double kMost = 1e9;  // seconds that a clock holds
  if (!(begin_s >= 0.0 && begin_s < end_s && begin_s <= kMost)) {
    throw core::ConfigError(
        "window: expected two times in seconds, the second after the first, got " +
        std::to_string(begin_s) + " and " + std::to_string(end_s));
  }
  const auto instant = [](double s) {
    return s > kMost ? core::kNever : core::Instant{core::round_to_ns(core::Seconds{s}).count};
  };
  return {instant(begin_s), instant(end_s)};
}

void write_trace(const sim::RunResult& result, const std::filesystem::path& path,
                 const std::string& format, timeline::Window window) {
  const Write write = writer_of(format);
  const sim::RunTimeline timeline(result);
  bool any = false;
  for (const sim::StepRecord& step : result.steps) any = any || window.holds(step.start);
  if (!any) {
    throw core::ConfigError("window: no step begins in it; the run lasts from 0 to " +
                            std::to_string(result.end().since_start().value()) + " s");
  }
  write(timeline, window, path);
}

}  // namespace ridgeline::bindings
