#include <fmt/format.h>

#include <array>
#include <functional>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "timeline/writers/kineto_json.hpp"
#include "timeline/writers/output_file.hpp"
#include "timeline/writers/rocprofv3.hpp"
#include "timeline/writers/rocprofv3_records.hpp"

namespace ridgeline::timeline {
namespace {

// rocprofiler_buffer_tracing_kind_t, as far as it is used here; records name their kind and
// operation by these numbers.
constexpr int kHipRuntimeApi = 5;
constexpr int kMemoryCopy = 10;
constexpr int kKernelDispatch = 11;
constexpr int kDispatchComplete = 2;
constexpr std::array<std::string_view, 12> kKinds{"NONE",
                                                  "HSA_CORE_API",
                                                  "HSA_AMD_EXT_API",
                                                  "HSA_IMAGE_EXT_API",
                                                  "HSA_FINALIZE_EXT_API",
                                                  "HIP_RUNTIME_API",
                                                  "HIP_COMPILER_API",
                                                  "MARKER_CORE_API",
                                                  "MARKER_CONTROL_API",
                                                  "MARKER_NAME_API",
                                                  "MEMORY_COPY",
                                                  "KERNEL_DISPATCH"};
constexpr std::array<std::string_view, 5> kCopies{
    "MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE",
    "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE"};
constexpr std::array<std::string_view, 3> kDispatches{
    "KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE"};

/// Visits one kind of span.
class OneKind final : public SpanVisitor {
 public:
  std::function<void(const KernelSpan&)> kernel;
  std::function<void(const RuntimeSpan&)> call;
  void on_kernel(const KernelSpan& k) override {
    if (kernel) kernel(k);
  }
  void on_runtime(const RuntimeSpan& c) override {
    if (call) call(c);
  }
};

class JsonWriter {
 public:
  JsonWriter(const SpanSource& source, Window window, std::ostream& out,
             const RocprofOptions& options)
      : source_(source), window_(window), out_(out), options_(options), contents_(source, window) {}

  void write() {
    put("{{\"rocprofiler-sdk-tool\":[{{\n\"metadata\":{{\"pid\":{},\"init_time\":{},\"fini_time\":{"
        "},\"command\":[\"python3\"]}},\n",
        options_.host_process, time(contents_.begin), time(contents_.end));
    write_agents();
    write_counters();
    write_strings();
    write_symbols();
    put("\"callback_records\":{{\"counter_collection\":[");
    if (contents_.any_counter) write_counter_collection();
    put("\n]}},\n\"buffer_records\":{{\"kernel_dispatch\":[");
    write_dispatches();
    put("\n],\"hip_api\":[");
    write_calls();
    put("\n],\"hsa_api\":[],\"marker_api\":[],\"rccl_api\":[],\"memory_copy\":[");
    if (contents_.copies > 0) write_copies();
    put("\n],\"memory_allocation\":[],\"scratch_memory\":[]}}\n}}]}}\n");
    flush();
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() >= kFlushAt) flush();
  }
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }
  [[nodiscard]] std::int64_t time(core::Instant t) const { return options_.base_time_ns + t.ns; }

  void write_agents() {
    const DeviceInfo device = source_.device();
    put("\"agents\":[{{\"size\":0,\"id\":{{\"handle\":0}},\"type\":1,\"node_id\":0,\"name\":"
        "\"CPU\",\"product_name\":\"CPU\"}},\n"
        "{{\"size\":0,\"id\":{{\"handle\":{0}}},\"type\":2,\"node_id\":{0},\"cu_count\":{1},\"wave_"
        "front_size\":{2},\"name\":{3},"
        "\"product_name\":{4}}}],\n",
        options_.agent, device.compute_units, device.wave_size, json_string(device.architecture),
        json_string(device.name));
  }

  void write_counters() {
    put("\"counters\":[");
    std::string_view separator;
    for (std::size_t i = 0; i < kRocprofCounters.size(); ++i) {
      if (!contents_.any_counter || !contents_.counted[i]) continue;
      put("{}\n{{\"agent_id\":{{\"handle\":{}}},\"id\":{{\"handle\":{}}},\"is_constant\":0,\"is_"
          "derived\":0,\"name\":\"{}\"}}",
          separator, options_.agent, i + 1, kRocprofCounters[i]);
      separator = ",";
    }
    put("],\n");
  }

