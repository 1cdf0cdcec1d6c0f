#include "timeline/recording.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/error.hpp"

namespace ridgeline::timeline {

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
  std::stable_sort(r.device_events.begin(), r.device_events.end(), by_start);
  std::stable_sort(r.calls.begin(), r.calls.end(), by_start);
  std::stable_sort(r.operators.begin(), r.operators.end(), by_start);
  std::stable_sort(r.annotations.begin(), r.annotations.end(),
                   [](const Annotation& a, const Annotation& b) {
                     return a.start != b.start ? a.start < b.start : a.duration > b.duration;
                   });

  std::unordered_map<std::int64_t, std::int64_t> kernels_of;
  for (const DeviceEvent& e : r.device_events) {
    if (e.kind == DeviceEvent::Kind::kernel && e.correlation != 0) ++kernels_of[e.correlation];
  }
  for (DeviceEvent& e : r.device_events) {
    if (e.correlation == 0) continue;
    const auto it = kernels_of.find(e.correlation);
    if (it != kernels_of.end() && it->second > 1) e.from_graph = true;
  }
}

}  // namespace ridgeline::timeline
