#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "timeline/writers/output_file.hpp"
#include "timeline/writers/rocprofv3.hpp"
#include "timeline/writers/rocprofv3_records.hpp"

namespace ridgeline::timeline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKernelHeader =
    R"("Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp",)"
    R"("End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y",)"
    R"("Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z")"
    "\n";
constexpr std::string_view kCallHeader =
    R"("Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp")"
    "\n";
constexpr std::string_view kCopyHeader =
    R"("Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp")"
    "\n";
constexpr std::string_view kCounterHeader =
    R"("Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size",)"
    R"("LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp",)"
    R"("End_Timestamp")"
    "\n";

std::string csv_field(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// A table being written: rows gather in memory until there are enough.
class Table {
 public:
  explicit Table(std::ostream* out) : out_(out) {}
  [[nodiscard]] bool wanted() const { return out_ != nullptr; }
  template <class... Args>
  void row(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() >= kFlushAt) flush();
  }
  void flush() {
    if (out_ != nullptr) out_->write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kFlushAt = std::size_t{1} << 20U;
  std::ostream* out_;
  fmt::memory_buffer buffer_;
};

class CsvVisitor final : public SpanVisitor {
 public:
  CsvVisitor(const RocprofOptions& options, RocprofContents& contents, Table& kernels, Table& calls,
             Table& copies, Table& counters)
      : options_(options),
        contents_(contents),
        kernels_(kernels),
        calls_(calls),
        copies_(copies),
        counters_(counters) {}

  void on_kernel(const KernelSpan& k) override {
    const std::int64_t start = options_.base_time_ns + k.start.ns;
    const std::int64_t end = start + k.duration.count;
    if (const std::string_view direction = rocprof_copy(k); !direction.empty()) {
      const bool from_host = direction.starts_with("MEMORY_COPY_HOST");
      const bool to_host = direction.ends_with("HOST");
      copies_.row("\"MEMORY_COPY\",\"{}\",{},\"Agent {}\",\"Agent {}\",{},{},{}\n", direction,
                  k.stream, from_host ? 0 : options_.agent, to_host ? 0 : options_.agent,
                  k.correlation, start, end);
      return;
    }
    ++dispatch_;
    const std::uint32_t id = contents_.kernel_names.of(k.name) + 1;
    const std::string& name = quoted_name(id);
    const std::int64_t threads = k.grid * k.block;
    const int ones = threads > 0 ? 1 : 0;
    kernels_.row(
        "\"KERNEL_DISPATCH\",\"Agent {}\",{},{},{},{},{},{},{},{},{},0,0,0,0,0,{},{},{},{},{},{}\n",
        options_.agent, k.stream, k.stream, options_.host_process, dispatch_, id, name,
        k.correlation, start, end, k.block, ones, ones, threads, ones, ones);
    if (!counters_.wanted()) return;
    const RocprofCounters values = contents_.counters_of(k);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!contents_.counted[i]) continue;
      counters_.row("{},{},\"Agent {}\",{},{},{},{},{},{},{},0,0,0,0,0,\"{}\",{},{},{}\n",
                    k.correlation, dispatch_, options_.agent, k.stream, options_.host_process,
                    options_.host_process, threads, id, name, k.block, kRocprofCounters[i],
                    rocprof_value(values[i]), start, end);
    }
  }

  void on_runtime(const RuntimeSpan& c) override {
    const std::int64_t start = options_.base_time_ns + c.start.ns;
    calls_.row("\"HIP_RUNTIME_API_EXT\",{},{},{},{},{},{}\n", csv_field(c.name),
               options_.host_process, options_.host_process, c.correlation, start,
               start + c.duration.count);
  }

 private:
  const std::string& quoted_name(std::uint32_t id) {
    while (quoted_.size() < id)
      quoted_.push_back(
          csv_field(contents_.kernel_names.text(static_cast<std::uint32_t>(quoted_.size()))));
    return quoted_[id - 1];
  }

  const RocprofOptions& options_;
  RocprofContents& contents_;
  Table& kernels_;
  Table& calls_;
  Table& copies_;
  Table& counters_;
  std::int64_t dispatch_ = 0;
  std::vector<std::string> quoted_;  // by kernel id - 1
};

/// Opens all files at once, one inside the other, so that a failure while they are written leaves
/// none of them.
void write_together(const std::vector<fs::path>& paths, std::vector<std::ostream*>& streams,
                    const std::function<void(const std::vector<std::ostream*>&)>& write) {
  if (streams.size() == paths.size()) return write(streams);
  write_file(paths[streams.size()], [&](std::ostream& out) {
    streams.push_back(&out);
    write_together(paths, streams, write);
  });
}

fs::path prefix_of(const fs::path& directory_or_prefix, std::int64_t process) {
  std::error_code error;
  if (!directory_or_prefix.has_filename())
    fs::create_directories(directory_or_prefix, error);  // write_file says if there is none
  const bool directory =
      !directory_or_prefix.has_filename() || fs::is_directory(directory_or_prefix, error);
  return directory ? directory_or_prefix / std::to_string(process) : directory_or_prefix;
}

}  // namespace

void write_rocprofv3_csv(const SpanSource& source, Window window,
                         const fs::path& directory_or_prefix, const RocprofOptions& options) {
  check_rocprof_device(source.device());
  RocprofContents contents(source, window);
  const fs::path prefix = prefix_of(directory_or_prefix, options.host_process);
  const auto named = [&](std::string_view table) {
    return fs::path(prefix.string() + std::string(table));
  };
  const fs::path copies_path = named("_memory_copy_trace.csv");
  const fs::path counters_path = named("_counter_collection.csv");
  std::vector<fs::path> paths{named("_kernel_trace.csv"), named("_hip_api_trace.csv")};
  if (contents.copies > 0) paths.push_back(copies_path);
  if (contents.any_counter) paths.push_back(counters_path);

  std::vector<std::ostream*> opened;
  write_together(paths, opened, [&](const std::vector<std::ostream*>& streams) {
    Table kernels(streams[0]);
    Table calls(streams[1]);
    Table copies(contents.copies > 0 ? streams[2] : nullptr);
    Table counters(contents.any_counter ? streams.back() : nullptr);
    kernels.row("{}", kKernelHeader);
    calls.row("{}", kCallHeader);
    copies.row("{}", kCopyHeader);
    counters.row("{}", kCounterHeader);
    CsvVisitor visitor(options, contents, kernels, calls, copies, counters);
    source.visit(window, visitor);
    for (Table* table : {&kernels, &calls, &copies, &counters}) table->flush();
  });
  // A folder is read as one recording: what an earlier timeline left there would be taken for this
  // one's.
  std::error_code ignored;
  if (contents.copies == 0) fs::remove(copies_path, ignored);
  if (!contents.any_counter) fs::remove(counters_path, ignored);
}

}  // namespace ridgeline::timeline
