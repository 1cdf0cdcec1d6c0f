#include "timeline/writers/kineto_json.hpp"

#include <fmt/compile.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace ridgeline::timeline {
namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 20U;

/// Microseconds with three decimals, from the integer.
struct Micros {
  std::int64_t whole;
  std::int64_t thousandths;
  std::string_view sign;
};
Micros micros(std::int64_t ns) {
  // -0.5 us has whole part 0, which cannot carry the sign.
  return ns < 0 ? Micros{-(ns / 1000), -(ns % 1000), "-"} : Micros{ns / 1000, ns % 1000, ""};
}

struct Capability {
  int major = 0;
  int minor = 0;
};
/// gfx942 is 9.4 (the last digit is a stepping), gfx1100 is 11.0, sm_90 is 9.0, sm_100 is 10.0.
Capability capability_of(std::string_view architecture) {
  const bool amd = architecture.starts_with("gfx");
  if (!amd && !architecture.starts_with("sm_")) return {};
  std::string_view digits = architecture.substr(3);
  digits = digits.substr(0, digits.find_first_not_of("0123456789abcdef"));
  if (!amd) digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  const std::size_t behind_major = amd ? 2 : 1;
  if (digits.size() <= behind_major) return {};
  const std::size_t at = digits.size() - behind_major;
  Capability out;
  for (const char c : digits.substr(0, at)) out.major = out.major * 10 + (c - '0');
  out.minor = digits[at] - '0';
  return out;
}

/// The device as torch.cuda's properties have it. What the simulator does not know is a value every
/// device of its vendor shares.
nlohmann::ordered_json properties_of(const DeviceInfo& device, bool cuda) {
  const Capability capability = capability_of(device.architecture);
  nlohmann::ordered_json out{{"id", 0},
                             {"name", device.name},
                             {"totalGlobalMem", std::llround(device.memory.value())},
                             {"computeMajor", capability.major},
                             {"computeMinor", capability.minor},
                             {"maxThreadsPerBlock", 1024},
                             {"maxThreadsPerMultiprocessor", 2048},
                             {"regsPerBlock", 65536},
                             {"warpSize", device.wave_size}};
  out["sharedMemPerBlock"] = cuda ? 49152 : 65536;
  out["numSms"] = device.compute_units;
  if (cuda) {
    out["regsPerMultiprocessor"] = 65536;
  } else {
    out["maxSharedMemoryPerMultiProcessor"] = 65536;
  }
  return out;
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

KinetoJson::KinetoJson(std::ostream& out, const DeviceInfo& device, const KinetoOptions& options)
    : out_(out) {
  const bool cuda = device.architecture.starts_with("sm_");
  const std::string versions =
      cuda
          ? R"("cupti_version": 26,"cuda_runtime_version": 12090,"cuda_driver_version": 12090)"
          : R"("roctracer_version": 4.1,"hip_runtime_version": 70253211,"hip_driver_version": 70253211)";
  // HolisticTraceAnalysis finds the rank with "rank":\s+(\d+) and so needs the space.
  fmt::format_to(
      std::back_inserter(buffer_),
      "{{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{}],\n{},\n"
      "\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}, "
      "\"pg_count\": 0, \"pg_config\": []}},\n"
      "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": {},\n\"traceEvents\": [",
      properties_of(device, cuda).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
      versions, options.rank, options.world_size, options.base_time_ns);
}

void KinetoJson::begin_event() {
  if (buffer_.size() >= kFlushAt) flush();
  const std::string_view separator = first_ ? "\n" : ",\n";
  buffer_.append(separator.data(), separator.data() + separator.size());
  first_ = false;
}

void KinetoJson::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void KinetoJson::slice(std::string_view category, std::string_view name, Track track,
                       core::Instant start, core::Nanoseconds duration, std::string_view args) {
  begin_event();
  const Micros ts = micros(start.ns);
  const Micros dur = micros(duration.count);
  fmt::format_to(
      std::back_inserter(buffer_),
      FMT_COMPILE(
          R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{}{}.{:03},"dur":{}{}.{:03},"args":{{{}}}}})"),
      category, name, track.process, track.thread, ts.sign, ts.whole, ts.thousandths, dur.sign,
      dur.whole, dur.thousandths, args);
}

