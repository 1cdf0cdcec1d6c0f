#pragma once
// A trace named in a document.

#include <filesystem>
#include <string_view>

#include "core/reader.hpp"

namespace ridgeline::workloads {

/// The path at `key`, seen from the document's folder. Throws ConfigError, pointing at the key, unless a file is there.
[[nodiscard]] std::filesystem::path read_trace_path(const core::Reader& in, std::string_view key);

}  // namespace ridgeline::workloads
