#pragma once
// Reads a profiler's file of whatever format. A new format is one file here and one line in the
// table of formats.cpp.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/recording.hpp"

namespace ridgeline::timeline {

/// What a reader gets: the file's bytes, already decompressed, or its path alone where a library
/// reads it (SQLite).
struct RecordingFile {
  std::filesystem::path path;  // "-" for standard input
  std::string name;            // what errors call it
  std::string_view text;       // decompressed; valid during the read
};

struct RecordingFormat {
  std::string_view name;
  std::string_view looks_like;  // for the error that lists what is understood
  bool (*recognizes)(const RecordingFile& file);
  /// Throws ConfigError, naming the place, for a file that is of this format but cannot be read; a
  /// damaged tail is dropped and said in `missing`.
  Recording (*read)(const RecordingFile& file);
};

/// In the order in which they are tried.
[[nodiscard]] const std::vector<RecordingFormat>& recording_formats();

/// Reads a file; gz or not, "-" is standard input. A directory of rocprofv3 CSV files is read as
/// one recording. Errors (ConfigError): missing, empty, unknown format (lists what is understood
/// and, for a file that is known not to be a timeline, says what it is), damaged beyond use.
[[nodiscard]] Recording read_recording(const std::filesystem::path& path);

}  // namespace ridgeline::timeline
