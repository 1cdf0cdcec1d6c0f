#include "timeline/writers/kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "timeline/name_index.hpp"
#include "timeline/writers/kineto_json.hpp"
#include "timeline/writers/output_file.hpp"

namespace ridgeline::timeline {
namespace {

/// Numbers that the tracing libraries give the calls ("cid" of HIP, "cbid" of CUDA).
struct CallId {
  std::string_view name;
  int id;
};
constexpr std::array<CallId, 6> kCallIds{{{"hipExtModuleLaunchKernel", 65},
                                          {"hipLaunchKernel", 107},
                                          {"hipModuleLaunchKernel", 169},
                                          {"hipGraphLaunch", 215},
                                          {"cudaLaunchKernel", 211},
                                          {"cudaGraphLaunch", 311}}};

/// Tensile kernels are launched by hipExtModuleLaunchKernel, whose grid counts threads, not blocks.
bool is_tensile(std::string_view name) { return name.starts_with("Cijk_"); }

std::string step_name(const StepSpan& step) {
  if (step.training) return fmt::format("ProfilerStep#{}", step.index);
  const std::int64_t q = step.tokens_per_decode;
  return fmt::format(
      "execute_{}_context_{}(sq{}sk{}sqsq{}sqsk{})_generation_{}(sq{}sk{}sqsq{}sqsk{})",
      step.prefill_tokens + step.decode_sequences * q, step.prefill_sequences, step.prefill_tokens,
      step.prefill_context, std::llround(step.prefill_qq), std::llround(step.prefill_qk),
      step.decode_sequences, step.decode_sequences * q, step.decode_context,
      step.decode_sequences * q * q, step.decode_context * q);
}

/// Holds one step until all of it is there, because a call says what kernel it launched, and writes
/// it.
class KinetoVisitor final : public SpanVisitor {
 public:
  KinetoVisitor(KinetoJson& json, bool cuda, const KinetoOptions& options)
      : json_(json),
        options_(options),
        cuda_(cuda),
        device_(options.device.value_or(cuda ? 0 : 2)),
        host_{options.host_process, options.host_process} {
    json_.name_process(host_.process, "python3", "CPU", host_.process);
    json_.name_thread(host_, "thread " + std::to_string(host_.thread) + " (python3)", host_.thread);
    json_.name_process(device_, "python3", "GPU " + std::to_string(device_), 5000000 + device_);
  }

  void on_step(const StepSpan& step) override {
    write_step();
    step_ = step;
  }

  void on_kernel(const KernelSpan& kernel) override {
    kernels_.push_back({kernel.start, kernel.duration, names_.of(kernel.name),
                        stream_of(kernel.stream), kernel.correlation, kernel.grid, kernel.block,
                        kernel.from_graph});
  }

  void on_runtime(const RuntimeSpan& call) override {
    calls_.push_back({call.start, call.duration, names_.of(call.name), call.correlation});
  }

  void on_counters(const CounterSample& sample) override {
    json_.counter("kv_cache_usage", host_, sample.time, sample.kv_usage);
    json_.counter("num_running", host_, sample.time, sample.running);
    json_.counter("num_waiting", host_, sample.time, sample.waiting);
    json_.counter("preemptions", host_, sample.time, sample.preemptions);
  }

  void write_step() {
    if (step_) {
      json_.slice("user_annotation", json_string(step_name(*step_)), host_, step_->start,
                  step_->duration, external_id());
    }
    index_correlations();
    if (options_.fold_dispatch_gaps) fold_dispatch_gaps();
    for (const Call& call : calls_) write_call(call);
    for (const Kernel& kernel : kernels_) write_kernel(kernel);
    if (step_) write_device_annotations();
    step_.reset();
    kernels_.clear();
    calls_.clear();
  }

 private:
  struct Kernel {
    core::Instant start;
    core::Nanoseconds duration;
    std::uint32_t name;
    std::uint32_t stream;  // index into streams_
    std::int64_t correlation;
    std::int64_t grid;
    std::int32_t block;
    bool from_graph;
    [[nodiscard]] core::Instant end() const { return start + duration; }
  };
  struct Call {
    core::Instant start;
    core::Nanoseconds duration;
    std::uint32_t name;
    std::int64_t correlation;
  };
  struct Stream {
    std::int32_t number;                 // the source's
    std::optional<core::Instant> end;    // of its last kernel written
    std::int64_t last_correlation = 0;   // and its launch
    std::optional<core::Instant> first;  // start of its first kernel of this step
  };
  using ByCorrelation = std::vector<std::pair<std::int64_t, std::size_t>>;

