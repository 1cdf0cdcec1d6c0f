#include "timeline/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "timeline/periodicity.hpp"
#include "timeline/step_annotations.hpp"

namespace ridgeline::timeline {
namespace {

constexpr double kLeadingWork =
    0.05;  // a wait is before the step's work when at most that much of it came earlier
constexpr std::int64_t kWholePass = 100;  // kernels: a graph smaller than that is a piece of a step

/// A marked stretch of host time (device time where only that is marked).
struct Mark {
  core::Instant begin;
  core::Instant end;
  StepAnnotation::Form form = StepAnnotation::Form::profiler_step;
  StepSpan shape;
};

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The most informative marks that do not overlap, by start.
std::vector<Mark> marks_of(const Recording& r, bool on_device) {
  std::vector<Mark> all;
  for (const Annotation& a : r.annotations) {
    if (a.on_device != on_device) continue;
    if (auto read = read_step_annotation(r.name(a.name)))
      all.push_back({a.start, a.start + a.duration, read->form, read->shape});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Mark& a, const Mark& b) { return a.form > b.form; });
  std::map<core::Instant, Mark> taken;
  for (const Mark& mark : all) {
    const auto next = taken.lower_bound(mark.begin);
    const bool reaches_next =
        next != taken.end() &&
        next->second.begin < std::max(mark.end, mark.begin + core::Nanoseconds{1});
    const bool in_previous = next != taken.begin() && std::prev(next)->second.end > mark.begin;
    if (!reaches_next && !in_previous) taken.emplace(mark.begin, mark);
  }
  std::vector<Mark> marks;
  for (const auto& [begin, mark] : taken) marks.push_back(mark);
  return marks;
}

/// For each event, until when earlier events kept its device busy; before the first, the event's
/// own start.
std::vector<core::Instant> busy_until(const Recording& r) {
  std::vector<core::Instant> edges;
  edges.reserve(r.device_events.size());
  std::map<std::int32_t, core::Instant> edge;
  for (const DeviceEvent& e : r.device_events) {
    const auto [at, first] = edge.try_emplace(e.device, core::Instant{INT64_MIN});
    edges.push_back(at->second);
    at->second = std::max(at->second, e.end());
  }
  return edges;
}

/// Where the work of a step begins on its device, given its events by start.
core::Instant begin_of(const Recording& r, const Launches& launches,
                       const std::vector<core::Instant>& edges, core::Instant marked,
                       const std::vector<std::size_t>& events) {
  std::int64_t all = 0;
  for (const std::size_t i : events) all += r.device_events[i].duration.count;
  const DeviceEvent& first = r.device_events[events.front()];
  core::Instant begin = std::max(marked, std::min(edges[events.front()], first.start));
  std::int64_t before = 0;
  for (const std::size_t i : events) {
    const DeviceEvent& e = r.device_events[i];
    if (static_cast<double>(before) > kLeadingWork * static_cast<double>(all)) break;
    const HostCall* call = launches.of(i);
    if (call != nullptr && e.start - std::max(edges[i], queued_at(*call, e)) > kUnseenWait)
      begin = e.start;
    before += e.duration.count;
  }
  return begin;
}

std::vector<std::vector<std::size_t>> events_by_step(const std::vector<std::int32_t>& step_of_event,
                                                     std::size_t steps) {
  std::vector<std::vector<std::size_t>> events(steps);
  for (std::size_t i = 0; i < step_of_event.size(); ++i) {
    if (step_of_event[i] >= 0) events[static_cast<std::size_t>(step_of_event[i])].push_back(i);
  }
  return events;
}

/// Which mark a time belongs to: the one it is in, or the one before if the next follows within
/// `reach`.
std::int32_t mark_at(const std::vector<Mark>& marks, core::Instant time, std::int64_t reach) {
  const auto after = std::upper_bound(marks.begin(), marks.end(), time,
                                      [](core::Instant t, const Mark& m) { return t < m.begin; });
  if (after == marks.begin()) return -1;
  const auto mark = std::prev(after);
  const bool inside = time < mark->end;
  const bool between = after != marks.end() && (after->begin - mark->end).count <= reach;
  return inside || between ? static_cast<std::int32_t>(mark - marks.begin()) : -1;
}

bool optimizes_in(const Recording& r, const Mark& mark) {
  return std::any_of(r.annotations.begin(), r.annotations.end(), [&](const Annotation& a) {
    return !a.on_device && mark.begin <= a.start && a.start < mark.end &&
           r.name(a.name).starts_with("Optimizer.step");
  });
}

std::optional<Steps> by_annotations(const Recording& r, const Launches& launches) {
  bool on_device = false;
  std::vector<Mark> marks = marks_of(r, false);
  if (marks.empty()) {
    marks = marks_of(r, true);
    on_device = true;
  }
  if (marks.empty()) return std::nullopt;

  std::vector<std::int64_t> lengths;
  for (const Mark& m : marks) lengths.push_back((m.end - m.begin).count);
  const std::int64_t usual = median(lengths);
  const bool by_time = on_device || launches.linked() == 0;
  std::vector<std::int32_t> owner(r.device_events.size(), -1);
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const HostCall* call = launches.of(i);
    if (by_time || call != nullptr)
      owner[i] = mark_at(marks, by_time ? r.device_events[i].start : call->start, usual);
  }

