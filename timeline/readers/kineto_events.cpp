#include "timeline/readers/kineto_events.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "timeline/readers/rocpd_terms.hpp"
#include "timeline/readers/runtime_calls.hpp"

namespace ridgeline::timeline {
namespace {

using Category = KinetoEvent::Category;
using Sizes3 = std::array<std::int64_t, 3>;

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      n, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

void set_grid(DeviceEvent& event, const Sizes3& grid, const Sizes3& block) {
  event.workgroups = grid;
  for (std::size_t i = 0; i < 3; ++i) event.threads[i] = narrow(block[i]);
}

template <class T>
void append(std::vector<T>& list, std::vector<T>& more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
  more = {};
}

}  // namespace

void KinetoEvents::add(const KinetoEvent& e) {
  if (e.category == Category::other) return;
  if (e.phase == 'M') {
    if (e.name == "process_name") name_process(e);
    return;
  }
  if (e.phase != 'X' && e.phase != 'C' && e.phase != 's' && e.phase != 'f') return;
  if (!e.start_ns || (e.phase == 'X' && !e.duration_ns)) {
    ++without_time_;
    return;
  }
  switch (e.phase) {
    case 'C':
      add_counter(e);
      return;
    case 's':
      arrow_starts_.push_back({e.id, *e.start_ns, e.process, e.thread});
      return;
    case 'f':
      arrow_ends_.push_back({e.id, *e.start_ns, e.process, e.thread});
      return;
    default:
      break;
  }
  if (*e.duration_ns < 0) {
    ++negative_;
    return;
  }
  const core::Instant start{*e.start_ns};
  const core::Nanoseconds duration{*e.duration_ns};
  switch (e.category) {
    case Category::kernel:
      return add_device_event(e, DeviceEvent::Kind::kernel);
    case Category::copy:
      return add_device_event(e, DeviceEvent::Kind::copy);
    case Category::set:
      return add_device_event(e, DeviceEvent::Kind::set);
    case Category::runtime:
      return add_call(e);
    case Category::op:
      return add_operator(e);
    case Category::annotation:
    case Category::device_annotation:
      recording_.annotations.push_back({start, duration, recording_.names.of(e.name),
                                        e.category == Category::device_annotation, e.thread});
      return;
    case Category::none:
      rows_.push_back({start.ns, duration.count, recording_.names.of(e.name),
                       recording_.names.of(e.description), e.process, e.thread});
      return;
    case Category::other:
      return;
  }
}

void KinetoEvents::add_device_event(const KinetoEvent& e, DeviceEvent::Kind kind) {
  DeviceEvent event;
  event.start = {*e.start_ns};
  event.duration = {*e.duration_ns};
  event.kind = kind;
  if (kind == DeviceEvent::Kind::copy) {
    event.copy = copy_kind_in(e.kind);
    if (event.copy == CopyKind::unknown) event.copy = copy_kind_in(e.name);
  }
  event.from_graph = e.kind == "Dispatch Task" || e.graph > 0;
  event.name = recording_.names.of(e.name);
  event.device = narrow(e.device.value_or(e.process));
  event.stream = narrow(e.stream.value_or(e.thread));
  event.correlation = e.correlation;
  event.external_id = e.external_id;
  event.bytes = kind == DeviceEvent::Kind::kernel ? -1 : e.bytes;
  set_grid(event, e.grid, e.block);
  recording_.device_events.push_back(event);
}

void KinetoEvents::add_call(const KinetoEvent& e) {
  HostCall call;
  call.start = {*e.start_ns};
  call.duration = {*e.duration_ns};
  call.kind = runtime_call_kind(e.name);
  if (call.kind == HostCall::Kind::copy) {
    call.copy = copy_kind_in(e.kind);
    call.bytes = e.bytes;
  }
  call.name = recording_.names.of(e.name);
  call.process = e.process;
  call.thread = e.thread;
  call.correlation = e.correlation;
  if (is_cuda_function(e.name)) recording_.cuda = true;
  if (e.correlation != 0 && call.kind != HostCall::Kind::other) {
    launches_.push_back(
        {e.correlation, call.kind, call.copy, counts_grid_in_threads(e.name), e.grid, e.block});
  }
  recording_.calls.push_back(call);
}

void KinetoEvents::add_operator(const KinetoEvent& e) {
  if (e.external_id == 0 && e.shapes.empty()) return;  // nothing refers to it and it says nothing
  recording_.operators.push_back({{*e.start_ns},
                                  {*e.duration_ns},
                                  recording_.names.of(e.name),
                                  e.external_id,
                                  e.thread,
                                  e.shapes,
                                  recording_.names.of(e.dtype)});
}

void KinetoEvents::add_counter(const KinetoEvent& e) {
  for (const auto& [series, value] : e.series) {
    const bool alone = e.series.size() == 1 || series == e.name;
    const std::uint32_t name = recording_.names.of(
        alone ? std::string(e.name) : std::string(e.name) + "." + std::string(series));
    recording_.counters.push_back({{*e.start_ns}, name, value, -1});
  }
}

void KinetoEvents::name_process(const KinetoEvent& e) {
  const std::size_t at = e.label.find("GPU");
  if (at == std::string_view::npos) return;
  std::string_view number = e.label.substr(at + 3);
  while (number.starts_with(' ')) number.remove_prefix(1);
  if (const auto device = integer_in(number)) device_of_process_[e.process] = narrow(*device);
}

void KinetoEvents::expect(std::size_t times) {
  const auto reserve = [times](auto& list) { list.reserve(list.size() * times); };
  reserve(recording_.device_events);
  reserve(recording_.calls);
  reserve(recording_.operators);
  reserve(recording_.annotations);
  reserve(recording_.counters);
  reserve(rows_);
  reserve(launches_);
}

void KinetoEvents::take(KinetoEvents& later) {
  Recording& from = later.recording_;
  std::vector<std::uint32_t> number;  // here of a name there
  number.reserve(from.names.size());
  for (std::uint32_t i = 0; i < from.names.size(); ++i)
    number.push_back(recording_.names.of(from.names.text(i)));
  for (DeviceEvent& e : from.device_events) e.name = number[e.name];
  for (HostCall& c : from.calls) c.name = number[c.name];
  for (Annotation& a : from.annotations) a.name = number[a.name];
  for (CounterValue& c : from.counters) c.name = number[c.name];
  for (Operator& o : from.operators) {
    o.name = number[o.name];
    o.dtype = number[o.dtype];
  }
  for (Row& row : later.rows_) {
    row.name = number[row.name];
    row.description = number[row.description];
  }
  append(recording_.device_events, from.device_events);
  append(recording_.calls, from.calls);
  append(recording_.operators, from.operators);
  append(recording_.annotations, from.annotations);
  append(recording_.counters, from.counters);
  append(rows_, later.rows_);
  append(launches_, later.launches_);
  append(arrow_starts_, later.arrow_starts_);
  append(arrow_ends_, later.arrow_ends_);
  for (const auto& [process, device] : later.device_of_process_)
    device_of_process_[process] = device;
  recording_.cuda = recording_.cuda || from.cuda;
  without_time_ += later.without_time_;
  negative_ += later.negative_;
}

void KinetoEvents::place_rows() {
  for (const Row& row : rows_) {
    const std::string_view name = recording_.name(row.name);
    if (const auto device = device_of_process_.find(row.process);
        device != device_of_process_.end()) {
      DeviceEvent event;
      event.start = {row.start};
      event.duration = {row.duration};
      // A CPU's row of rpd2tracing has no description, a device's its kind of operation.
      const std::string_view kind = row.description != 0 ? recording_.name(row.description) : name;
      if (kind.starts_with("Copy")) {
        event.kind = DeviceEvent::Kind::copy;
        event.copy = copy_kind(kind);
      } else if (kind.starts_with("FillBuffer")) {
        event.kind = DeviceEvent::Kind::set;
      }
      event.from_graph = kind == "Task";
      event.name = row.name;
      event.device = device->second;
      event.stream = narrow(row.thread);
      recording_.device_events.push_back(event);
    } else if (is_runtime_function(name)) {
      HostCall call;
      call.start = {row.start};
      call.duration = {row.duration};
      call.kind = runtime_call_kind(name);
      call.name = row.name;
      call.process = row.process;
      call.thread = row.thread;
      recording_.calls.push_back(call);
    }
  }
}

void KinetoEvents::use_launches() {
  const auto earlier = [](const Launch& a, const Launch& b) {
    return a.correlation < b.correlation;
  };
  // Calls are numbered as they are made: mostly sorted already.
  if (!std::is_sorted(launches_.begin(), launches_.end(), earlier))
    std::stable_sort(launches_.begin(), launches_.end(), earlier);
  auto found = launches_.begin();
  for (DeviceEvent& event : recording_.device_events) {
    if (event.correlation == 0) continue;
    // Kernels run as they were launched: the next launch or the same is the one, or one must look.
    if (found != launches_.end() && found->correlation < event.correlation) ++found;
    const auto same = [&] {
      return found != launches_.end() && found->correlation == event.correlation;
    };
    const auto is_first = [&] {
      return found == launches_.begin() || std::prev(found)->correlation != found->correlation;
    };
    if (!same() || !is_first())
      found =
          std::lower_bound(launches_.begin(), launches_.end(), Launch{event.correlation}, earlier);
    if (!same()) continue;
    const Launch& launch = *found;
    if (launch.kind == HostCall::Kind::graph_launch) event.from_graph = true;
    // ROCm's blit kernels make a device-to-device copy of most: the call knows what was asked for.
    if (event.kind == DeviceEvent::Kind::copy && launch.copy != CopyKind::unknown)
      event.copy = launch.copy;
    if (event.kind != DeviceEvent::Kind::kernel) continue;
    if (event.workgroups[0] == 0) set_grid(event, launch.grid, launch.block);
    if (launch.grid_in_threads && event.workgroups[0] != 0) {
      set_grid_in_threads(event, event.workgroups,
                          {event.threads[0], event.threads[1], event.threads[2]});
    }
  }
}

void KinetoEvents::finish() {
  place_rows();
  if (!rows_.empty()) join_by_arrows(recording_, arrow_starts_, arrow_ends_);
  use_launches();
  set_time_zero(recording_);
  const auto tell = [&](std::int64_t count, std::string_view what) {
    if (count > 0)
      recording_.missing.push_back(std::to_string(count) + (count == 1 ? " event " : " events ") +
                                   std::string(what));
  };
  tell(without_time_, "without a time, left out");
  tell(negative_, "with a negative duration, left out");
  tell_what_is_missing(recording_);
}

}  // namespace ridgeline::timeline