  /// Streams are written as 1, 2, … in the order in which they appear: some readers take stream 0
  /// for "not a stream".
  std::uint32_t stream_of(std::int32_t number) {
    for (std::uint32_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i].number == number) return i;
    }
    streams_.push_back({number, {}, 0, {}});
    const auto index = static_cast<std::uint32_t>(streams_.size() - 1);
    const Track track = track_of(index);
    json_.name_thread(track, fmt::format("stream {} ", track.thread), track.thread);
    return index;
  }
  [[nodiscard]] Track track_of(std::uint32_t stream) const {
    return {device_, static_cast<std::int64_t>(stream) + 1};
  }

  [[nodiscard]] std::string external_id() const {
    return step_ ? fmt::format("\"External id\":{}", step_->index + 1) : "";
  }

  /// First kernel and call of every correlation, sorted for look-up. A graph's kernels share one
  /// and come in a row.
  void index_correlations() {
    first_kernels_.clear();
    first_calls_.clear();
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const std::int64_t correlation = kernels_[i].correlation;
      if (i == 0 || correlation != kernels_[i - 1].correlation)
        first_kernels_.emplace_back(correlation, i);
    }
    for (std::size_t i = 0; i < calls_.size(); ++i)
      first_calls_.emplace_back(calls_[i].correlation, i);
    std::sort(first_kernels_.begin(), first_kernels_.end());
    std::sort(first_calls_.begin(), first_calls_.end());
  }
  template <class Span>
  [[nodiscard]] static const Span* find(const ByCorrelation& index, const std::vector<Span>& spans,
                                        std::int64_t correlation) {
    if (correlation == 0) return nullptr;  // the source does not know
    const auto at =
        std::lower_bound(index.begin(), index.end(), std::pair{correlation, std::size_t{0}});
    return at != index.end() && at->first == correlation ? &spans[at->second] : nullptr;
  }

  /// A kernel was waiting if its call returned before the one in front of it ended, or if both are
  /// of one graph.
  void fold_dispatch_gaps() {
    for (Kernel& kernel : kernels_) {
      Stream& stream = streams_[kernel.stream];
      if (stream.end && *stream.end < kernel.start) {
        const Call* call = find(first_calls_, calls_, kernel.correlation);
        const bool same_graph = kernel.from_graph && kernel.correlation == stream.last_correlation;
        if (same_graph || (call != nullptr && call->start + call->duration <= *stream.end)) {
          kernel.duration += kernel.start - *stream.end;
          kernel.start = *stream.end;
        }
      }
      stream.end = kernel.end();
      stream.last_correlation = kernel.correlation;
    }
  }

  /// The name a call has in this file, escaped: the vendor's, and Tensile's own way to launch.
  [[nodiscard]] std::string call_name(const Call& call, const Kernel* launched) const {
    const std::string& name = names_.text(call.name);
    if (cuda_ && name.starts_with("hip")) return "cuda" + name.substr(3);
    const bool tensile = launched != nullptr && is_tensile(names_.text(launched->name));
    return tensile && name == "hipLaunchKernel" ? "hipExtModuleLaunchKernel" : name;
  }

  void append_grid(const Kernel& kernel) {
    if (kernel.grid == 0 || kernel.block == 0) return;
    const bool in_threads = !cuda_ && is_tensile(names_.text(kernel.name));
    fmt::format_to(std::back_inserter(args_), ",\"grid\":[{},1,1],\"block\":[{},1,1]",
                   in_threads ? kernel.grid * kernel.block : kernel.grid, kernel.block);
  }
  [[nodiscard]] std::string_view args() const { return {args_.data(), args_.size()}; }

  void write_call(const Call& call) {
    const Kernel* launched = find(first_kernels_, kernels_, call.correlation);
    const bool eager_launch = launched != nullptr && !launched->from_graph;
    const std::string name = call_name(call, launched);
    args_.clear();
    if (eager_launch && step_) fmt::format_to(std::back_inserter(args_), "{},", external_id());
    for (const CallId& known : kCallIds) {
      if (known.name == name)
        fmt::format_to(std::back_inserter(args_), "\"{}\":{},", cuda_ ? "cbid" : "cid", known.id);
    }
    fmt::format_to(std::back_inserter(args_), "\"correlation\":{}", call.correlation);
    if (eager_launch && !cuda_) {
      fmt::format_to(std::back_inserter(args_), ",\"kernel\":{}", escaped(launched->name));
      append_grid(*launched);
      fmt::format_to(std::back_inserter(args_), ",\"shared memory\":0");
    }
    json_.slice("cuda_runtime", json_string(name), host_, call.start, call.duration, args());
    if (launched == nullptr || find(first_calls_, calls_, call.correlation) != &call) return;
    json_.flow_start(call.correlation, host_, call.start);
    json_.flow_finish(call.correlation, track_of(launched->stream), launched->start);
  }

  void write_kernel(const Kernel& kernel) {
    const Track track = track_of(kernel.stream);
    args_.clear();
    if (!kernel.from_graph && step_)
      fmt::format_to(std::back_inserter(args_), "\"External id\":{},", step_->index + 1);
    if (cuda_) fmt::format_to(std::back_inserter(args_), "\"queued\":0,\"context\":1,");
    fmt::format_to(std::back_inserter(args_), "\"device\":{},\"stream\":{},\"correlation\":{}",
                   device_, track.thread, kernel.correlation);
    const std::string_view kind = kernel.from_graph ? "Dispatch Task" : "Dispatch Kernel";
    if (!cuda_) fmt::format_to(std::back_inserter(args_), ",\"kind\":\"{}\"", kind);
    if (cuda_ || !kernel.from_graph)
      append_grid(kernel);  // roctracer loses a graph's grids, CUPTI keeps them
    json_.slice("kernel", escaped(kernel.name), track, kernel.start, kernel.duration, args());
  }

  /// One over the step's kernels on each stream.
  void write_device_annotations() {
    for (Stream& stream : streams_) stream.first.reset();
    for (const Kernel& kernel : kernels_) {
      Stream& stream = streams_[kernel.stream];
      if (!stream.first) stream.first = stream.end = kernel.start;
      stream.end = std::max(*stream.end, kernel.end());
    }
    const std::string name = json_string(step_name(*step_));
    for (std::uint32_t i = 0; i < streams_.size(); ++i) {
      if (!streams_[i].first) continue;
      const core::Instant first = *streams_[i].first;
      json_.slice("gpu_user_annotation", name, track_of(i), first, *streams_[i].end - first,
                  external_id());
    }
  }

  /// Escaped once a name, not once a kernel.
  [[nodiscard]] std::string_view escaped(std::uint32_t name) {
    while (escaped_.size() <= name)
      escaped_.push_back(json_string(names_.text(static_cast<std::uint32_t>(escaped_.size()))));
    return escaped_[name];
  }

  KinetoJson& json_;
  const KinetoOptions& options_;
  bool cuda_;
  std::int64_t device_;
  Track host_;
  NameIndex names_;
  std::vector<std::string> escaped_;  // by number in names_
  std::vector<Stream> streams_;

  std::optional<StepSpan> step_;  // the one being collected, and what belongs to it
  std::vector<Kernel> kernels_;
  std::vector<Call> calls_;
  ByCorrelation first_kernels_;
  ByCorrelation first_calls_;
  fmt::memory_buffer args_;
};

}  // namespace

void write_kineto(const SpanSource& source, Window window, std::ostream& out,
                  const KinetoOptions& options) {
  const DeviceInfo device = source.device();
  KinetoJson json(out, device, options);
  KinetoVisitor visitor(json, device.architecture.starts_with("sm_"), options);
  source.visit(window, visitor);
  visitor.write_step();
  json.finish(options.trace_name);
}

void write_kineto_file(const SpanSource& source, Window window, const std::filesystem::path& path,
                       const KinetoOptions& options) {
  write_file(path, [&](std::ostream& out) { write_kineto(source, window, out, options); });
}

}  // namespace ridgeline::timeline