  // A mark without device work is no step, unless none has any.
  const auto events = events_by_step(owner, marks.size());
  const bool any =
      std::any_of(events.begin(), events.end(), [](const auto& e) { return !e.empty(); });
  const std::vector<core::Instant> edges = busy_until(r);
  Steps out;
  out.how = Steps::How::annotations;
  std::vector<std::int32_t> index_of(marks.size(), -1);
  std::map<StepAnnotation::Form, std::int64_t> forms;
  for (std::size_t m = 0; m < marks.size(); ++m) {
    if (any && events[m].empty()) continue;
    StepSpan step = marks[m].shape;
    step.start = events[m].empty() || by_time
                     ? marks[m].begin
                     : begin_of(r, launches, edges, marks[m].begin, events[m]);
    core::Instant end = marks[m].end;
    for (const std::size_t i : events[m]) end = std::max(end, r.device_events[i].end());
    step.duration = std::max(core::Nanoseconds{0}, end - step.start);
    step.training = optimizes_in(r, marks[m]);
    index_of[m] = static_cast<std::int32_t>(out.steps.size());
    out.steps.push_back(step);
    ++forms[marks[m].form];
  }
  for (std::int32_t& o : owner) o = o < 0 ? -1 : index_of[static_cast<std::size_t>(o)];
  out.step_of_event = std::move(owner);

  // One after the other, with the host's work between them in the earlier.
  lengths.clear();
  for (const StepSpan& s : out.steps) lengths.push_back(s.duration.count);
  const std::int64_t step_length = median(lengths);
  for (std::size_t s = 0; s + 1 < out.steps.size(); ++s) {
    StepSpan& step = out.steps[s];
    core::Instant& next = out.steps[s + 1].start;
    next = std::max(next, step.start);
    if ((next - step.end()).count <= step_length) step.duration = next - step.start;
  }
  out.text =
      fmt::format("{} step{} by annotations (", out.steps.size(), out.steps.size() == 1 ? "" : "s");
  for (const auto& [form, count] : forms)
    out.text +=
        fmt::format("{}{} {}", form == forms.begin()->first ? "" : ", ", count, name_of(form));
  out.text += on_device ? ", on the device)" : ")";
  if (marks.size() > out.steps.size())
    out.text += fmt::format("; {} without device work left out", marks.size() - out.steps.size());
  return out;
}

/// Steps that begin at the given places in `order` (indices of the main device's events by start),
/// the last ending with `order`.
Steps cut_at(const Recording& r, const std::vector<std::size_t>& order,
             const std::vector<std::size_t>& cuts, std::size_t end) {
  Steps out;
  out.step_of_event.assign(r.device_events.size(), -1);
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const std::size_t stop = c + 1 < cuts.size() ? cuts[c + 1] : end;
    StepSpan step;
    step.start = r.device_events[order[cuts[c]]].start;
    core::Instant last = step.start;
    for (std::size_t i = cuts[c]; i < stop; ++i)
      last = std::max(last, r.device_events[order[i]].end());
    if (c + 1 < cuts.size()) last = r.device_events[order[stop]].start;
    step.duration = last - step.start;
    out.steps.push_back(step);
  }
  for (std::size_t i = 0; i < r.device_events.size(); ++i) {  // other streams and devices by time
    const core::Instant start = r.device_events[i].start;
    const auto after =
        std::upper_bound(out.steps.begin(), out.steps.end(), start,
                         [](core::Instant t, const StepSpan& s) { return t < s.start; });
    if (after != out.steps.begin() && start < std::prev(after)->end()) {
      out.step_of_event[i] = static_cast<std::int32_t>(std::prev(after) - out.steps.begin());
    }
  }
  return out;
}

std::vector<std::size_t> main_stream(const Recording& r) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> time;
  for (const DeviceEvent& e : r.device_events) time[{e.device, e.stream}] += e.duration.count;
  const auto most = std::max_element(
      time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < r.device_events.size(); ++i) {
    const DeviceEvent& e = r.device_events[i];
    if (most != time.end() && e.device == most->first.first && e.stream == most->first.second)
      order.push_back(i);
  }
  return order;
}

