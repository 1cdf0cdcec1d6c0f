#include "timeline/writers/perfetto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "timeline/name_index.hpp"
#include "timeline/writers/output_file.hpp"
#include "timeline/writers/perfetto_packets.hpp"

namespace ridgeline::timeline {
namespace {

constexpr std::uint64_t kHost = 1;  // tracks' uuids; those of lanes follow the last
constexpr std::uint64_t kGpu = 2;
constexpr std::uint64_t kFirstCounter = 3;
constexpr std::array<std::string_view, 4> kCounters{"kv_cache_usage", "num_running", "num_waiting",
                                                    "preemptions"};
/// Perfetto knows threads and processes by one space of numbers, in which 0 is the idle thread.
/// GPUs stand where no process is.
constexpr std::int32_t kGpuProcesses = 5'000'000;
constexpr std::int32_t kThreadsOfGpu = 10'000;

std::string step_name(const StepSpan& step) {
  if (step.training) return fmt::format("training step {}", step.index);
  return fmt::format("step {}: {} prefill ({} tokens), {} decode", step.index,
                     step.prefill_sequences, step.prefill_tokens, step.decode_sequences);
}

/// Tracks of one name, as many as it takes for slices not to overlap on any.
struct Lanes {
  std::string name;
  std::uint64_t parent = 0;
  std::optional<std::pair<std::int32_t, std::int32_t>>
      thread;  // pid and tid of the first; further ones are plain tracks
  struct Lane {
    std::uint64_t uuid;
    core::Instant end;
  };
  std::vector<Lane> lanes;
};

class PerfettoVisitor final : public SpanVisitor {
 public:
  PerfettoVisitor(PerfettoPackets& packets, const DeviceInfo& device,
                  const PerfettoOptions& options)
      : packets_(packets), gpu_process_(kGpuProcesses + options.device * kThreadsOfGpu) {
    announce_process(kHost, options.host_process, "python3");
    announce_process(kGpu, gpu_process_, fmt::format("GPU {} {}", options.device, device.name));
    calls_lanes_ = {
        "runtime calls", kHost, std::pair{options.host_process, options.host_process}, {}};
    steps_lanes_ = {"steps", kHost, std::nullopt, {}};
  }

  void on_step(const StepSpan& step) override {
    finish_step();
    packets_.flush_before(step.start);
    step_ = step;
    perfetto::TrackEvent begin = begin_of(step_name(step), "step");
    annotate(begin, "step", step.index);
    slice(steps_lanes_, step.start, step.end(), std::move(begin));
  }

  void on_kernel(const KernelSpan& k) override {
    kernels_.push_back({k.start, k.end(), names_.of(k.name), names_.of(k.role), k.correlation,
                        k.stream, k.grid, k.block});
  }
  void on_runtime(const RuntimeSpan& c) override {
    calls_.push_back({c.start, c.start + c.duration, names_.of(c.name), c.correlation});
  }
  void on_counters(const CounterSample& sample) override {
    announce_counters();
    perfetto::TrackEvent usage = counter_event(0);
    usage.set_double_counter_value(sample.kv_usage);
    packets_.event(sample.time, std::move(usage));
    const std::array<std::int64_t, 3> counts{sample.running, sample.waiting, sample.preemptions};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      perfetto::TrackEvent count = counter_event(i + 1);
      count.set_counter_value(counts[i]);
      packets_.event(sample.time, std::move(count));
    }
  }

  /// Hands on the step's calls and kernels, which are held because either end of a flow must know
  /// of the other.
  void finish_step() {
    std::unordered_set<std::int64_t> called;
    std::unordered_set<std::int64_t> launching;
    for (const Call& c : calls_) called.insert(c.correlation);
    for (const Kernel& k : kernels_) launching.insert(k.correlation);
    const auto is_flow = [&](std::int64_t c) {
      return c != 0 && called.contains(c) && launching.contains(c);
    };

    std::unordered_set<std::int64_t> begun;
    for (const Call& c : calls_) {
      perfetto::TrackEvent begin = begin_of(names_.text(c.name), "runtime");
      annotate(begin, "correlation", c.correlation);
      annotate_step(begin);
      if (is_flow(c.correlation) && begun.insert(c.correlation).second)
        begin.add_flow_ids(static_cast<std::uint64_t>(c.correlation));
      slice(calls_lanes_, c.start, c.end, std::move(begin));
    }
    std::unordered_set<std::int64_t> reached;
    for (const Kernel& k : kernels_) {
      perfetto::TrackEvent begin = begin_of(names_.text(k.name), "kernel");
      annotate(begin, "correlation", k.correlation);
      annotate_step(begin);
      if (k.grid != 0) annotate(begin, "grid", k.grid);
      if (k.block != 0) annotate(begin, "block", k.block);
      if (!names_.text(k.role).empty()) {
        perfetto::DebugAnnotation& role = *begin.add_debug_annotations();
        role.set_name("role");
        role.set_string_value(names_.text(k.role));
      }
      if (is_flow(k.correlation) && reached.insert(k.correlation).second)
        begin.add_flow_ids(static_cast<std::uint64_t>(k.correlation));
      slice(lanes_of_stream(k.stream), k.start, k.end, std::move(begin));
    }
    calls_.clear();
    kernels_.clear();
    step_.reset();
  }