void KinetoJson::flow_start(std::int64_t id, Track track, core::Instant at) {
  begin_event();
  const Micros ts = micros(at.ns);
  fmt::format_to(
      std::back_inserter(buffer_),
      FMT_COMPILE(
          R"({{"ph":"s","id":{},"pid":{},"tid":{},"ts":{}{}.{:03},"cat":"ac2g","name":"ac2g"}})"),
      id, track.process, track.thread, ts.sign, ts.whole, ts.thousandths);
}

void KinetoJson::flow_finish(std::int64_t id, Track track, core::Instant at) {
  begin_event();
  const Micros ts = micros(at.ns);
  fmt::format_to(
      std::back_inserter(buffer_),
      FMT_COMPILE(
          R"({{"ph":"f","id":{},"pid":{},"tid":{},"ts":{}{}.{:03},"cat":"ac2g","name":"ac2g","bp":"e"}})"),
      id, track.process, track.thread, ts.sign, ts.whole, ts.thousandths);
}

void KinetoJson::counter(std::string_view name, Track track, core::Instant at, std::int64_t value) {
  begin_event();
  const Micros ts = micros(at.ns);
  fmt::format_to(
      std::back_inserter(buffer_),
      FMT_COMPILE(
          R"({{"ph":"C","cat":"server","name":"{0}","pid":{1},"tid":{2},"ts":{3}{4}.{5:03},"args":{{"{0}":{6}}}}})"),
      name, track.process, track.thread, ts.sign, ts.whole, ts.thousandths, value);
}

void KinetoJson::counter(std::string_view name, Track track, core::Instant at, double value) {
  begin_event();
  const Micros ts = micros(at.ns);
  fmt::format_to(
      std::back_inserter(buffer_),
      FMT_COMPILE(
          R"({{"ph":"C","cat":"server","name":"{0}","pid":{1},"tid":{2},"ts":{3}{4}.{5:03},"args":{{"{0}":{6}}}}})"),
      name, track.process, track.thread, ts.sign, ts.whole, ts.thousandths,
      std::isfinite(value) ? value : 0.0);  // JSON has no NaN
}

void KinetoJson::name_process(std::int64_t process, std::string_view name, std::string_view label,
                              std::int64_t sort_index) {
  const auto metadata = [&](std::string_view event, std::string_view key, std::string_view value) {
    begin_event();
    fmt::format_to(std::back_inserter(buffer_),
                   R"({{"ph":"M","name":"{}","pid":{},"tid":0,"ts":0.000,"args":{{"{}":{}}}}})",
                   event, process, key, value);
  };
  metadata("process_name", "name", json_string(name));
  metadata("process_labels", "labels", json_string(label));
  metadata("process_sort_index", "sort_index", std::to_string(sort_index));
}

void KinetoJson::name_thread(Track track, std::string_view name, std::int64_t sort_index) {
  const auto metadata = [&](std::string_view event, std::string_view key, std::string_view value) {
    begin_event();
    fmt::format_to(std::back_inserter(buffer_),
                   R"({{"ph":"M","name":"{}","pid":{},"tid":{},"ts":0.000,"args":{{"{}":{}}}}})",
                   event, track.process, track.thread, key, value);
  };
  metadata("thread_name", "name", json_string(name));
  metadata("thread_sort_index", "sort_index", std::to_string(sort_index));
}

void KinetoJson::finish(std::string_view trace_name) {
  fmt::format_to(std::back_inserter(buffer_), "\n],\n\"traceName\": {}\n}}\n",
                 json_string(trace_name));
  flush();
}

}  // namespace ridgeline::timeline
