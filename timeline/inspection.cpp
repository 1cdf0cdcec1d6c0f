#include "timeline/inspection.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "timeline/classify.hpp"
#include "timeline/device_gaps.hpp"
#include "timeline/gemm_shapes.hpp"

namespace ridgeline::timeline {
namespace {

constexpr std::int64_t kShort = 6'000;      // ns
constexpr std::int64_t kNotShort = 10'000;  // ns: nothing longer is at the floor
constexpr core::Nanoseconds kLongCopyCall{100'000};
constexpr std::int64_t kLongerThanCopy = 10;

/// The length of a union of intervals that come by start.
class Union {
 public:
  void add(core::Instant begin, core::Instant end) {
    begin = std::max(begin, edge_);
    if (end <= begin) return;
    total_ += end - begin;
    edge_ = end;
  }
  [[nodiscard]] core::Nanoseconds total() const { return total_; }

 private:
  core::Instant edge_{INT64_MIN};
  core::Nanoseconds total_{0};
};

/// Calls `each(step, begin, end)` for every part of an event that lies in a step. Events come by
/// start.
class InSteps {
 public:
  explicit InSteps(const std::vector<StepSpan>& steps) : steps_(steps) {}

  template <class Each>
  void parts(const DeviceEvent& e, const Each& each) {
    while (first_ < steps_.size() && steps_[first_].end() <= e.start) ++first_;
    for (std::size_t s = first_; s < steps_.size() && steps_[s].start < e.end(); ++s) {
      const core::Instant begin = std::max(e.start, steps_[s].start);
      const core::Instant end = std::min(e.end(), steps_[s].end());
      if (begin < end) each(s, begin, end);
    }
  }
  /// Whether the event starts in a step.
  [[nodiscard]] bool holds(const DeviceEvent& e) {
    while (first_ < steps_.size() && steps_[first_].end() <= e.start) ++first_;
    return first_ < steps_.size() && steps_[first_].start <= e.start;
  }

 private:
  const std::vector<StepSpan>& steps_;
  std::size_t first_ = 0;
};

std::int64_t at_share(std::vector<std::int64_t>& values, double share) {
  if (values.empty()) return 0;
  const auto rank = std::min(values.size() - 1,
                             static_cast<std::size_t>(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Durations durations_of(std::vector<std::int64_t>& values) {
  Durations out;
  out.count = static_cast<std::int64_t>(values.size());
  for (const std::int64_t v : values) out.total.count += v;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (low != values.end()) {
    out.min.count = *low;
    out.max.count = *high;
  }
  out.median.count = at_share(values, 0.5);
  return out;
}

bool copies_only(const DeviceEvent& e, const KernelFacts& facts) {
  return e.kind == DeviceEvent::Kind::copy ||
         (e.kind == DeviceEvent::Kind::kernel && facts.family == "rocclr");
}

std::vector<DeviceUse> uses_of(const Recording& r, const Steps& steps,
                               const EventClasses& classes) {
  struct Parts {
    explicit Parts(const std::vector<StepSpan>& spans) : inside(spans) {}
    InSteps inside;
    Union computation, with_communication, all;
  };
  std::map<std::int32_t, Parts> parts;
  for (const DeviceEvent& e : r.device_events) {
    Parts& p = parts.try_emplace(e.device, steps.steps).first->second;
    const KernelFacts& facts = classes[e];
    const bool copy = copies_only(e, facts);
    p.inside.parts(e, [&](std::size_t, core::Instant begin, core::Instant end) {
      if (!copy && facts.cls != KernelClass::collective) p.computation.add(begin, end);
      if (!copy) p.with_communication.add(begin, end);
      p.all.add(begin, end);
    });
  }
  core::Nanoseconds time{0};
  for (const StepSpan& s : steps.steps) time += s.duration;
  std::vector<DeviceUse> uses;
  for (const auto& [device, p] : parts) {
    DeviceUse use;
    use.device = device;
    use.time = time;
    use.busy = p.all.total();
    use.computation = p.computation.total();
    use.exposed_communication = p.with_communication.total() - p.computation.total();
    use.exposed_copies = p.all.total() - p.with_communication.total();
    use.idle = time - use.busy;
    uses.push_back(use);
  }
  return uses;
}

/// The main device's kernels: their tables, the floor, and how deep in the queue they stood.
class KernelTables {
 public:
  KernelTables(const Recording& r, const Launches& launches, const EventClasses& classes)
      : recording_(r),
        launches_(launches),
        classes_(classes),
        shapes_(r),
        by_name_(r.names.size()) {}

  void add(std::size_t event) {
    const DeviceEvent& e = recording_.device_events[event];
    if (e.kind != DeviceEvent::Kind::kernel) return;
    const KernelFacts& facts = classes_[e];
    by_name_[e.name].push_back(e.duration.count);
    if (facts.cls != KernelClass::collective) lengths_.push_back(e.duration.count);
    if (facts.cls == KernelClass::gemm && shapes_.size() > 0) {
      if (const GemmShape* shape = shapes_.of(e)) {
        ClassRow& row = shaped_;
        row.shaped_time += e.duration;
        row.flop += shape->flop();
        row.bytes += shape->bytes();
      }
    }
    note_backlog(event, e);
  }

  void finish(Inspection& out) {
    std::array<std::vector<std::int64_t>, kKernelClasses> by_class;
    for (std::uint32_t n = 0; n < by_name_.size(); ++n) {
      if (by_name_[n].empty()) continue;
      DeviceEvent kernel;
      kernel.name = n;
      const KernelFacts& facts = classes_[kernel];
      auto& of_class = by_class[static_cast<std::size_t>(facts.cls)];
      of_class.insert(of_class.end(), by_name_[n].begin(), by_name_[n].end());
      out.names.push_back({n, facts.cls, facts.family, durations_of(by_name_[n])});
    }
    for (std::size_t c = 0; c < kKernelClasses; ++c) {
      if (by_class[c].empty()) continue;
      ClassRow row;
      row.cls = static_cast<KernelClass>(c);
      row.durations = durations_of(by_class[c]);
      if (row.cls == KernelClass::gemm) {
        row.shaped_time = shaped_.shaped_time;
        row.flop = shaped_.flop;
        row.bytes = shaped_.bytes;
      }
      out.classes.push_back(row);
    }
    const auto most_time_first = [](const auto& a, const auto& b) {
      return a.durations.total > b.durations.total;
    };
    std::stable_sort(out.names.begin(), out.names.end(), most_time_first);
    std::stable_sort(out.classes.begin(), out.classes.end(), most_time_first);
    out.floor = floor();
    out.backlog.kernels = static_cast<std::int64_t>(waits_.size());
    out.backlog.median_wait.count = at_share(waits_, 0.5);
    out.backlog.p90_wait.count = at_share(waits_, 0.9);
    if (!waits_.empty()) {
      out.backlog.mean_ahead = static_cast<double>(ahead_) / static_cast<double>(waits_.size());
      out.backlog.share_behind = static_cast<double>(behind_) / static_cast<double>(waits_.size());
    }
  }

 private:
  [[nodiscard]] FloorKernels floor() {
    FloorKernels out;
    out.kernels = static_cast<std::int64_t>(lengths_.size());
    out.shortest.count = at_share(lengths_, 0.05);
    out.limit.count = std::max(kShort, std::min(kNotShort, out.shortest.count * 5 / 4));
    for (const std::int64_t length : lengths_) {
      if (length > out.limit.count) continue;
      ++out.count;
      out.time.count += length;
    }
    return out;
  }

  void note_backlog(std::size_t event, const DeviceEvent& e) {
    std::vector<core::Instant>& starts = starts_[e.stream];
    if (const HostCall* call = launches_.of(event)) {
      const core::Instant queued = queued_at(*call, e);
      const auto waiting = starts.end() - std::upper_bound(starts.begin(), starts.end(), queued);
      ahead_ += waiting;
      if (waiting > 0) ++behind_;
      waits_.push_back(std::max<std::int64_t>(0, (e.start - queued).count));
    }
    starts.push_back(e.start);
  }

  const Recording& recording_;
  const Launches& launches_;
  const EventClasses& classes_;
  GemmShapes shapes_;
  std::vector<std::vector<std::int64_t>> by_name_;
  std::vector<std::int64_t> lengths_;  // collectives left out: they spin until the slowest comes
  ClassRow shaped_;
  std::map<std::int32_t, std::vector<core::Instant>> starts_;  // by stream, of the kernels so far
  std::vector<std::int64_t> waits_;
  std::int64_t ahead_ = 0;
  std::int64_t behind_ = 0;
};

/// Walks the union of the main device's events step by step and hands each hole to the sorter.
std::array<GapRow, kGapCauses> gaps_of(const Recording& r, const Steps& steps,
                                       const Launches& launches, std::int32_t device) {
  GapSorter sorter(r, launches);
  InSteps inside(steps.steps);
  std::size_t open = 0;  // the step whose holes are being filled
  core::Instant edge = steps.steps.empty() ? core::Instant{0} : steps.steps.front().start;
  const auto close_until = [&](std::size_t step) {
    for (; open < step; ++open) {
      sorter.add_tail(edge, steps.steps[open].end());
      if (open + 1 < steps.steps.size()) edge = steps.steps[open + 1].start;
    }
  };
  for (std::size_t i = 0; i < r.device_events.size(); ++i) {
    const DeviceEvent& e = r.device_events[i];
    if (e.device != device) continue;
    inside.parts(e, [&](std::size_t step, core::Instant begin, core::Instant end) {
      if (step < open) return;  // of a step already left: an earlier event reached out of it
      close_until(step);
      if (begin > edge) sorter.add(edge, i);
      edge = std::max(edge, end);
    });
  }
  close_until(steps.steps.size());
  return sorter.rows();
}

std::vector<BlockedCopy> blocked_copies(const Recording& r, const Launches& launches) {
  std::map<std::int32_t, core::Nanoseconds> on_device;  // by call
  for (std::size_t i = 0; i < r.device_events.size(); ++i) {
    const HostCall* call = launches.of(i);
    if (call != nullptr && call->kind == HostCall::Kind::copy)
      on_device[launches.call_of(i)] += r.device_events[i].duration;
  }
  std::vector<BlockedCopy> blocked;
  for (const auto& [index, time] : on_device) {
    const HostCall& call = r.calls[static_cast<std::size_t>(index)];
    if (call.duration < kLongCopyCall || call.duration.count < kLongerThanCopy * time.count)
      continue;
    blocked.push_back({static_cast<std::size_t>(index), call.duration, time, call.bytes});
  }
  std::stable_sort(blocked.begin(), blocked.end(), [](const BlockedCopy& a, const BlockedCopy& b) {
    return a.on_host > b.on_host;
  });
  return blocked;
}

}  // namespace

Inspection inspect(const Recording& recording, const Steps& steps, const Launches& launches) {
  Inspection out;
  const EventClasses classes(recording);
  out.main_device = main_device(recording);
  out.devices = uses_of(recording, steps, classes);
  std::stable_sort(out.devices.begin(), out.devices.end(),
                   [&](const DeviceUse& a, const DeviceUse& b) {
                     return (a.device == out.main_device) > (b.device == out.main_device);
                   });

  KernelTables tables(recording, launches, classes);
  InSteps inside(steps.steps);
  std::map<CopyKind, CopyRow> copies;
  std::map<CopyKind, core::Nanoseconds> sized;
  Union all;
  core::Instant first = core::kNever;
  core::Instant last{INT64_MIN};
  for (std::size_t i = 0; i < recording.device_events.size(); ++i) {
    const DeviceEvent& e = recording.device_events[i];
    first = std::min(first, e.start);
    last = std::max(last, e.end());
    if (e.device != out.main_device) continue;
    all.add(e.start, e.end());
    if (!inside.holds(e)) continue;
    tables.add(i);
    if (e.kind != DeviceEvent::Kind::copy) continue;
    const HostCall* call = launches.of(i);
    const CopyKind kind = call != nullptr && call->copy != CopyKind::unknown ? call->copy : e.copy;
    CopyRow& row = copies[kind];
    row.kind = kind;
    ++row.count;
    row.time += e.duration;
    const std::int64_t bytes = e.bytes >= 0 ? e.bytes : (call != nullptr ? call->bytes : -1);
    if (bytes >= 0) {
      row.bytes += core::Bytes{static_cast<double>(bytes)};
      sized[kind] += e.duration;
    }
  }
  if (first <= last) out.recorded = last - first;
  out.recorded_busy = all.total();
  tables.finish(out);
  for (auto& [kind, row] : copies) {
    if (sized[kind].count > 0) row.rate = row.bytes / sized[kind].seconds();
    out.copies.push_back(row);
  }
  out.gaps = gaps_of(recording, steps, launches, out.main_device);
  out.blocked_copies = blocked_copies(recording, launches);
  return out;
}

Inspection inspect(const Recording& recording, const Steps& steps) {
  return inspect(recording, steps, Launches(recording));
}

}  // namespace ridgeline::timeline