 private:
  struct Kernel {
    core::Instant start;
    core::Instant end;
    std::uint32_t name;
    std::uint32_t role;
    std::int64_t correlation;
    std::int32_t stream;
    std::int64_t grid;
    std::int32_t block;
  };
  struct Call {
    core::Instant start;
    core::Instant end;
    std::uint32_t name;
    std::int64_t correlation;
  };

  [[nodiscard]] static perfetto::TrackEvent begin_of(const std::string& name,
                                                     const char* category) {
    perfetto::TrackEvent event;
    event.set_type(perfetto::TrackEvent::TYPE_SLICE_BEGIN);
    event.set_name(name);
    event.add_categories(category);
    return event;
  }
  static void annotate(perfetto::TrackEvent& event, const char* name, std::int64_t value) {
    perfetto::DebugAnnotation& annotation = *event.add_debug_annotations();
    annotation.set_name(name);
    annotation.set_int_value(value);
  }
  void annotate_step(perfetto::TrackEvent& event) const {
    if (step_) annotate(event, "step", step_->index);
  }
  [[nodiscard]] static perfetto::TrackEvent counter_event(std::size_t counter) {
    perfetto::TrackEvent event;
    event.set_type(perfetto::TrackEvent::TYPE_COUNTER);
    event.set_track_uuid(kFirstCounter + counter);
    return event;
  }

  void slice(Lanes& lanes, core::Instant start, core::Instant end, perfetto::TrackEvent begin) {
    const std::uint64_t uuid = lane_for(lanes, start, end);
    begin.set_track_uuid(uuid);
    packets_.event(start, std::move(begin));
    perfetto::TrackEvent finish;
    finish.set_type(perfetto::TrackEvent::TYPE_SLICE_END);
    finish.set_track_uuid(uuid);
    packets_.event(end, std::move(finish));
  }

  /// The first lane that is free from `start` on, taken until `end`.
  std::uint64_t lane_for(Lanes& lanes, core::Instant start, core::Instant end) {
    for (Lanes::Lane& lane : lanes.lanes) {
      if (lane.end > start) continue;
      lane.end = end;
      return lane.uuid;
    }
    const std::uint64_t uuid = next_uuid_++;
    perfetto::TrackDescriptor track;
    track.set_uuid(uuid);
    track.set_parent_uuid(lanes.parent);
    track.set_name(lanes.name);
    if (lanes.thread && lanes.lanes.empty()) {
      track.mutable_thread()->set_pid(lanes.thread->first);
      track.mutable_thread()->set_tid(lanes.thread->second);
      track.mutable_thread()->set_thread_name(lanes.name);
    }
    packets_.track(std::move(track));
    lanes.lanes.push_back({uuid, end});
    return uuid;
  }

  Lanes& lanes_of_stream(std::int32_t stream) {
    const auto [at, fresh] = streams_.try_emplace(stream);
    if (fresh) {
      const auto tid =
          gpu_process_ +
          static_cast<std::int32_t>(streams_.size());  // not its number, which may be anything
      at->second = {fmt::format("stream {}", stream), kGpu, std::pair{gpu_process_, tid}, {}};
    }
    return at->second;
  }

  void announce_process(std::uint64_t uuid, std::int32_t pid, const std::string& name) {
    perfetto::TrackDescriptor track;
    track.set_uuid(uuid);
    track.mutable_process()->set_pid(pid);
    track.mutable_process()->set_process_name(name);
    packets_.track(std::move(track));
  }

  void announce_counters() {
    if (std::exchange(counters_announced_, true)) return;
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      perfetto::TrackDescriptor track;
      track.set_uuid(kFirstCounter + i);
      track.set_parent_uuid(kHost);
      track.set_name(std::string(kCounters[i]));
      if (i == 0) {
        track.mutable_counter()->set_unit_name("fraction of KV blocks");
      } else {
        track.mutable_counter()->set_unit(perfetto::CounterDescriptor::UNIT_COUNT);
      }
      packets_.track(std::move(track));
    }
  }

  PerfettoPackets& packets_;
  std::int32_t gpu_process_;
  std::uint64_t next_uuid_ = kFirstCounter + kCounters.size();
  bool counters_announced_ = false;
  Lanes calls_lanes_;
  Lanes steps_lanes_;
  std::map<std::int32_t, Lanes> streams_;
  NameIndex names_;
  std::optional<StepSpan> step_;  // the one being collected, and what belongs to it
  std::vector<Kernel> kernels_;
  std::vector<Call> calls_;
};

}  // namespace

void write_perfetto(const SpanSource& source, Window window, std::ostream& out,
                    const PerfettoOptions& options) {
  const core::Instant origin = std::min(core::Instant{0}, source.extent().begin);
  PerfettoPackets packets(out, origin);
  PerfettoVisitor visitor(packets, source.device(), options);
  source.visit(window, visitor);
  visitor.finish_step();
  packets.flush_before(core::kNever);
}

void write_perfetto_file(const SpanSource& source, Window window, const std::filesystem::path& path,
                         const PerfettoOptions& options) {
  write_file(path, [&](std::ostream& out) { write_perfetto(source, window, out, options); });
}

}  // namespace ridgeline::timeline
