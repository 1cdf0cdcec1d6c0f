#include "timeline/device_gaps.hpp"

#include <algorithm>
#include <string_view>

namespace ridgeline::timeline {
namespace {

constexpr core::Nanoseconds kBlocking{
    100'000};  // a copy call this long waited, whatever its name promises

/// Stream and event waits hold the device back, not the host, and a query returns at once.
bool waits_for_device(const Recording& r, const HostCall& call) {
  const std::string_view name = r.name(call.name);
  const auto holds = [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  };
  if (call.kind == HostCall::Kind::synchronize) return !holds("WaitEvent") && !holds("Query");
  return call.kind == HostCall::Kind::copy && (!holds("Async") || call.duration >= kBlocking);
}

}  // namespace

GapSorter::GapSorter(const Recording& recording, const Launches& launches)
    : recording_(recording), launches_(launches) {
  for (const HostCall& c : recording.calls) {
    if (!waits_for_device(recording, c)) continue;
    std::vector<Wait>& waits = waits_[{c.process, c.thread}];
    waits.push_back(
        {c.start, waits.empty() ? c.end() : std::max(waits.back().latest_end, c.end())});
  }
}

void GapSorter::put(GapCause cause, core::Nanoseconds length) {
  if (length.count <= 0) return;
  GapRow& row = rows_[static_cast<std::size_t>(cause)];
  ++row.count;
  row.total += length;
  row.longest = std::max(row.longest, length);
}

/// Whether the launching thread was still waiting for the device when the gap began, or began to
/// later.
bool GapSorter::waited_before(const HostCall& launch, core::Instant since) const {
  const auto thread = waits_.find({launch.process, launch.thread});
  if (thread == waits_.end()) return false;
  const auto after = std::lower_bound(thread->second.begin(), thread->second.end(), launch.start,
                                      [](const Wait& w, core::Instant t) { return w.start < t; });
  return after != thread->second.begin() && std::prev(after)->latest_end >= since;
}

void GapSorter::add(core::Instant begin, std::size_t event) {
  const DeviceEvent& e = recording_.device_events[event];
  const HostCall* call = launches_.of(event);
  if (call == nullptr) return put(GapCause::unknown, e.start - begin);
  const core::Instant queued = std::clamp(queued_at(*call, e), begin, std::max(begin, e.start));
  put(waited_before(*call, begin) ? GapCause::sync : GapCause::host_late, queued - begin);
  const core::Nanoseconds rest = e.start - queued;
  put(rest > kUnseenWait ? GapCause::unrecorded : GapCause::dispatch, rest);
}

}  // namespace ridgeline::timeline
