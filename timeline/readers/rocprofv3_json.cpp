#include "timeline/readers/rocprofv3_json.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/error.hpp"
#include "timeline/readers/json_cursor.hpp"
#include "timeline/readers/rocpd_terms.hpp"
#include "timeline/readers/rocprofv3_json_record.hpp"

namespace ridgeline::timeline {
namespace {

constexpr std::string_view kRoot = "rocprofiler-sdk-tool";

/// A process: its records as they come, its names when all of it is known.
class Process {
 public:
  Process(Recording& recording, JsonParser& json, TimeGate& gate)
      : recording_(recording), json_(json), gate_(gate) {}

  void read(JsonCursor& cursor) {
    std::string_view key;
    while (cursor.next_member(key)) {
      const bool in_place =
          (key == "strings" || key == "buffer_records" || key == "callback_records") &&
          cursor.enter('{');
      if (in_place) {
        read_lists(cursor, key);
      } else if ((key == "agents" || key == "counters" || key == "kernel_symbols") &&
                 cursor.enter('[')) {
        for_each_record(cursor, [&](RocprofRecord& r) { add_description(key, r); });
      } else if (const auto value = cursor.value(); value && key == "metadata") {
        read_metadata(*value);
      }
    }
  }

  void finish() {
    name_records();
    place_counters();
    for (const Event& event : events_) {
      DeviceEvent& e = recording_.device_events[event.index];
      if (e.correlation != 0 && graph_launches_.contains(e.correlation)) e.from_graph = true;
    }
  }

  [[nodiscard]] std::int64_t records() const { return count_; }
  [[nodiscard]] std::int64_t unreadable() const { return unreadable_; }

 private:
  template <class F>
  void for_each_record(JsonCursor& cursor, const F& f) {
    while (cursor.next_element()) {
      const auto text = cursor.value();
      if (!text) return;
      ++count_;
      if (auto record = read_rocprof_record(json_, *text)) {
        f(*record);
      } else {
        ++unreadable_;
      }
    }
  }

  void read_lists(JsonCursor& cursor, std::string_view group) {
    std::string_view key;
    while (cursor.next_member(key)) {
      if (!cursor.enter('[')) {
        static_cast<void>(cursor.value());
      } else if (group == "strings" && key == "buffer_records") {
        while (cursor.next_element()) {
          const auto text = cursor.value();
          if (!text) return;
          kinds_.push_back(read_rocprof_kind(json_, *text));
        }
      } else if (group == "strings") {
        for_each_record(cursor, [&](RocprofRecord& r) {
          if (key == "marker_api") markers_[r.key] = r.value;
        });
      } else {
        for_each_record(cursor, [&](RocprofRecord& r) { add(key, r); });
      }
    }
  }

  void add_description(std::string_view list, RocprofRecord& r) {
    if (list == "kernel_symbols") {
      kernel_names_[r.kernel] = std::move(r.name);
    } else if (list == "counters") {
      counter_names_[r.id] = std::move(r.name);
    } else {
      if (r.node >= 0)
        agents_[r.id] = static_cast<std::int32_t>(
            std::min<std::int64_t>(r.node, std::numeric_limits<std::int32_t>::max()));
      constexpr std::int64_t kGpu = 2;
      if (r.type != kGpu) return;
      DeviceInfo device;
      device.name = r.product.empty() ? r.name : r.product;
      device.architecture = r.name;
      device.compute_units = r.compute_units;
      device.wave_size = r.wave_size;
      recording_.devices.push_back(std::move(device));
    }
  }

  void read_metadata(std::string_view text) {
    JsonCursor metadata(text);
    std::string_view key;
    if (!metadata.enter('{')) return;
    while (metadata.next_member(key)) {
      const auto value = metadata.value();
      if (value && key == "pid") process_ = integer_in(bare(*value)).value_or(0);
    }
  }

  void add(std::string_view list, RocprofRecord& r) {
    const bool counted = list == "counter_collection";
    if (list == "kernel_dispatch" || counted) {
      if (!gate_.lets_pass(r.start, r.end)) return;
      if (counted) {
        counted_.push_back(std::move(r));
      } else {
        add_kernel(r);
      }
    } else if (list == "memory_copy") {
      if (gate_.lets_pass(r.start, r.end)) add_copy(r);
    } else if (list.ends_with("_api") || list.ends_with("_api_ext") ||
               list == "memory_allocation" || list == "scratch_memory") {
      if (gate_.lets_pass(r.start, r.end)) calls_.push_back({std::move(r), list == "marker_api"});
    }
  }

