#pragma once
// Published data too large to keep with the source: Azure's traces and others. Tests that read it
// say so and pass where there is none.

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>

namespace ridgeline::tests {

/// A file of the corpus: below $RIDGELINE_CORPUS if that is set, else where tests/CMakeLists.txt
/// says. Prints that it was skipped, and returns nothing, when the file is not there.
inline std::optional<std::filesystem::path> corpus(const std::filesystem::path& relative) {
  const char* set = std::getenv("RIDGELINE_CORPUS");
  const std::filesystem::path root = set != nullptr && *set != '\0' ? set : RIDGELINE_CORPUS;
  std::error_code error;
  if (std::filesystem::path found = root / relative; std::filesystem::is_regular_file(found, error))
    return found;
  std::cout << "skipped: no corpus (" << relative.string() << ")\n";
  return std::nullopt;
}

}  // namespace ridgeline::tests
