#include "timeline/readers/rocprofv3_csv_tables.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>

#include "core/error.hpp"

namespace ridgeline::timeline {
namespace {

constexpr std::int64_t kMost32 = std::numeric_limits<std::int32_t>::max();

bool has(const std::vector<std::string_view>& header,
         std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(), [&](std::string_view n) {
    return std::find(header.begin(), header.end(), n) != header.end();
  });
}

using Column = std::optional<std::size_t>;

/// The columns that every table of times has.
struct Times {
  explicit Times(const ProfilerCsv& csv)
      : start(csv.required({"Start_Timestamp"})), end(csv.required({"End_Timestamp"})) {}
  std::size_t start;
  std::size_t end;
};

Sizes sizes(const ProfilerCsv& csv, Column x, Column y, Column z) {
  return {csv.count_or(x, 0), csv.count_or(y, 1), csv.count_or(z, 1)};
}

}  // namespace

RocprofTable rocprof_table(const std::vector<std::string_view>& header) {
  if (has(header, {"Counter_Name", "Counter_Value", "Kernel_Name"})) return RocprofTable::counters;
  if (has(header, {"Name", "Calls", "TotalDurationNs"})) return RocprofTable::statistics;
  if (!has(header, {"Start_Timestamp", "End_Timestamp"})) return RocprofTable::none;
  if (has(header, {"Domain", "Function"})) return RocprofTable::calls;
  if (has(header, {"Direction"})) return RocprofTable::copies;
  if (has(header, {"Operation"})) return RocprofTable::allocations;
  // rocprofv2, whose table of kernels is another, says GPU_ID and Dispatch_ID.
  if (has(header, {"Kernel_Name"}) && !has(header, {"GPU_ID"})) return RocprofTable::kernels;
  return RocprofTable::none;
}

void RocprofTables::add(RocprofTable table, const std::string& file, std::string_view text,
                        const std::string& process) {
  file_ = file;
  ProfilerCsv csv(file, text);
  switch (table) {
    case RocprofTable::kernels:
      return add_kernels(csv, process);
    case RocprofTable::counters:
      return add_counters(csv, process);
    case RocprofTable::calls:
      return add_calls(csv, process);
    case RocprofTable::copies:
      return add_copies(csv, process);
    case RocprofTable::allocations:
      return add_allocations(csv, process);
    case RocprofTable::statistics:
    case RocprofTable::none:
      break;
  }
  throw core::InvariantError("not a table of records");
}

void RocprofTables::finish() {
  if (counters_without_kernel_ > 0) {
    if (recording_.device_events.empty() && recording_.calls.empty()) {
      throw core::ConfigError(recording_.file +
                              ": counters of kernels without their times, not a timeline; record "
                              "--kernel-trace with them");
    }
    recording_.missing.push_back(
        std::to_string(counters_without_kernel_) +
        " counter values belong to kernels whose times are not there, and are left out");
  }
  gate_.tell(recording_);
  if (counted_)
    recording_.missing.emplace_back(
        "gaps between kernels mean nothing: collecting counters runs kernels one by one");
  scopes_.tell(recording_);
  finish_rocm_recording(recording_);
}

void RocprofTables::note_cut(bool cut) {
  if (cut) recording_.missing.push_back("the last line of " + file_ + " is cut off and left out");
}

void RocprofTables::add_kernels(ProfilerCsv& csv, const std::string& process) {
  const Times times(csv);
  const std::size_t name = csv.required({"Kernel_Name"});
  const Column guid = csv.column({"Guid"});
  const Column agent = csv.column({"Agent_Id"});
  const Column stream = csv.column({"Stream_Id", "Queue_Id"});
  const Column dispatch = csv.column({"Dispatch_Id"});
  const Column corr = csv.column({"Correlation_Id"});
  const std::array<Column, 3> grid{csv.column({"Grid_Size_X", "Grid_Size"}),
                                   csv.column({"Grid_Size_Y"}), csv.column({"Grid_Size_Z"})};
  const std::array<Column, 3> group{csv.column({"Workgroup_Size_X", "Workgroup_Size"}),
                                    csv.column({"Workgroup_Size_Y"}),
                                    csv.column({"Workgroup_Size_Z"})};
  note_cut(csv.for_each_row([&] {
    const std::int64_t start = csv.count(times.start);
    const std::int64_t end = csv.count(times.end);
    DeviceEvent e;
    e.device = csv.trailing_number(agent);
    e.stream = static_cast<std::int32_t>(csv.count_or(stream, 0, kMost32));
    set_grid_in_threads(e, sizes(csv, grid[0], grid[1], grid[2]),
                        sizes(csv, group[0], group[1], group[2]));
    const std::int64_t id = csv.count_or(corr, 0);
    const std::int64_t dispatch_id = csv.count_or(dispatch, 0);
    if (!gate_.lets_pass(start, end)) return;
    e.start = core::Instant{start};
    e.duration = core::Nanoseconds{end - start};
    e.name = recording_.names.of(kernel_name(csv.text(name)));
    const std::int64_t s = scope(process, csv.text(guid));
    e.correlation = scopes_.correlation(s, id);
    if (dispatch_id != 0)
      dispatches_[{s, dispatch_id}] = static_cast<std::int64_t>(recording_.device_events.size());
    recording_.device_events.push_back(e);
  }));
}