  void add_kernel(const RocprofRecord& r) {
    DeviceEvent e;
    e.start = {r.start};
    e.duration = {r.end - r.start};
    e.correlation = r.correlation;
    e.external_id = r.external;
    e.stream = track(r.stream ? *r.stream : r.queue);
    set_grid_in_threads(e, r.grid, r.workgroup);
    event_of_dispatch_.try_emplace(r.dispatch, recording_.device_events.size());
    events_.push_back({recording_.device_events.size(), r.kernel, r.agent, -1, -1, -1});
    recording_.device_events.push_back(e);
  }

  void add_copy(const RocprofRecord& r) {
    DeviceEvent e;
    e.start = {r.start};
    e.duration = {r.end - r.start};
    e.kind = DeviceEvent::Kind::copy;
    e.correlation = r.correlation;
    e.external_id = r.external;
    e.stream = track(r.stream.value_or(0));
    e.bytes = r.bytes;
    events_.push_back(
        {recording_.device_events.size(), -1, r.target, r.kind, r.operation, r.source});
    recording_.device_events.push_back(e);
  }

  /// A stream's or a queue's number; a handle too large to be one gets the next free.
  std::int32_t track(std::int64_t handle) {
    constexpr std::int64_t kLargest = 1 << 20;
    if (handle >= 0 && handle < kLargest) return static_cast<std::int32_t>(handle);
    return tracks_
        .try_emplace(
            handle, static_cast<std::int32_t>(kLargest + static_cast<std::int64_t>(tracks_.size())))
        .first->second;
  }

  std::int32_t device(std::int64_t handle) {
    if (const auto agent = agents_.find(handle); agent != agents_.end()) return agent->second;
    return track(handle < 0 ? 0 : handle);
  }

  [[nodiscard]] std::string_view operation(std::int64_t kind, std::int64_t number) const {
    if (kind < 0 || static_cast<std::size_t>(kind) >= kinds_.size()) return {};
    const RocprofKind& k = kinds_[static_cast<std::size_t>(kind)];
    if (number < 0 || static_cast<std::size_t>(number) >= k.operations.size()) return k.kind;
    return k.operations[static_cast<std::size_t>(number)];
  }

  std::uint32_t kernel(std::int64_t id) {
    const auto name = kernel_names_.find(id);
    return recording_.names.of(name != kernel_names_.end() ? kernel_name(name->second)
                                                           : std::string_view{});
  }

  void name_records() {
    for (const Event& named : events_) {
      DeviceEvent& e = recording_.device_events[named.index];
      if (e.kind == DeviceEvent::Kind::kernel) {
        e.name = kernel(named.kernel);
        e.device = device(named.agent);
      } else {
        const std::string_view direction = operation(named.kind, named.operation);
        e.name = recording_.names.of(direction);
        e.copy = copy_kind(direction);
        e.device = device(e.copy == CopyKind::device_to_host ? named.source : named.agent);
      }
    }
    for (const Call& call : calls_) {
      const RocprofRecord& r = call.record;
      if (call.marker) {
        const auto text = markers_.find(r.correlation);
        const std::uint32_t name =
            recording_.names.of(text != markers_.end() ? std::string_view(text->second)
                                                       : operation(r.kind, r.operation));
        recording_.annotations.push_back({{r.start}, {r.end - r.start}, name, false, r.thread});
        continue;
      }
      HostCall c;
      c.start = {r.start};
      c.duration = {r.end - r.start};
      const std::string_view name = operation(r.kind, r.operation);
      c.name = recording_.names.of(name);
      c.kind = call_kind(name);
      c.process = process_;
      c.thread = r.thread;
      c.correlation = r.correlation;
      c.bytes = r.bytes;
      if (c.kind == HostCall::Kind::graph_launch) graph_launches_.insert(c.correlation);
      recording_.calls.push_back(c);
    }
  }

