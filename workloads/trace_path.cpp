#include "workloads/trace_path.hpp"

#include <system_error>

#include "core/config_library.hpp"
#include "core/error.hpp"

namespace ridgeline::workloads {

void TracePath::require_file() const {
  const auto fail = [this](const std::string& sentence) {
    throw core::ConfigError(place.empty() ? sentence : place + ": " + sentence);
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    fail("expected the path of a trace file, got '" + path.string() + "'");
  if (!std::filesystem::exists(path, error)) fail("no such file: " + path.string());
}

TracePath read_trace_path(const core::Reader& in, std::string_view key) {
  constexpr const char* kExpected = "the path of a trace file";
  if (in.scalar(key, kExpected).empty()) in.fail(key, kExpected);
  const core::Node& written = in.raw(key);
  return {core::path_from(written), written.position.text() + ": " + in.path() +
                                        (in.path().empty() ? "" : ".") + std::string(key)};
}

}  // namespace ridgeline::workloads