void RocprofTables::add_counters(ProfilerCsv& csv, const std::string& process) {
  const std::size_t name = csv.required({"Kernel_Name"});
  const std::size_t counter = csv.required({"Counter_Name"});
  const std::size_t value = csv.required({"Counter_Value"});
  const std::size_t dispatch = csv.required({"Dispatch_Id"});
  const Column start_column = csv.column({"Start_Timestamp"});  // not before ROCm 6.3
  const Column end_column = csv.column({"End_Timestamp"});
  const Column guid = csv.column({"Guid"});
  const Column agent = csv.column({"Agent_Id"});
  const Column queue = csv.column({"Stream_Id", "Queue_Id"});
  const Column corr = csv.column({"Correlation_Id"});
  const Column grid = csv.column({"Grid_Size"});
  const Column group = csv.column({"Workgroup_Size"});
  counted_ = true;
  note_cut(csv.for_each_row([&] {
    const std::optional<double> number = csv.number(value);
    const std::int64_t start = csv.count_or(start_column, 0);
    const std::int64_t end = csv.count_or(end_column, 0);
    DeviceEvent e;
    e.device = csv.trailing_number(agent);
    e.stream = static_cast<std::int32_t>(csv.count_or(queue, 0, kMost32));
    set_grid_in_threads(e, {csv.count_or(grid, 0), 1, 1}, {csv.count_or(group, 0), 1, 1});
    const std::int64_t id = csv.count_or(corr, 0);
    const std::int64_t dispatch_id = csv.count(dispatch);
    if (!number) return;  // "nan": the counter could not be read
    const std::int64_t s = scope(process, csv.text(guid));
    auto known = dispatches_.find({s, dispatch_id});
    if (known == dispatches_.end()) {
      if (start <= 0 || end < start) {
        ++counters_without_kernel_;
        return;
      }
      e.start = core::Instant{start};
      e.duration = core::Nanoseconds{end - start};
      e.name = recording_.names.of(kernel_name(csv.text(name)));
      e.correlation = scopes_.correlation(s, id);
      known = dispatches_
                  .try_emplace({s, dispatch_id},
                               static_cast<std::int64_t>(recording_.device_events.size()))
                  .first;
      recording_.device_events.push_back(e);
    }
    const DeviceEvent& kernel = recording_.device_events[static_cast<std::size_t>(known->second)];
    recording_.counters.push_back(
        {kernel.start, recording_.names.of(csv.text(counter)), *number, known->second});
  }));
}

void RocprofTables::add_calls(ProfilerCsv& csv, const std::string& process) {
  const Times times(csv);
  const std::size_t domain = csv.required({"Domain"});
  const std::size_t function = csv.required({"Function"});
  const Column guid = csv.column({"Guid"});
  const Column pid = csv.column({"Process_Id"});
  const Column tid = csv.column({"Thread_Id"});
  const Column corr = csv.column({"Correlation_Id"});
  note_cut(csv.for_each_row([&] {
    const std::int64_t start = csv.count(times.start);
    const std::int64_t end = csv.count(times.end);
    HostCall c;
    c.process = csv.count_or(pid, 0);
    c.thread = csv.count_or(tid, 0);
    const std::int64_t id = csv.count_or(corr, 0);
    if (!gate_.lets_pass(start, end)) return;
    c.start = core::Instant{start};
    c.duration = core::Nanoseconds{end - start};
    c.name = recording_.names.of(csv.text(function));
    if (csv.text(domain).starts_with("MARKER")) {
      recording_.annotations.push_back({c.start, c.duration, c.name, false, c.thread});
      return;
    }
    c.correlation = scopes_.correlation(scope(process, csv.text(guid)), id);
    c.kind = call_kind(csv.text(function));
    recording_.calls.push_back(c);
  }));
}

void RocprofTables::add_copies(ProfilerCsv& csv, const std::string& process) {
  const Times times(csv);
  const std::size_t direction = csv.required({"Direction"});
  const Column guid = csv.column({"Guid"});
  const Column stream = csv.column({"Stream_Id"});
  const Column from = csv.column({"Source_Agent_Id"});
  const Column to = csv.column({"Destination_Agent_Id"});
  const Column corr = csv.column({"Correlation_Id"});
  note_cut(csv.for_each_row([&] {
    const std::int64_t start = csv.count(times.start);
    const std::int64_t end = csv.count(times.end);
    DeviceEvent e;
    e.kind = DeviceEvent::Kind::copy;
    e.copy = copy_kind(csv.text(direction));
    e.device = csv.trailing_number(e.copy == CopyKind::device_to_host ? from : to);
    e.stream = static_cast<std::int32_t>(csv.count_or(stream, 0, kMost32));
    const std::int64_t id = csv.count_or(corr, 0);
    if (!gate_.lets_pass(start, end)) return;
    e.start = core::Instant{start};
    e.duration = core::Nanoseconds{end - start};
    e.name = recording_.names.of(csv.text(direction));
    e.correlation = scopes_.correlation(scope(process, csv.text(guid)), id);
    recording_.device_events.push_back(e);
  }));
}

void RocprofTables::add_allocations(ProfilerCsv& csv, const std::string& process) {
  const Times times(csv);
  const std::size_t operation = csv.required({"Operation"});
  const Column guid = csv.column({"Guid"});
  const Column size = csv.column({"Allocation_Size"});
  const Column tid = csv.column({"Thread_Id"});
  const Column corr = csv.column({"Correlation_Id"});
  note_cut(csv.for_each_row([&] {
    const std::int64_t start = csv.count(times.start);
    const std::int64_t end = csv.count(times.end);
    HostCall c;
    c.kind = HostCall::Kind::allocate;
    c.thread = csv.count_or(tid, 0);
    c.bytes = csv.count_or(size, -1);
    const std::int64_t id = csv.count_or(corr, 0);
    if (!gate_.lets_pass(start, end)) return;
    c.start = core::Instant{start};
    c.duration = core::Nanoseconds{end - start};
    c.name = recording_.names.of(csv.text(operation));
    c.correlation = scopes_.correlation(scope(process, csv.text(guid)), id);
    recording_.calls.push_back(c);
  }));
}

}  // namespace ridgeline::timeline
