#pragma once
// A file that is there whole or not at all: written beside its place under another name, then
// renamed. A path that ends in .gz is compressed on the way.

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace ridgeline::timeline {

/// Calls `write` with a stream and puts what it wrote at `path`. If anything fails, what was at
/// `path` before is still there and nothing else is left. Errors: ConfigError naming the path (no
/// such directory, no permission, disk full), and whatever `write` throws.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

}  // namespace ridgeline::timeline
