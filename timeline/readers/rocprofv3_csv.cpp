#include "timeline/readers/rocprofv3_csv.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "core/error.hpp"
#include "timeline/readers/profiler_csv.hpp"
#include "timeline/readers/rocprofv3_csv_tables.hpp"

namespace ridgeline::timeline {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = std::uintmax_t{16} << 30U;
constexpr int kFoldersBelow = 2;

RocprofTable table_of(std::string_view text) { return rocprof_table(profiler_csv_header(text)); }

RocprofTable table_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head(std::size_t{1} << 16U, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return table_of(head);
}

struct Table {
  RocprofTable kind;
  fs::path path;
};

/// The directory's files of records: kernels first, for counters attach to kernels that are there
/// already, then by name, so that the same directory gives the same recording.
std::vector<Table> tables_in(const fs::path& directory) {
  std::vector<Table> out;
  std::error_code error;
  fs::recursive_directory_iterator it(directory, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it.depth() >= kFoldersBelow) it.disable_recursion_pending();
    std::error_code unknown;
    if (it->path().extension() != ".csv" || !it->is_regular_file(unknown)) continue;
    const RocprofTable kind = table_of_file(it->path());
    if (kind != RocprofTable::none && kind != RocprofTable::statistics)
      out.push_back({kind, it->path()});
  }
  std::sort(out.begin(), out.end(), [](const Table& a, const Table& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.path < b.path;
  });
  return out;
}

/// What the names of a process's files begin with: "host/4242" of "host/4242_kernel_trace.csv".
/// Empty for "kernel_trace.csv".
std::string process_of(const fs::path& file) {
  constexpr std::array<std::string_view, 17> kTables{"kernel_trace",
                                                     "counter_collection",
                                                     "memory_copy_trace",
                                                     "memory_allocation_trace",
                                                     "scratch_memory_trace",
                                                     "marker_api_trace",
                                                     "marker_trace",
                                                     "rccl_api_trace",
                                                     "rccl_trace",
                                                     "hsa_api_trace",
                                                     "hsa_trace",
                                                     "hip_api_trace",
                                                     "hip_runtime_api_trace",
                                                     "hip_runtime_trace",
                                                     "hip_compiler_api_trace",
                                                     "hip_compiler_trace",
                                                     "hip_trace"};
  const std::string stem = file.stem().string();
  std::size_t longest = 0;
  for (const std::string_view table : kTables) {
    if (stem.ends_with(table)) longest = std::max(longest, table.size());
  }
  const std::string prefix = longest == 0 ? "" : stem.substr(0, stem.size() - longest);
  return (file.parent_path() / prefix).string();
}

Recording read_directory(const RecordingFile& directory) {
  Recording recording;
  recording.format = "rocprofv3 csv";
  recording.file = directory.name;
  RocprofTables out(recording);
  for (const Table& table : tables_in(directory.path)) {
    const std::string text = core::read_text_file(table.path, kLargestFile);
    out.add(table.kind, table.path.filename().string(), text, process_of(table.path));
  }
  out.finish();
  return recording;
}

}  // namespace

bool recognizes_rocprofv3_csv(const RecordingFile& file) {
  std::error_code error;
  if (file.text.empty() && fs::is_directory(file.path, error)) return !tables_in(file.path).empty();
  return table_of(file.text) != RocprofTable::none;
}

Recording read_rocprofv3_csv(const RecordingFile& file) {
  std::error_code error;
  if (file.text.empty() && fs::is_directory(file.path, error)) return read_directory(file);
  const RocprofTable table = table_of(file.text);
  if (table == RocprofTable::statistics) {
    throw core::ConfigError(file.name +
                            ": kernel or API statistics, not a timeline; give the trace they were "
                            "made from, *_kernel_trace.csv");
  }
  Recording recording;
  recording.format = "rocprofv3 csv";
  recording.file = file.name;
  RocprofTables out(recording);
  out.add(table, file.name, file.text, "");
  out.finish();
  return recording;
}

}  // namespace ridgeline::timeline
