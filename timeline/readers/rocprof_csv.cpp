#include "timeline/readers/rocprof_csv.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "timeline/readers/pmc_perf.hpp"
#include "timeline/readers/profiler_csv.hpp"
#include "timeline/readers/rocprof_csv_dispatches.hpp"

namespace ridgeline::timeline {
namespace {

bool has(const std::vector<std::string_view>& header, std::string_view name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}
bool is_v1(const std::vector<std::string_view>& header) {
  return has(header, "KernelName") && has(header, "gpu-id");
}
bool is_v2(const std::vector<std::string_view>& header) {
  return has(header, "Kernel_Name") && has(header, "GPU_ID") && has(header, "Start_Timestamp");
}

}  // namespace

bool recognizes_rocprof_csv(const RecordingFile& file) {
  const auto header = profiler_csv_header(file.text);
  return (is_v1(header) || is_v2(header)) &&
         !recognizes_pmc_perf(file);  // which is this table with further columns
}

Recording read_rocprof_csv(const RecordingFile& file) {
  const auto header = profiler_csv_header(file.text);
  const bool v1 = is_v1(header);
  if (v1 && !has(header, "BeginNs")) {
    throw core::ConfigError(
        file.name + ": counters without times, not a timeline; record with rocprof --timestamp on");
  }
  return read_dispatch_table(file, v1 ? "rocprof csv" : "rocprofv2 csv");
}

}  // namespace ridgeline::timeline
