#pragma once
// What the runtime's calls do, by name, CUDA's as well as HIP's; and what Kineto calls the
// directions of copies.

#include <string_view>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

[[nodiscard]] HostCall::Kind runtime_call_kind(std::string_view function);
/// Whether a launch counts its grid in threads, as hipExtModuleLaunchKernel does (globalWorkSize),
/// and not in workgroups.
[[nodiscard]] bool counts_grid_in_threads(std::string_view function);
/// Whether this is a function of a CUDA runtime or driver.
[[nodiscard]] bool is_cuda_function(std::string_view function);
/// Whether this is a function of any GPU runtime.
[[nodiscard]] bool is_runtime_function(std::string_view function);
/// "HtoD", "Memcpy DtoH (Device -> Pinned)", hipMemcpyKind as "2".
[[nodiscard]] CopyKind copy_kind_in(std::string_view text);

}  // namespace ridgeline::timeline
