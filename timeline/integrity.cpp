#include "timeline/integrity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ridgeline::timeline {
namespace {

constexpr double kReplaysRecorded = 0.5;  // Hyperloom's gate: fewer and idle time is unreliable
constexpr double kOverlapTime = 1e-3;     // seconds; and
constexpr double kOverlapShare = 0.05;    // of device time
constexpr double kBeforeLaunch =
    0.01;  // of linked events may seem to start before their launch: clocks drift by microseconds
constexpr double kLatestStart = 10.0;  // seconds after launch, median: no queue is that long
constexpr double kUnlinked =
    0.5;  // of kernels; what was in the queue when recording began is never linked
constexpr double kUsualLaunch =
    10.0;  // microseconds: 3 to 9 with a profiler attached, on both vendors
constexpr double kLaunchesWithoutKernel = 0.5;
constexpr double kUnseenShare = 0.05;  // of the recorded span
constexpr std::int64_t kEnoughLaunches = 10;

using Kind = HostCall::Kind;

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}
double micros(core::Nanoseconds time) { return static_cast<double>(time.count) * 1e-3; }
double millis(core::Nanoseconds time) { return static_cast<double>(time.count) * 1e-6; }

Gate device_events(const Recording& r) {
  const auto count = static_cast<std::int64_t>(r.device_events.size());
  return {
      "device_events",
      count > 0,
      true,
      static_cast<double>(count),
      1.0,
      count > 0
          ? fmt::format("{} device events are recorded", count)
          : fmt::format(
                "no device event is recorded, only {} host calls: this says nothing of the device",
                r.calls.size())};
}

/// Device events of each call.
std::vector<std::int64_t> events_of_calls(const Recording& r, const Launches& launches,
                                          bool kernels_only) {
  std::vector<std::int64_t> events(r.calls.size(), 0);
  for (std::size_t i = 0; i < r.device_events.size(); ++i) {
    if (kernels_only && r.device_events[i].kind != DeviceEvent::Kind::kernel) continue;
    if (launches.call_of(i) >= 0) ++events[static_cast<std::size_t>(launches.call_of(i))];
  }
  return events;
}

Gate graph_replays(const Recording& r, const std::vector<std::int64_t>& kernels) {
  std::int64_t replays = 0;
  std::int64_t recorded = 0;
  for (std::size_t c = 0; c < r.calls.size(); ++c) {
    if (r.calls[c].kind != Kind::graph_launch) continue;
    ++replays;
    if (kernels[c] > 0) ++recorded;
  }
  Gate gate{"graph_replays",  true, true, replays == 0 ? 1.0 : share(recorded, replays),
            kReplaysRecorded, ""};
  gate.passed = replays < 2 || gate.value >= kReplaysRecorded;
  if (replays == 0) {
    gate.sentence = "no graph was replayed";
  } else if (gate.passed) {
    gate.sentence = fmt::format("{} of {} graph replays have their kernels", recorded, replays);
  } else {
    gate.sentence = fmt::format(
        "only {} of {} graph replays have their kernels: the profiler dropped the rest, and the "
        "idle time seen here is not idle",
        recorded, replays);
  }
  return gate;
}

bool was_captured(const Recording& r) {
  const auto tells = [](std::string_view name) {
    return name.find("BeginCapture") != std::string_view::npos ||
           name.find("EndCapture") != std::string_view::npos ||
           name.find("GraphInstantiate") != std::string_view::npos ||
           name.find("GetCaptureInfo") != std::string_view::npos;
  };
  return std::any_of(r.calls.begin(), r.calls.end(),
                     [&](const HostCall& c) { return tells(r.name(c.name)); }) ||
         std::any_of(r.annotations.begin(), r.annotations.end(),
                     [&](const Annotation& a) { return r.name(a.name).starts_with("capture_"); });
}

