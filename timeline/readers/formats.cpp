#include "timeline/readers/formats.hpp"

#include <array>
#include <optional>
#include <system_error>

#include "core/error.hpp"
#include "timeline/readers/input.hpp"
#include "timeline/readers/kineto.hpp"
#include "timeline/readers/pmc_perf.hpp"
#include "timeline/readers/rocpd.hpp"
#include "timeline/readers/rocprof_csv.hpp"
#include "timeline/readers/rocprofv3_csv.hpp"
#include "timeline/readers/rocprofv3_json.hpp"
#include "timeline/readers/rpd.hpp"
#include "timeline/readers/sqlite.hpp"

namespace ridgeline::timeline {
namespace {

namespace fs = std::filesystem;

/// Files that people have at hand and that are not read; by the end of the name, or by how they
/// begin.
struct Refused {
  std::string_view ending;
  std::string_view beginning;
  std::string_view what;
};

constexpr std::array<Refused, 10> kRefused{{
    {".nsys-rep", "", "an Nsight Systems report; not read: record with the PyTorch profiler"},
    {".qdrep", "", "an Nsight Systems report; not read: record with the PyTorch profiler"},
    {".ncu-rep", "", "an Nsight Compute report of single kernels, not a timeline"},
    {".xplane.pb", "",
     "a JAX or TensorFlow profile (XPlane); not read: export it as a Chrome trace"},
    {".pftrace", "",
     "a Perfetto trace; not read: let rocprofv3 write json or rocpd (--output-format json)"},
    {".perfetto-trace", "",
     "a Perfetto trace; not read: let rocprofv3 write json or rocpd (--output-format json)"},
    {".otf2", "",
     "an OTF2 archive; not read: let rocprofv3 write json or rocpd (--output-format json)"},
    {".zip", "PK\x03\x04", "a zip archive; give the trace inside it"},
    {".zst", "\x28\xB5\x2F\xFD", "compressed with zstd; decompress it first (zstd -d)"},
    {".xz",
     "\xFD"
     "7zXZ",
     "compressed with xz; decompress it first (xz -d)"},
}};

std::optional<std::string_view> known_not_to_be_a_timeline(const RecordingFile& file) {
  for (const Refused& r : kRefused) {
    if (file.name.ends_with(r.ending) ||
        (!r.beginning.empty() && file.text.starts_with(r.beginning)))
      return r.what;
  }
  if (!is_sqlite(file)) return std::nullopt;
  if (const SqliteDatabase db(file);
      db.has("CUPTI_ACTIVITY_KIND_KERNEL") || db.has("CUPTI_ACTIVITY_KIND_RUNTIME")) {
    return "an Nsight Systems database; not read: record with the PyTorch profiler";
  }
  return "an SQLite database with the tables of neither rocpd nor RPD";
}

std::string understood() {
  std::string out;
  for (const RecordingFormat& f : recording_formats())
    out += "\n  " + std::string(f.name) + ": " + std::string(f.looks_like);
  return out;
}

}  // namespace

const std::vector<RecordingFormat>& recording_formats() {
  static const std::vector<RecordingFormat> formats{
      {"rocprofv3 json", "{\"rocprofiler-sdk-tool\": …}", recognizes_rocprofv3_json,
       read_rocprofv3_json},
      {"kineto",
       "the PyTorch profiler's trace.json[.gz], or a Chrome trace of rpd2tracing or rocprof",
       recognizes_kineto, read_kineto},
      {"rocpd", "rocprofv3's database, *_results.db", recognizes_rocpd, read_rocpd},
      {"rpd", "rocmProfileData's database, *.rpd", recognizes_rpd, read_rpd},
      {"rocprofiler-compute csv", "pmc_perf.csv", recognizes_pmc_perf, read_pmc_perf},
      {"rocprofv3 csv", "*_kernel_trace.csv and those beside it, or their directory",
       recognizes_rocprofv3_csv, read_rocprofv3_csv},
      {"rocprof csv", "results.csv of rocprof v1 or v2", recognizes_rocprof_csv, read_rocprof_csv},
  };
  return formats;
}

Recording read_recording(const fs::path& path) {
  RecordingFile file;
  file.path = path;
  file.name = path == "-" ? "standard input" : path.string();
  std::error_code error;
  const bool directory = path != "-" && fs::is_directory(path, error);
  InputText text;
  if (!directory && (path == "-" || !is_sqlite_file(path))) {
    text = load_input(path, file.name);
    file.text = text.view();
  }
  for (const RecordingFormat& format : recording_formats()) {
    if (!format.recognizes(file)) continue;
    Recording recording = format.read(file);
    recording.missing.insert(recording.missing.begin(), text.notes.begin(), text.notes.end());
    return recording;
  }
  if (directory)
    throw core::ConfigError(file.name +
                            ": a directory without rocprofv3's CSV files; give the file");
  if (const auto what = known_not_to_be_a_timeline(file))
    throw core::ConfigError(file.name + ": " + std::string(*what));
  throw core::ConfigError(file.name + ": not a recording that can be read; understood are" +
                          understood());
}

}  // namespace ridgeline::timeline