  void place_counters() {
    for (const RocprofRecord& r : counted_) {
      auto event = event_of_dispatch_.find(r.dispatch);
      if (event == event_of_dispatch_.end()) {
        add_kernel(r);
        recording_.device_events.back().name = kernel(r.kernel);
        recording_.device_events.back().device = device(r.agent);
        event = event_of_dispatch_.find(r.dispatch);
      }
      std::map<std::int64_t, double> sums;
      for (const auto& [handle, value] : r.counters) sums[handle] += value;
      for (const auto& [handle, value] : sums) {
        const auto name = counter_names_.find(handle);
        if (name == counter_names_.end()) continue;
        recording_.counters.push_back({{r.start},
                                       recording_.names.of(name->second),
                                       value,
                                       static_cast<std::int64_t>(event->second)});
      }
    }
  }

  struct Event {
    std::size_t index = 0;
    std::int64_t kernel = -1;
    std::int64_t agent = -1;  // of a copy, where it goes
    std::int64_t kind = -1;
    std::int64_t operation = -1;
    std::int64_t source = -1;
  };
  struct Call {
    RocprofRecord record;
    bool marker = false;
  };

  Recording& recording_;
  JsonParser& json_;
  TimeGate& gate_;
  std::int64_t process_ = 0;
  std::int64_t count_ = 0;
  std::int64_t unreadable_ = 0;
  std::vector<RocprofKind> kinds_;
  std::unordered_map<std::int64_t, std::string> kernel_names_;
  std::unordered_map<std::int64_t, std::string> counter_names_;
  std::unordered_map<std::int64_t, std::string> markers_;
  std::unordered_map<std::int64_t, std::int32_t> agents_;
  std::unordered_map<std::int64_t, std::int32_t> tracks_;
  std::unordered_map<std::int64_t, std::size_t> event_of_dispatch_;
  std::unordered_set<std::int64_t> graph_launches_;
  std::vector<Event> events_;
  std::vector<Call> calls_;
  std::vector<RocprofRecord> counted_;
};

/// Reads the processes, each an object of the root's array, or the root itself.
class Rocprofv3Json {
 public:
  explicit Rocprofv3Json(const RecordingFile& file) : cursor_(file.text), json_(file.text) {
    recording_.format = "rocprofv3 json";
    recording_.profiler = "rocprofiler-sdk";
    recording_.file = file.name;
  }

  Recording read() {
    std::string_view key;
    if (cursor_.enter('{')) {
      while (cursor_.next_member(key)) {
        if (key != kRoot) {
          static_cast<void>(cursor_.value());
        } else if (cursor_.enter('[')) {
          while (cursor_.next_element()) read_process();
        } else {
          read_process();
        }
      }
    }
    gate_.tell(recording_);
    if (unreadable_ > 0)
      recording_.missing.push_back(std::to_string(unreadable_) +
                                   (unreadable_ == 1 ? " record is" : " records are") +
                                   " not JSON, left out");
    if (cursor_.damaged()) tell_of_damage();
    finish_rocm_recording(recording_);
    return std::move(recording_);
  }

 private:
  void read_process() {
    if (!cursor_.enter('{')) {
      static_cast<void>(cursor_.value());
      return;
    }
    Process process(recording_, json_, gate_);
    process.read(cursor_);
    process.finish();
    records_ += process.records();
    unreadable_ += process.unreadable();
  }

  void tell_of_damage() {
    const std::string where = "(byte " + std::to_string(cursor_.position()) + ")";
    if (recording_.device_events.empty() && recording_.calls.empty()) {
      throw core::ConfigError(recording_.file +
                              ": the JSON is damaged before its first kernel or call " + where);
    }
    recording_.missing.push_back("the file is damaged after record " + std::to_string(records_) +
                                 " " + where + "; the rest is lost");
  }

  Recording recording_;
  JsonCursor cursor_;
  JsonParser json_;
  TimeGate gate_;
  std::int64_t records_ = 0;
  std::int64_t unreadable_ = 0;
};

}  // namespace

bool recognizes_rocprofv3_json(const RecordingFile& file) {
  JsonCursor cursor(file.text);
  if (!cursor.enter('{')) return false;
  constexpr std::size_t kHead = std::size_t{1} << 12U;
  return file.text.substr(0, kHead).find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
}

Recording read_rocprofv3_json(const RecordingFile& file) { return Rocprofv3Json(file).read(); }

}  // namespace ridgeline::timeline
