#include "hw/gpu_spec.hpp"

namespace ridgeline::hw {
namespace {

Dtype dtype_key(const core::Reader& in, const std::string& key) {
  std::vector<std::string> names;
  for (const auto& choice : dtype_names()) {
    if (choice.name == key) return choice.value;
    names.emplace_back(choice.name);
  }
  in.reject_key(key, "unknown dtype" + core::suggestion(key, names));
}

// Bounds far around every machine, within which times stay far inside the simulator's clock.

core::Bytes capacity(const core::Reader& in) {
  const auto value = in.get<core::Bytes>("capacity");
  in.require(value.value() > 0.0, "capacity", "a capacity above zero");
  in.require(value <= core::Bytes{1e18}, "capacity", "a capacity of at most 1e6 TB");
  return value;
}

core::BytesPerSecond bandwidth(const core::Reader& in, std::string_view key = "bandwidth") {
  const auto value = in.get<core::BytesPerSecond>(key);
  in.require(value >= core::BytesPerSecond{1e6}, key, "a bandwidth of at least 1 MB/s");
  in.require(value <= core::BytesPerSecond{1e18}, key, "a bandwidth of at most 1e6 TB/s");
  return value;
}

core::FlopPerSecond peak_rate(const core::Reader& in, const std::string& key) {
  const auto value = in.get<core::FlopPerSecond>(key);
  in.require(value >= core::FlopPerSecond{1e9}, key, "a rate of at least 1 GFLOP/s");
  in.require(value <= core::FlopPerSecond{1e21}, key, "a rate of at most 1e6 PFLOP/s");
  return value;
}

core::Seconds short_time(const core::Reader& in, std::string_view key) {
  const auto value = in.get<core::Seconds>(key);
  in.require(value <= core::Seconds{1.0}, key, "a time of at most 1 s");
  return value;
}

HbmSpec read_hbm(const core::Reader& in) {
  HbmSpec hbm;
  hbm.capacity = capacity(in);
  hbm.bandwidth = bandwidth(in);
  if (in.has("sustained")) hbm.sustained = in.fraction("sustained", 0.01, 1.0);
  if (in.has("ramp")) hbm.ramp = short_time(in, "ramp");
  return hbm;
}

CacheSpec read_cache(const core::Reader& in) {
  CacheSpec cache;
  cache.capacity = capacity(in);
  cache.bandwidth = bandwidth(in);
  if (in.has("resident")) cache.resident = in.fraction("resident");
  return cache;
}

}  // namespace

GpuSpec read_gpu_spec(const core::Reader& in) {
  GpuSpec gpu;
  gpu.name = in.get<std::string>("name");
  gpu.architecture = in.get<std::string>("architecture", "");
  gpu.compute_units = in.integer("compute_units", 1, 100000);
  gpu.dies = in.has("dies") ? in.integer("dies", 1, gpu.compute_units) : 1;
  gpu.wave_size = in.has("wave_size") ? in.integer("wave_size", 1, 1024) : 64;

  const core::Reader peak = in.child("peak");
  for (const std::string& key : peak.keys()) gpu.peak[dtype_key(peak, key)] = peak_rate(peak, key);
  for (const auto& choice : dtype_names()) gpu.sustained[choice.value] = 1.0;
  if (in.has("sustained")) {
    const core::Reader sustained = in.child("sustained");
    for (const std::string& key : sustained.keys()) {
      gpu.sustained[dtype_key(sustained, key)] = sustained.fraction(key, 0.01, 1.0);
    }
  }
  gpu.hbm = read_hbm(in.child("hbm"));
  gpu.cache = read_cache(in.child("cache"));
  const bool calibrated = in.get("calibrated", true);
  gpu.borrowed = in.get("borrowed", false);
  gpu.gemm = read_gemm_spec(in.child("gemm"), calibrated);
  const auto mechanism = [&](std::string_view key, const auto& read) {
    if (!in.has(key)) return;
    if (calibrated) {
      read(in.child(key));
    } else {
      static_cast<void>(in.raw(key));
    }
  };
  mechanism("attention", [&](const core::Reader& r) { gpu.attention = read_attention_spec(r); });
  mechanism("moe", [&](const core::Reader& r) { gpu.moe = read_moe_spec(r); });
  mechanism("passes", [&](const core::Reader& r) { gpu.passes = read_pass_spec(r); });
  if (in.has("power")) {
    const core::Reader power = in.child("power");
    const auto watts = [&](std::string_view key) {
      const double value = power.get<double>(key);
      power.require(value >= 0.0 && value <= 1e5, key, "watts from 0 to 100000");
      return value;
    };
    gpu.power = PowerSpec{watts("compute_watts"), watts("memory_watts"), watts("idle_watts")};
  }
  if (in.has("interconnect")) gpu.node = read_node_spec(in.child("interconnect"));
  if (in.has("host_link")) gpu.host_link = HostLinkSpec{bandwidth(in.child("host_link"), "rate")};
  // What people call it, and where the numbers come from: not the simulator's concern.
  for (const char* key : {"aliases", "sources"}) {
    if (in.has(key)) static_cast<void>(in.raw(key));
  }
  return gpu;
}

}  // namespace ridgeline::hw
