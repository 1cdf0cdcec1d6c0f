#include "workloads/trace_path.hpp"

#include <string>
#include <system_error>

#include "core/config_library.hpp"

namespace ridgeline::workloads {

std::filesystem::path read_trace_path(const core::Reader& in, std::string_view key) {
  const std::string written = in.get<std::string>(key);
  const std::filesystem::path path = core::path_from(in.raw(key));
  std::error_code error;
  if (written.empty() || std::filesystem::is_directory(path, error)) in.fail(key, "the path of a trace file");
  if (!std::filesystem::exists(path, error)) in.reject(key, "no such file: " + path.string());
  return path;
}

}  // namespace ridgeline::workloads
