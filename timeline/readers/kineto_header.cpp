#include "timeline/readers/kineto_header.hpp"

#include <algorithm>

namespace ridgeline::timeline {
namespace {

namespace ondemand = simdjson::ondemand;

/// The family that a compute capability names: an AMD device says 9.4 for all of gfx94x, and 9.0
/// for too many to mean anything.
std::string architecture_of(std::string_view name, std::int64_t major, std::int64_t minor) {
  if (name.starts_with("NVIDIA") || name.starts_with("Tesla"))
    return "sm_" + std::to_string(major) + std::to_string(minor);
  if (major >= 9 && minor > 0) return "gfx" + std::to_string(major) + std::to_string(minor);
  return {};
}

DeviceInfo device_of(ondemand::object properties) {
  DeviceInfo device;
  std::int64_t major = 0;
  std::int64_t minor = 0;
  static_cast<void>(for_each_member(properties, [&](std::string_view key, ondemand::value& value) {
    if (key == "name") device.name = string_of(value);
    if (key == "numSms") device.compute_units = integer_of(value).value_or(0);
    if (key == "warpSize") device.wave_size = integer_of(value).value_or(64);
    if (key == "totalGlobalMem")
      device.memory = core::Bytes{static_cast<double>(integer_of(value).value_or(0))};
    if (key == "computeMajor") major = integer_of(value).value_or(0);
    if (key == "computeMinor") minor = integer_of(value).value_or(0);
    return true;
  }));
  device.architecture = architecture_of(device.name, major, minor);
  return device;
}

void read_devices(ondemand::document& document, Recording& recording) {
  ondemand::array list;
  if (document.get_array().get(list) != simdjson::SUCCESS) return;
  recording.devices.clear();
  for (auto item : list) {
    ondemand::object properties;
    if (item.get_object().get(properties) != simdjson::SUCCESS) return;
    recording.devices.push_back(device_of(properties));
  }
}

void read_ranks(ondemand::document& document, Recording& recording) {
  ondemand::object info;
  if (document.get_object().get(info) != simdjson::SUCCESS) return;
  static_cast<void>(for_each_member(info, [&](std::string_view key, ondemand::value& value) {
    if (key == "rank") recording.rank = integer_of(value).value_or(-1);
    if (key == "world_size")
      recording.world_size = std::max<std::int64_t>(1, integer_of(value).value_or(1));
    return true;
  }));
}

}  // namespace

void read_kineto_header(std::string_view key, std::string_view value, JsonParser& json,
                        Recording& recording) {
  if (key == "baseTimeNanoseconds") {
    recording.base_unix_ns = integer_in(bare(value)).value_or(0);
  } else if (key == "with_stack") {
    recording.with_stack = bare(value) != "0" && bare(value) != "false";
  } else if (key == "roctracer_version") {
    recording.profiler = "roctracer " + std::string(bare(value));
  } else if (key == "rocprofiler-sdk_version") {
    recording.profiler = "rocprofiler-sdk " + std::string(bare(value));
  } else if (key == "cupti_version") {
    recording.profiler = "CUPTI " + std::string(bare(value));
    recording.cuda = true;
  } else if (key == "cuda_runtime_version") {
    recording.cuda = true;
  } else if (key == "deviceProperties" || key == "distributedInfo") {
    ondemand::document document;
    if (json.parse(value).get(document) != simdjson::SUCCESS) return;
    if (key == "deviceProperties") read_devices(document, recording);
    if (key == "distributedInfo") read_ranks(document, recording);
  }
}

}  // namespace ridgeline::timeline