Gate graph_capture(const Recording& r, const std::vector<std::int64_t>& events) {
  std::int64_t calls = 0;
  std::int64_t without = 0;
  for (std::size_t c = 0; c < r.calls.size(); ++c) {
    if (r.calls[c].kind != Kind::launch) continue;
    ++calls;
    if (events[c] == 0) ++without;
  }
  Gate gate{"launches_ran", true, true, share(without, calls), kLaunchesWithoutKernel, ""};
  gate.passed = calls < kEnoughLaunches || gate.value < kLaunchesWithoutKernel;
  if (gate.passed) {
    gate.sentence = fmt::format("{} of {} launch calls have their kernel", calls - without, calls);
  } else if (was_captured(r)) {
    gate.sentence = fmt::format(
        "{} of {} launch calls have no kernel: they were captured into a graph, not run. This is a "
        "capture run; record the replay",
        without, calls);
  } else {
    gate.sentence =
        fmt::format("{} of {} launch calls have no kernel: the profiler dropped the device's side",
                    without, calls);
  }
  return gate;
}

Gate stream_overlap(const Recording& r) {
  std::map<std::pair<std::int32_t, std::int32_t>, core::Instant> edge;
  core::Nanoseconds worst{0};
  core::Nanoseconds all{0};
  for (const DeviceEvent& e : r.device_events) {
    all += e.duration;
    const auto [at, first] = edge.try_emplace({e.device, e.stream}, e.end());
    if (first) continue;
    worst = std::max(worst, std::min(at->second, e.end()) - e.start);
    at->second = std::max(at->second, e.end());
  }
  Gate gate{"stream_overlap", true, true, worst.seconds().value(), kOverlapTime, ""};
  gate.passed = gate.value < kOverlapTime ||
                static_cast<double>(worst.count) < kOverlapShare * static_cast<double>(all.count);
  gate.sentence =
      worst.count == 0
          ? "no stream runs two events at once"
          : fmt::format(
                "events of one stream overlap by up to {:.1f} us of {:.3f} ms of device time{}",
                micros(worst), millis(all), gate.passed ? "" : ": their times are wrong");
  return gate;
}

Gate clock_base(const Recording& r, const Launches& launches) {
  std::int64_t early = 0;
  core::Nanoseconds earliest{0};
  std::vector<std::int64_t> waits;
  for (std::size_t i = 0; i < r.device_events.size(); ++i) {
    const HostCall* call = launches.of(i);
    if (call == nullptr) continue;
    const core::Nanoseconds wait = r.device_events[i].start - call->start;
    waits.push_back(wait.count);
    if (wait.count < 0) ++early;
    earliest = std::min(earliest, wait);
  }
  Gate gate{"clock_base",  true, true, share(early, static_cast<std::int64_t>(waits.size())),
            kBeforeLaunch, ""};
  if (waits.empty()) {
    gate.sentence = "no event has its launch beside it: device and host clocks cannot be compared";
    return gate;
  }
  const auto middle = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2);
  std::nth_element(waits.begin(), middle, waits.end());
  const double late = static_cast<double>(*middle) * 1e-9;
  gate.passed = gate.value <= kBeforeLaunch && late <= kLatestStart;
  if (gate.passed) {
    gate.sentence =
        fmt::format("device events start {:.1f} us (median) after their launch", late * 1e6);
  } else if (gate.value > kBeforeLaunch) {
    gate.sentence = fmt::format(
        "{:.1f} % of device events start before their launch, by up to {:.1f} us: the clocks of "
        "host and device do not agree",
        100.0 * gate.value, -micros(earliest));
  } else {
    gate.sentence = fmt::format(
        "device events start {:.1f} s (median) after their launch: the clocks of host and device "
        "do not agree",
        late);
  }
  return gate;
}

Gate linked(const Recording& r, const Launches& launches) {
  std::int64_t kernels = 0;
  std::int64_t unlinked = 0;
  for (std::size_t i = 0; i < r.device_events.size(); ++i) {
    if (r.device_events[i].kind != DeviceEvent::Kind::kernel) continue;
    ++kernels;
    if (launches.call_of(i) < 0) ++unlinked;
  }
  Gate gate{"linked", true, false, share(unlinked, kernels), kUnlinked, ""};
  gate.passed = gate.value <= kUnlinked;
  gate.sentence = fmt::format("{} of {} kernels have no recorded launch{}", unlinked, kernels,
                              gate.passed ? "" : ": what the host did between them cannot be told");
  return gate;
}