  void write_strings() {
    put("\"strings\":{{\"callback_records\":[],\"buffer_records\":[");
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      put("{}\n{{\"kind\":\"{}\",\"operations\":[", kind == 0 ? "" : ",", kKinds[kind]);
      std::string_view separator;
      const auto operation = [&](std::string_view name) {
        put("{}{}", separator, json_string(name));
        separator = ",";
      };
      if (kind == kHipRuntimeApi) {
        for (std::uint32_t i = 0; i < contents_.functions.size(); ++i)
          operation(contents_.functions.text(i));
      }
      if (kind == kMemoryCopy) {
        for (const std::string_view name : kCopies) operation(name);
      }
      if (kind == kKernelDispatch) {
        for (const std::string_view name : kDispatches) operation(name);
      }
      put("]}}");
    }
    put("],\"marker_api\":[],\"counters\":{{\"dimension_ids\":[]}}}},\n");
  }

  /// Readers look a symbol up by its place, and ids begin at 1.
  void write_symbols() {
    put("\"code_objects\":[],\n\"kernel_symbols\":[\n{{\"kernel_id\":0,\"kernel_name\":\"\","
        "\"formatted_kernel_name\":\"\","
        "\"demangled_kernel_name\":\"\",\"truncated_kernel_name\":\"\"}}");
    for (std::uint32_t i = 0; i < contents_.kernel_names.size(); ++i) {
      put(",\n{{\"kernel_id\":{0},\"kernel_name\":{1},\"formatted_kernel_name\":{1},\"demangled_"
          "kernel_name\":{1},"
          "\"truncated_kernel_name\":{1}}}",
          i + 1, json_string(contents_.kernel_names.text(i)));
    }
    put("],\n\"host_functions\":[],\n");
  }

  /// What a dispatch is, without its times.
  void put_dispatch_info(const KernelSpan& k, std::int64_t dispatch) {
    const int ones = k.grid * k.block > 0 ? 1 : 0;
    put("\"correlation_id\":{{\"internal\":{},\"external\":0}},\"dispatch_info\":{{\"size\":0,"
        "\"agent_id\":{{\"handle\":{}}},\"queue_id\":"
        "{{\"handle\":{}}},\"kernel_id\":{},\"dispatch_id\":{},\"private_segment_size\":0,\"group_"
        "segment_size\":0,\"workgroup_size\":"
        "{{\"x\":{},\"y\":{},\"z\":{}}},\"grid_size\":{{\"x\":{},\"y\":{},\"z\":{}}}}}",
        k.correlation, options_.agent, k.stream, contents_.kernel_names.of(k.name) + 1, dispatch,
        k.block, ones, ones, k.grid * k.block, ones, ones);
  }

  /// Calls `record` for every kernel with its dispatch id, the same in each visit.
  void for_each_dispatch(const std::function<void(const KernelSpan&, std::int64_t)>& record) {
    OneKind visitor;
    std::int64_t dispatch = 0;
    visitor.kernel = [&](const KernelSpan& k) {
      if (rocprof_copy(k).empty()) record(k, ++dispatch);
    };
    source_.visit(window_, visitor);
  }

  void write_counter_collection() {
    for_each_dispatch([&](const KernelSpan& k, std::int64_t dispatch) {
      put("{}\n{{\"thread_id\":{},\"dispatch_data\":{{\"size\":0,", dispatch == 1 ? "" : ",",
          options_.host_process);
      put_dispatch_info(k, dispatch);
      put(",\"start_timestamp\":{},\"end_timestamp\":{}}},\"records\":[", time(k.start),
          time(k.end()));
      const RocprofCounters values = contents_.counters_of(k);
      std::string_view separator;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!contents_.counted[i]) continue;
        put("{}{{\"counter_id\":{{\"handle\":{}}},\"value\":{}}}", separator, i + 1, values[i]);
        separator = ",";
      }
      put("]}}");
    });
  }

  void write_dispatches() {
    for_each_dispatch([&](const KernelSpan& k, std::int64_t dispatch) {
      put("{}\n{{\"size\":0,\"kind\":{},\"operation\":{},\"thread_id\":{},\"start_timestamp\":{},"
          "\"end_timestamp\":{},",
          dispatch == 1 ? "" : ",", kKernelDispatch, kDispatchComplete, options_.host_process,
          time(k.start), time(k.end()));
      put_dispatch_info(k, dispatch);
      put(",\"stream_id\":{{\"handle\":{}}}}}", k.stream);
    });
  }

  void write_calls() {
    OneKind visitor;
    std::string_view separator;
    visitor.call = [&](const RuntimeSpan& c) {
      put("{}\n{{\"size\":0,\"kind\":{},\"operation\":{},\"thread_id\":{},\"correlation_id\":{{"
          "\"internal\":{},\"external\":0}},"
          "\"start_timestamp\":{},\"end_timestamp\":{}}}",
          separator, kHipRuntimeApi, contents_.functions.of(c.name), options_.host_process,
          c.correlation, time(c.start), time(c.start + c.duration));
      separator = ",";
    };
    source_.visit(window_, visitor);
  }

  void write_copies() {
    OneKind visitor;
    std::string_view separator;
    visitor.kernel = [&](const KernelSpan& k) {
      const std::string_view direction = rocprof_copy(k);
      if (direction.empty()) return;
      std::size_t operation = 0;
      while (kCopies[operation] != direction) ++operation;
      const bool from_host = direction.starts_with("MEMORY_COPY_HOST");
      const bool to_host = direction.ends_with("HOST");
      put("{}\n{{\"size\":0,\"kind\":{},\"operation\":{},\"thread_id\":{},\"correlation_id\":{{"
          "\"internal\":{},\"external\":0}},"
          "\"start_timestamp\":{},\"end_timestamp\":{},\"src_agent_id\":{{\"handle\":{}}},\"dst_"
          "agent_id\":{{\"handle\":{}}},"
          "\"stream_id\":{{\"handle\":{}}}}}",
          separator, kMemoryCopy, operation, options_.host_process, k.correlation, time(k.start),
          time(k.end()), from_host ? 0 : options_.agent, to_host ? 0 : options_.agent, k.stream);
      separator = ",";
    };
    source_.visit(window_, visitor);
  }

  static constexpr std::size_t kFlushAt = std::size_t{1} << 20U;
  const SpanSource& source_;
  Window window_;
  std::ostream& out_;
  const RocprofOptions& options_;
  RocprofContents contents_;
  fmt::memory_buffer buffer_;
};

}  // namespace

void write_rocprofv3_json(const SpanSource& source, Window window,
                          const std::filesystem::path& path, const RocprofOptions& options) {
  check_rocprof_device(source.device());
  write_file(path, [&](std::ostream& out) { JsonWriter(source, window, out, options).write(); });
}

}  // namespace ridgeline::timeline