std::optional<Steps> by_graph_launches(const Recording& r, const Launches& launches,
                                       const std::vector<std::size_t>& order) {
  std::vector<std::size_t> cuts;
  std::vector<std::int64_t> sizes;
  std::int32_t open = -1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const HostCall* call = launches.of(order[i]);
    if (call == nullptr || call->kind != HostCall::Kind::graph_launch) continue;
    if (launches.call_of(order[i]) != open) {
      open = launches.call_of(order[i]);
      cuts.push_back(i);
      sizes.push_back(0);
    }
    ++sizes.back();
  }
  if (cuts.size() < 2 || median(sizes) < kWholePass) return std::nullopt;
  Steps out = cut_at(r, order, cuts, order.size());
  out.how = Steps::How::graph_launches;
  out.text = fmt::format("{} steps, each from one graph replay of {} kernels (median) to the next",
                         cuts.size(), median(sizes));
  return out;
}

std::optional<Steps> by_periodicity(const Recording& r, const std::vector<std::size_t>& order) {
  std::vector<std::uint32_t> names;
  std::vector<std::int64_t> durations;
  for (const std::size_t i : order) {
    names.push_back(r.device_events[i].name);
    durations.push_back(r.device_events[i].duration.count);
  }
  const std::optional<Period> period = find_period(names, durations);
  if (!period) return std::nullopt;
  // A step begins where the device waits longest, summed over the periods.
  std::vector<std::int64_t> waits(period->length, 0);
  for (const std::size_t anchor : period->anchors) {
    for (std::size_t d = 0; d < period->length && anchor + d < order.size(); ++d) {
      if (anchor + d == 0) continue;
      const DeviceEvent& e = r.device_events[order[anchor + d]];
      waits[d] +=
          std::max<std::int64_t>(0, (e.start - r.device_events[order[anchor + d - 1]].end()).count);
    }
  }
  const auto offset =
      static_cast<std::size_t>(std::max_element(waits.begin(), waits.end()) - waits.begin());
  std::vector<std::size_t> cuts;
  if (period->anchors.front() + offset >= period->length)
    cuts.push_back(period->anchors.front() + offset - period->length);
  for (const std::size_t anchor : period->anchors) {
    if (anchor + offset < order.size()) cuts.push_back(anchor + offset);
  }
  std::size_t end = order.size();
  if (10 * (end - cuts.back()) <
      9 * period->length) {  // the last is cut short by the recording's end
    end = cuts.back();
    cuts.pop_back();
  } else {
    end = std::min(end, cuts.back() + period->length);
  }
  if (cuts.empty()) return std::nullopt;
  Steps out = cut_at(r, order, cuts, end);
  out.how = Steps::How::periodicity;
  out.text = fmt::format(
      "{} steps by the repetition of kernel names: a period of {} events, of which {:.1f} % agree "
      "with the period before",
      cuts.size(), period->length, 100.0 * period->agreement);
  return out;
}

Steps whole(const Recording& r) {
  core::Instant begin = core::kNever;
  core::Instant end{INT64_MIN};
  const auto cover = [&](core::Instant from, core::Instant to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  };
  for (const DeviceEvent& e : r.device_events) cover(e.start, e.end());
  if (r.device_events.empty()) {
    for (const HostCall& c : r.calls) cover(c.start, c.end());
  }
  Steps out;
  out.how = Steps::How::whole;
  out.text = "the whole recording is one step: nothing marks steps and nothing repeats";
  if (begin <= end) {
    StepSpan step;
    step.start = begin;
    step.duration = end - begin;
    out.steps.push_back(step);
  }
  out.step_of_event.assign(r.device_events.size(), 0);
  return out;
}

}  // namespace

std::int32_t main_device(const Recording& recording) {
  std::map<std::int32_t, std::int64_t> time;
  for (const DeviceEvent& e : recording.device_events)
    time[e.device] += e.kind == DeviceEvent::Kind::kernel ? e.duration.count : 0;
  const auto most = std::max_element(
      time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == time.end() ? -1 : most->first;
}

Steps find_steps(const Recording& recording, const Launches& launches) {
  Steps steps;
  if (auto marked = by_annotations(recording, launches)) {
    steps = std::move(*marked);
  } else {
    const std::vector<std::size_t> order = main_stream(recording);
    auto found = by_graph_launches(recording, launches, order);
    if (!found) found = by_periodicity(recording, order);
    steps = found ? std::move(*found) : whole(recording);
  }
  for (std::size_t s = 0; s < steps.steps.size(); ++s)
    steps.steps[s].index = static_cast<std::int64_t>(s);
  return steps;
}

Steps find_steps(const Recording& recording) { return find_steps(recording, Launches(recording)); }

}  // namespace ridgeline::timeline