Gate profiler_overhead(const Recording& r) {
  std::vector<std::int64_t> lengths;
  for (const HostCall& c : r.calls) {
    if (c.kind == Kind::launch) lengths.push_back(c.duration.count);
  }
  double usual = 0.0;
  if (!lengths.empty()) {
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    usual = static_cast<double>(*middle) * 1e-3;
  }
  Gate gate{
      "profiler_overhead", usual <= kUsualLaunch && !r.with_stack, false, usual, kUsualLaunch, ""};
  gate.sentence = fmt::format("a launch call takes {:.1f} us (median)", usual);
  if (r.with_stack)
    gate.sentence +=
        ", and stacks were recorded with every call: host times are longer than without the "
        "profiler";
  if (!r.with_stack && !gate.passed)
    gate.sentence += ", longer than usual: host times are inflated";
  return gate;
}

Gate complete(const Recording& r) {
  Gate gate{"complete",         true, false, static_cast<double>(r.missing.size()), 0.0,
            "the file is whole"};
  for (const std::string& what : r.missing) {
    if (what.find("truncat") == std::string::npos && what.find("damage") == std::string::npos &&
        what.find("dropped") == std::string::npos)
      continue;
    gate.passed = false;
    gate.sentence = what;
    break;
  }
  return gate;
}

Gate steady_window(const Steps& steps) {
  const bool window = steps.how != Steps::How::whole && !steps.steps.empty();
  return {"steady_window",
          window,
          false,
          static_cast<double>(steps.steps.size()),
          1.0,
          window ? steps.text
                 : "no step is marked and nothing repeats: warm-up and pauses count as work"};
}

Gate unrecorded_work(const Recording& r, const Launches& launches) {
  std::map<std::int32_t, core::Instant> edge;
  core::Nanoseconds waits{0};
  core::Nanoseconds longest{0};
  core::Instant end{INT64_MIN};
  for (std::size_t i = 0; i < r.device_events.size(); ++i) {
    const DeviceEvent& e = r.device_events[i];
    const auto [at, first] = edge.try_emplace(e.device, core::Instant{INT64_MIN});
    if (const HostCall* call = launches.of(i)) {
      const core::Nanoseconds wait = e.start - std::max(at->second, queued_at(*call, e));
      if (wait > kUnseenWait) {
        waits += wait;
        longest = std::max(longest, wait);
      }
    }
    at->second = std::max(at->second, e.end());
    end = std::max(end, e.end());
  }
  const core::Nanoseconds span =
      r.device_events.empty() ? core::Nanoseconds{0} : end - r.device_events.front().start;
  Gate gate{"unrecorded_work", true, false, share(waits.count, span.count), kUnseenShare, ""};
  gate.passed = gate.value <= kUnseenShare;
  gate.sentence =
      waits.count == 0
          ? "no kernel waits for work that is not in the recording"
          : fmt::format(
                "queued work waited {:.3f} ms, {:.3f} ms at once, while nothing recorded ran: the "
                "device was busy with, or waiting for, something outside the recording",
                millis(waits), millis(longest));
  return gate;
}

}  // namespace

std::vector<Gate> check_integrity(const Recording& recording, const Steps& steps,
                                  const Launches& launches) {
  const std::vector<std::int64_t> kernels = events_of_calls(recording, launches, true);
  const std::vector<std::int64_t> events = events_of_calls(recording, launches, false);
  return {device_events(recording),
          graph_replays(recording, kernels),
          graph_capture(recording, events),
          stream_overlap(recording),
          clock_base(recording, launches),
          linked(recording, launches),
          profiler_overhead(recording),
          complete(recording),
          steady_window(steps),
          unrecorded_work(recording, launches)};
}

std::vector<Gate> check_integrity(const Recording& recording, const Steps& steps) {
  return check_integrity(recording, steps, Launches(recording));
}

bool believable(const std::vector<Gate>& gates) {
  return std::none_of(gates.begin(), gates.end(),
                      [](const Gate& g) { return g.decisive && !g.passed; });
}

}  // namespace ridgeline::timeline
