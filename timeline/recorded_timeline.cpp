#include "timeline/recorded_timeline.hpp"

#include <algorithm>
#include <map>

namespace ridgeline::timeline {
namespace {

template <class T>
T product_of(const std::array<T, 3>& sizes) {
  if (sizes[0] == 0) return 0;
  return sizes[0] * std::max<T>(1, sizes[1]) * std::max<T>(1, sizes[2]);
}

/// A server's counter by whatever name its exporter gives it ("vllm:num_requests_running"); false
/// for any other.
bool set_counter(CounterSample& sample, std::string_view name, double value) {
  const auto holds = [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  };
  if (holds("cache_usage") || holds("kv_usage")) {
    sample.kv_usage = value;
  } else if (holds("running")) {
    sample.running = static_cast<std::int64_t>(value);
  } else if (holds("waiting")) {
    sample.waiting = static_cast<std::int64_t>(value);
  } else if (holds("preempt")) {
    sample.preemptions = static_cast<std::int64_t>(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

RecordedTimeline::RecordedTimeline(const Recording& recording, const Steps& steps)
    : recording_(recording),
      steps_(steps),
      device_(main_device(recording)),
      classes_(recording),
      shapes_(recording),
      events_(steps.steps.size()),
      calls_(steps.steps.size()) {
  const Launches launches(recording);
  for (std::size_t i = 0; i < recording.device_events.size(); ++i) {
    if (steps.step_of_event[i] < 0 || recording.device_events[i].device != device_) continue;
    const auto step = static_cast<std::size_t>(steps.step_of_event[i]);
    events_[step].push_back(i);
    if (launches.call_of(i) >= 0)
      calls_[step].push_back(static_cast<std::size_t>(launches.call_of(i)));
  }
  for (std::vector<std::size_t>& calls : calls_) {  // a graph's kernels share theirs
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  }
  gather_counters();
}

void RecordedTimeline::gather_counters() {
  std::map<core::Instant, CounterSample> samples;
  for (const CounterValue& c : recording_.counters) {
    const std::string_view name = recording_.name(c.name);
    if (c.event < 0) {
      CounterSample sample;
      if (!set_counter(sample, name, c.value)) continue;
      static_cast<void>(set_counter(
          samples.try_emplace(c.time, CounterSample{c.time}).first->second, name, c.value));
      continue;
    }
    Counted& counted = counted_[c.event];
    if (name.starts_with("SQ_INSTS_VALU_MFMA_MOPS_")) {
      counted.issued += core::Flop{512.0 * c.value};  // tile padding included
    } else if (name == "FETCH_SIZE") {
      counted.read += core::Bytes{1024.0 * c.value};
    } else if (name == "WRITE_SIZE") {
      counted.written += core::Bytes{1024.0 * c.value};
    }
  }
  for (const auto& [time, sample] : samples) samples_.push_back(sample);
}

DeviceInfo RecordedTimeline::device() const {
  if (recording_.devices.empty()) return {};
  // Some profilers number devices from the first processor socket on; those of one machine are
  // alike.
  const auto number = static_cast<std::size_t>(std::max(0, device_));
  return number < recording_.devices.size() ? recording_.devices[number]
                                            : recording_.devices.front();
}

Window RecordedTimeline::extent() const {
  if (steps_.steps.empty()) return {};
  return {steps_.steps.front().start, steps_.steps.back().end()};
}

KernelSpan RecordedTimeline::kernel(std::size_t event, std::int64_t step) const {
  const DeviceEvent& e = recording_.device_events[event];
  KernelSpan span;
  span.start = e.start;
  span.duration = e.duration;
  span.name = recording_.name(e.name);
  span.cls = classes_[e].cls;
  span.step = step;
  span.correlation = e.correlation;
  span.stream = e.stream;
  span.from_graph = e.from_graph;
  span.grid = product_of(e.workgroups);
  span.block = product_of(e.threads);
  if (span.cls == KernelClass::gemm) {
    if (const GemmShape* shape = shapes_.of(e)) {
      span.gemm = shape->facts;
      span.useful = shape->flop();
    }
  }
  if (const auto at = counted_.find(static_cast<std::int64_t>(event)); at != counted_.end()) {
    span.issued = at->second.issued;
    span.hbm_read = at->second.read;
    span.hbm_written = at->second.written;
  }
  return span;
}

void RecordedTimeline::visit(Window window, SpanVisitor& visitor) const {
  for (std::size_t s = 0; s < steps_.steps.size(); ++s) {
    const StepSpan& step = steps_.steps[s];
    if (!window.holds(step.start)) continue;
    visitor.on_step(step);
    for (const std::size_t i : events_[s]) visitor.on_kernel(kernel(i, step.index));
    for (const std::size_t i : calls_[s]) {
      const HostCall& c = recording_.calls[i];
      visitor.on_runtime({c.start, c.duration, recording_.name(c.name), step.index, c.correlation});
    }
    auto sample =
        std::lower_bound(samples_.begin(), samples_.end(), step.start,
                         [](const CounterSample& c, core::Instant t) { return c.time < t; });
    for (; sample != samples_.end() && sample->time < step.end(); ++sample)
      visitor.on_counters(*sample);
  }
}

}  // namespace ridgeline::timeline
