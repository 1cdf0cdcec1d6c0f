#pragma once
// A trace named in a document. Whether a file is there is asked when the trace is read, not when
// the document is: a finished run is looked at without its trace.

#include <filesystem>
#include <string>
#include <string_view>

#include "core/reader.hpp"

namespace ridgeline::workloads {

struct TracePath {
  TracePath() = default;
  TracePath(std::filesystem::path file, std::string written_at = {})
      : path(std::move(file)), place(std::move(written_at)) {}

  std::filesystem::path path;
  std::string place;  // "s.yaml:6:10: workload.trace": where it was written, for an error; empty
                      // when nowhere

  /// The same file, wherever it was written.
  bool operator==(const TracePath& other) const { return path == other.path; }

  /// Throws ConfigError, pointing at the place, unless a file is there.
  void require_file() const;
};

/// The path at `key`, seen from the document's folder. ConfigError when it is empty.
[[nodiscard]] TracePath read_trace_path(const core::Reader& in, std::string_view key);

}  // namespace ridgeline::workloads
