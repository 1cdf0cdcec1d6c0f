#include "timeline/readers/rocprof_csv_dispatches.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "timeline/readers/profiler_csv.hpp"
#include "timeline/readers/rocpd_terms.hpp"

namespace ridgeline::timeline {
namespace {

struct Counter {
  std::uint32_t name;
  std::vector<std::size_t> columns;  // to be added up
};

/// "Wave_Size" of "Wave_Size_3".
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool numbered =
      last != std::string_view::npos && last > 0 && last + 1 < name.size() && name[last] == '_';
  return numbered ? name.substr(0, last) : name;
}

std::vector<Counter> counters_of(const ProfilerCsv& csv, NameIndex& names) {
  std::vector<Counter> out;
  std::map<std::string, std::size_t, std::less<>>
      channels;  // place in `out` of a sum over channels
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    const std::size_t bracket = csv.header()[i].find('[');
    if (bracket == std::string_view::npos) continue;
    const std::string sum = std::string(csv.header()[i].substr(0, bracket)) + "_sum";
    const auto [at, fresh] = channels.try_emplace(sum, out.size());
    if (fresh) out.push_back({names.of(sum), {}});
    out[at->second].columns.push_back(i);
  }
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    const std::string_view column = csv.header()[i];
    const bool counts = !column.empty() && column.find('[') == std::string_view::npos &&
                        !describes_dispatch(column);
    if (counts && !channels.contains(column)) out.push_back({names.of(column), {i}});
  }
  return out;
}

}  // namespace

bool describes_dispatch(std::string_view column) {
  constexpr std::array<std::string_view, 43> kNames{"Index",         "Dispatch_ID",
                                                    "KernelName",    "Kernel_Name",
                                                    "Kernel_ID",     "gpu-id",
                                                    "GPU_ID",        "queue-id",
                                                    "Queue_ID",      "queue-index",
                                                    "pid",           "PID",
                                                    "tid",           "TID",
                                                    "grd",           "Grid_Size",
                                                    "wgr",           "Workgroup_Size",
                                                    "lds",           "LDS_Per_Workgroup",
                                                    "scr",           "Scratch_Per_Workitem",
                                                    "vgpr",          "arch_vgpr",
                                                    "Arch_VGPR",     "accum_vgpr",
                                                    "Accum_VGPR",    "sgpr",
                                                    "SGPR",          "fbar",
                                                    "wave_size",     "Wave_Size",
                                                    "sig",           "obj",
                                                    "DispatchNs",    "BeginNs",
                                                    "EndNs",         "CompleteNs",
                                                    "DurationNs",    "Start_Timestamp",
                                                    "End_Timestamp", "Correlation_ID",
                                                    "XCC_Index"};
  const auto known = [&](std::string_view name) {
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
  };
  return known(column) || known(without_number(column));
}

Recording read_dispatch_table(const RecordingFile& file, std::string format) {
  using Column = std::optional<std::size_t>;
  constexpr std::int64_t kMost32 = std::numeric_limits<std::int32_t>::max();
  Recording r;
  r.format = std::move(format);
  r.file = file.name;
  ProfilerCsv csv(file.name, file.text);
  const std::size_t name = csv.required({"Kernel_Name", "KernelName"});
  const std::size_t start_column = csv.required({"Start_Timestamp", "BeginNs"});
  const std::size_t end_column = csv.required({"End_Timestamp", "EndNs"});
  const Column gpu = csv.column({"GPU_ID", "gpu-id"});
  const Column queue = csv.column({"Queue_ID", "queue-id"});
  const Column grid = csv.column({"Grid_Size", "grd"});
  const Column group = csv.column({"Workgroup_Size", "wgr"});
  const Column corr = csv.column({"Correlation_ID"});
  const std::vector<Counter> counters = counters_of(csv, r.names);
  TimeGate gate;
  const bool cut = csv.for_each_row([&] {
    const std::int64_t start = csv.count(start_column);
    const std::int64_t end = csv.count(end_column);
    DeviceEvent e;
    e.device = static_cast<std::int32_t>(csv.count_or(gpu, 0, kMost32));
    e.stream = static_cast<std::int32_t>(csv.count_or(queue, 0, kMost32));
    e.correlation = csv.count_or(corr, 0);
    set_grid_in_threads(e, {csv.count_or(grid, 0), 1, 1}, {csv.count_or(group, 0), 1, 1});
    if (!gate.lets_pass(start, end)) return;
    e.start = core::Instant{start};
    e.duration = core::Nanoseconds{end - start};
    e.name = r.names.of(kernel_name(csv.text(name)));
    const auto event = static_cast<std::int64_t>(r.device_events.size());
    r.device_events.push_back(e);
    for (const Counter& counter : counters) {
      double sum = 0.0;
      bool any = false;
      for (const std::size_t column : counter.columns) {
        if (const auto value = csv.number(column)) {
          sum += *value;
          any = true;
        }
      }
      if (any) r.counters.push_back({e.start, counter.name, sum, event});
    }
  });
  if (cut) r.missing.emplace_back("the last line is cut off and left out");
  gate.tell(r);
  if (!r.counters.empty())
    r.missing.emplace_back(
        "gaps between kernels mean nothing: collecting counters runs kernels one by one");
  finish_rocm_recording(r);
  return r;
}

}  // namespace ridgeline::timeline
