#include "timeline/readers/runtime_calls.hpp"

#include "timeline/readers/rocpd_terms.hpp"

namespace ridgeline::timeline {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

HostCall::Kind cuda_call_kind(std::string_view name) {  // without its cuda or cu
  using Kind = HostCall::Kind;
  if (name.starts_with("GraphLaunch")) return Kind::graph_launch;
  // LaunchKernel, LaunchKernelExC, LaunchCooperativeKernel; not LaunchHostFunc, which runs nothing
  // on the device.
  if (name == "Launch" || (name.starts_with("Launch") && contains(name, "Kernel")))
    return Kind::launch;
  if (name.starts_with("Memcpy")) return Kind::copy;
  if (contains(name, "Synchronize")) return Kind::synchronize;
  for (const std::string_view begin :
       {"Malloc", "Free", "HostAlloc", "MemAlloc", "MemFree", "MemHostAlloc"}) {
    if (name.starts_with(begin)) return Kind::allocate;
  }
  return Kind::other;
}

bool has_prefix(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] >= 'A' &&
         name[prefix.size()] <= 'Z';
}

}  // namespace

HostCall::Kind runtime_call_kind(std::string_view function) {
  if (has_prefix(function, "cuda")) return cuda_call_kind(function.substr(4));
  if (has_prefix(function, "cu")) return cuda_call_kind(function.substr(2));
  return call_kind(function);
}

bool counts_grid_in_threads(std::string_view function) {
  return function == "hipExtModuleLaunchKernel" || function == "hipHccModuleLaunchKernel";
}

bool is_cuda_function(std::string_view function) {
  return has_prefix(function, "cuda") || has_prefix(function, "cu");
}

bool is_runtime_function(std::string_view function) {
  return has_prefix(function, "hip") || function.starts_with("hsa_") || is_cuda_function(function);
}

CopyKind copy_kind_in(std::string_view text) {
  if (text.size() == 1) return copy_kind(static_cast<std::int64_t>(text.front() - '0'));
  if (contains(text, "HtoD")) return CopyKind::host_to_device;
  if (contains(text, "DtoH")) return CopyKind::device_to_host;
  if (contains(text, "DtoD") || contains(text, "PtoP")) return CopyKind::device_to_device;
  if (contains(text, "HtoH")) return CopyKind::host_to_host;
  return copy_kind(text);
}

}  // namespace ridgeline::timeline
