#include "timeline/readers/kineto_joins.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ridgeline::timeline {
namespace {

using Track = std::pair<std::int64_t, std::int64_t>;

template <class F>
void for_each_time(Recording& r, const F& f) {
  for (DeviceEvent& e : r.device_events) f(e.start);
  for (HostCall& c : r.calls) f(c.start);
  for (Operator& o : r.operators) f(o.start);
  for (Annotation& a : r.annotations) f(a.start);
  for (CounterValue& c : r.counters) f(c.time);
}

}  // namespace

void join_by_arrows(Recording& r, const std::vector<Arrow>& starts,
                    const std::vector<Arrow>& ends) {
  std::map<Track, std::vector<HostCall*>> calls;
  for (HostCall& c : r.calls) calls[{c.process, c.thread}].push_back(&c);
  for (auto& [track, list] : calls) {
    std::stable_sort(list.begin(), list.end(),
                     [](const HostCall* a, const HostCall* b) { return a->start < b->start; });
  }
  std::unordered_map<std::int64_t, HostCall*> call_of;
  for (const Arrow& arrow : starts) {
    const auto track = calls.find({arrow.process, arrow.thread});
    if (track == calls.end()) continue;
    // The last call that starts no later: calls of a thread follow one another, so none before it
    // can still be running.
    const auto after =
        std::upper_bound(track->second.begin(), track->second.end(), core::Instant{arrow.at},
                         [](core::Instant t, const HostCall* c) { return t < c->start; });
    if (after == track->second.begin()) continue;
    HostCall* const call = *std::prev(after);
    if (call->end() < core::Instant{arrow.at}) continue;
    if (call->correlation == 0) call->correlation = arrow.id;
    call_of.emplace(arrow.id, call);
  }

  std::multimap<std::tuple<std::int64_t, std::int64_t, std::int64_t>, DeviceEvent*> rows;
  for (DeviceEvent& e : r.device_events)
    rows.emplace(std::tuple{e.device, e.stream, e.start.ns}, &e);
  for (const Arrow& arrow : ends) {
    const auto call = call_of.find(arrow.id);
    const auto row = rows.find({arrow.process, arrow.thread, arrow.at});
    if (call == call_of.end() || row == rows.end()) continue;
    row->second->correlation = call->second->correlation;
    rows.erase(row);  // another arrow to the same place means the next row there
  }
}

void set_time_zero(Recording& r) {
  if (r.base_unix_ns != 0) return;
  constexpr std::int64_t kUnix2001 = 1'000'000'000'000'000'000;
  std::int64_t base = std::numeric_limits<std::int64_t>::max();
  for_each_time(r, [&](core::Instant& t) { base = std::min(base, t.ns); });
  for_each_time(r, [&](core::Instant& t) { t.ns -= base; });
  if (base >= kUnix2001) r.base_unix_ns = base;
}

void tell_what_is_missing(Recording& r) {
  const auto kernels =
      std::count_if(r.device_events.begin(), r.device_events.end(),
                    [](const DeviceEvent& e) { return e.kind == DeviceEvent::Kind::kernel; });
  const auto unlinked =
      std::count_if(r.device_events.begin(), r.device_events.end(), [](const DeviceEvent& e) {
        return e.kind == DeviceEvent::Kind::kernel && e.correlation == 0;
      });
  if (r.device_events.empty()) r.missing.emplace_back("no device events");
  if (unlinked > 0) {
    r.missing.push_back((unlinked == kernels ? std::string("no kernel has")
                                             : std::to_string(unlinked) + " of " +
                                                   std::to_string(kernels) + " kernels lack") +
                        std::string(" a correlation id: not tied to a launch"));
  }
  if (r.calls.empty()) r.missing.emplace_back("no runtime calls");
  if (r.operators.empty()) {
    r.missing.emplace_back("no framework operators");
  } else if (std::all_of(r.operators.begin(), r.operators.end(),
                         [](const Operator& o) { return o.shapes.empty(); })) {
    r.missing.emplace_back("no input shapes (record_shapes was off)");
  }
  if (r.devices.empty() || std::all_of(r.devices.begin(), r.devices.end(),
                                       [](const DeviceInfo& d) { return d.name.empty(); })) {
    r.missing.emplace_back("no name of the device");
  }
}

}  // namespace ridgeline::timeline
