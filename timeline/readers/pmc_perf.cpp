#include "timeline/readers/pmc_perf.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "timeline/readers/profiler_csv.hpp"
#include "timeline/readers/rocprof_csv_dispatches.hpp"

namespace ridgeline::timeline {
namespace {

using Header = std::vector<std::string_view>;

bool has(const Header& header, std::string_view name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}

bool is_sysinfo(const Header& header) {
  return has(header, "workload_name") && has(header, "command");
}
bool is_roofline(const Header& header) { return has(header, "device") && has(header, "HBMBw"); }

/// Counters by channel, or what the second pass had in common with the first.
bool has_joined_passes(const Header& header) {
  if (!has(header, "Kernel_Name") && !has(header, "KernelName")) return false;
  return std::any_of(header.begin(), header.end(), [](std::string_view column) {
    return (column.starts_with("TCC_") && column.ends_with(']')) ||
           (column.ends_with("_1") && describes_dispatch(column));
  });
}

}  // namespace

bool recognizes_pmc_perf(const RecordingFile& file) {
  const Header header = profiler_csv_header(file.text);
  return is_sysinfo(header) || is_roofline(header) || has_joined_passes(header);
}

Recording read_pmc_perf(const RecordingFile& file) {
  const Header header = profiler_csv_header(file.text);
  if (is_sysinfo(header)) {
    throw core::ConfigError(file.name +
                            ": rocprofiler-compute's description of the machine, not a timeline; "
                            "give the pmc_perf.csv beside it");
  }
  if (is_roofline(header)) {
    throw core::ConfigError(
        file.name +
        ": rocprofiler-compute's measured peaks, not a timeline; give the pmc_perf.csv beside it");
  }
  return read_dispatch_table(file, "rocprofiler-compute csv");
}

}  // namespace ridgeline::timeline
