#include "timeline/recording.hpp"

#include <algorithm>
#include <vector>

#include "core/error.hpp"

namespace ridgeline::timeline {
namespace {

/// Most files have their events in order already, and looking is cheaper than sorting.
template <class T, class Less>
void sort_in_place(std::vector<T>& list, const Less& less) {
  if (!std::is_sorted(list.begin(), list.end(), less))
    std::stable_sort(list.begin(), list.end(), less);
}

/// Kernels that share their launch with others came from a graph.
void mark_graphs(std::vector<DeviceEvent>& events) {
  std::vector<std::int64_t> launches;  // of the kernels, sorted
  launches.reserve(events.size());
  for (const DeviceEvent& e : events) {
    if (e.kind == DeviceEvent::Kind::kernel && e.correlation != 0)
      launches.push_back(e.correlation);
  }
  if (!std::is_sorted(launches.begin(), launches.end()))
    std::sort(launches.begin(), launches.end());
  // Those that stand there more than once, once each.
  std::size_t shared = 0;
  for (std::size_t i = 1; i < launches.size(); ++i) {
    if (launches[i] == launches[i - 1] && (shared == 0 || launches[shared - 1] != launches[i]))
      launches[shared++] = launches[i];
  }
  launches.resize(shared);
  for (DeviceEvent& e : events) {
    if (e.correlation != 0 && std::binary_search(launches.begin(), launches.end(), e.correlation))
      e.from_graph = true;
  }
}

}  // namespace

void finish_recording(Recording& r) {
  if (r.device_events.empty() && r.calls.empty()) {
    throw core::ConfigError(r.file + ": read as " + r.format +
                            ", it holds neither device events nor runtime calls");
  }
  const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
  if (std::any_of(r.counters.begin(), r.counters.end(),
                  [](const CounterValue& c) { return c.event >= 0; })) {
    // Counters point at events by index: carry them through the sort.
    std::vector<std::int64_t> order(r.device_events.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return r.device_events[static_cast<std::size_t>(a)].start <
             r.device_events[static_cast<std::size_t>(b)].start;
    });
    std::vector<std::int64_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    for (CounterValue& c : r.counters) {
      if (c.event >= 0) c.event = place[static_cast<std::size_t>(c.event)];
    }
  }
  sort_in_place(r.device_events, by_start);
  sort_in_place(r.calls, by_start);
  sort_in_place(r.operators, by_start);
  sort_in_place(r.annotations, [](const Annotation& a, const Annotation& b) {
    return a.start != b.start ? a.start < b.start : a.duration > b.duration;
  });
  mark_graphs(r.device_events);
}

}  // namespace ridgeline::timeline
