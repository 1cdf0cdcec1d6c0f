#include "timeline/readers/rocpd_terms.hpp"

#include <algorithm>
#include <limits>

namespace ridgeline::timeline {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The earliest start of anything; 0 if there is nothing.
std::int64_t earliest(const Recording& r) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t base = kNone;
  for (const DeviceEvent& e : r.device_events) base = std::min(base, e.start.ns);
  for (const HostCall& c : r.calls) base = std::min(base, c.start.ns);
  for (const Operator& o : r.operators) base = std::min(base, o.start.ns);
  for (const Annotation& a : r.annotations) base = std::min(base, a.start.ns);
  return base == kNone ? 0 : base;
}

}  // namespace

HostCall::Kind call_kind(std::string_view f) {
  using Kind = HostCall::Kind;
  if (f.starts_with("hipGraphLaunch")) return Kind::graph_launch;
  // hipLaunchKernel, hipModuleLaunchKernel, hipExtLaunchMultiKernelMultiDevice, hipLaunchByPtr; not
  // hipLaunchHostFunc, which runs nothing on the device.
  if (f.starts_with("hip") && contains(f, "Launch") &&
      (contains(f, "Kernel") || f.starts_with("hipLaunchByPtr")))
    return Kind::launch;
  if (f.starts_with("hipMemcpy") || f.starts_with("hsa_amd_memory_async_copy") ||
      f == "hsa_memory_copy")
    return Kind::copy;
  // hipStreamWaitEvent makes a stream wait, not the host: it is not here.
  if (contains(f, "Synchronize") || f.starts_with("hsa_signal_wait")) return Kind::synchronize;
  if (f.starts_with("hipMalloc") || f.starts_with("hipHostMalloc") ||
      f.starts_with("hipExtMalloc") || f.starts_with("hipFree") || f.starts_with("hipHostFree") ||
      f.starts_with("hsa_amd_memory_pool_allocate") || f.starts_with("hsa_amd_memory_pool_free") ||
      f.starts_with("MEMORY_ALLOCATION") || f.starts_with("SCRATCH_MEMORY")) {
    return Kind::allocate;
  }
  return Kind::other;
}

CopyKind copy_kind(std::string_view d) {
  if (contains(d, "HOST_TO_DEVICE") || contains(d, "HostToDevice")) return CopyKind::host_to_device;
  if (contains(d, "DEVICE_TO_HOST") || contains(d, "DeviceToHost")) return CopyKind::device_to_host;
  if (contains(d, "DEVICE_TO_DEVICE") || contains(d, "DeviceToDevice"))
    return CopyKind::device_to_device;
  if (contains(d, "HOST_TO_HOST") || contains(d, "HostToHost")) return CopyKind::host_to_host;
  return CopyKind::unknown;
}

CopyKind copy_kind(std::int64_t hip_memcpy_kind) {
  switch (hip_memcpy_kind) {
    case 0:
      return CopyKind::host_to_host;
    case 1:
      return CopyKind::host_to_device;
    case 2:
      return CopyKind::device_to_host;
    case 3:
      return CopyKind::device_to_device;
    default:
      return CopyKind::unknown;
  }
}

std::string_view kernel_name(std::string_view symbol) {
  for (const std::string_view mark : {" [clone .kd]", " (.kd)", ".kd"}) {
    if (symbol.ends_with(mark)) return symbol.substr(0, symbol.size() - mark.size());
  }
  return symbol;
}

void set_grid_in_threads(DeviceEvent& event, const Sizes& grid, const Sizes& workgroup) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (grid[i] <= 0 || workgroup[i] <= 0) {
      event.workgroups = {};
      event.threads = {};
      return;
    }
    event.workgroups[i] = grid[i] / workgroup[i] + (grid[i] % workgroup[i] != 0 ? 1 : 0);
    event.threads[i] = to_int32(workgroup[i]);
  }
}

std::int32_t to_int32(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

std::int64_t ProcessScopes::scope_of(const std::string& process) {
  return scopes_.try_emplace(process, static_cast<std::int64_t>(scopes_.size())).first->second;
}

std::int64_t ProcessScopes::correlation(std::int64_t scope, std::int64_t id) {
  if (scope == 0 || id == 0) return id;
  constexpr std::int64_t kFirstRenamed = std::int64_t{1} << 40;
  const auto fresh = kFirstRenamed + static_cast<std::int64_t>(renamed_.size());
  return renamed_.try_emplace({scope, id}, fresh).first->second;
}

void ProcessScopes::tell(Recording& recording) const {
  if (scopes_.size() > 1)
    recording.missing.push_back(std::to_string(scopes_.size()) +
                                " processes are read as one recording");
}

void TimeGate::tell(Recording& recording) const {
  if (stopped_ == 0) return;
  recording.missing.push_back(
      std::to_string(stopped_) +
      (stopped_ == 1 ? " row that has no time, or ends before it starts, is left out"
                     : " rows that have no time, or end before they start, are left out"));
}

void finish_rocm_recording(Recording& r) {
  const core::Nanoseconds base{earliest(r)};
  for (DeviceEvent& e : r.device_events) e.start = e.start - base;
  for (HostCall& c : r.calls) c.start = c.start - base;
  for (Operator& o : r.operators) o.start = o.start - base;
  for (Annotation& a : r.annotations) a.start = a.start - base;
  for (CounterValue& c : r.counters) c.time = c.time - base;
  if (r.device_events.empty() && !r.calls.empty()) r.missing.emplace_back("no device events");
  if (r.calls.empty() && !r.device_events.empty()) r.missing.emplace_back("no runtime calls");
  finish_recording(r);
}

}  // namespace ridgeline::timeline
