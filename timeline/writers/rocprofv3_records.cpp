#include "timeline/writers/rocprofv3_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "timeline/tensile.hpp"

namespace ridgeline::timeline {
namespace {

struct Word {
  std::string_view word;
  std::size_t counter;
};
/// Number formats as Tensile's names are understood, and as the other libraries write them into
/// theirs; the first that fits.
constexpr std::array<Word, 9> kTensileTypes{{{"bf16", 0},
                                             {"fp16", 1},
                                             {"fp8", 2},
                                             {"fp4", 3},
                                             {"int8", 4},
                                             {"int4", 4},
                                             {"fp32", 5},
                                             {"tf32", 5},
                                             {"fp64", 6}}};
constexpr std::array<Word, 9> kTypeWords{{{"bfloat16", 0},
                                          {"BFloat16", 0},
                                          {"bf16", 0},
                                          {"fp8", 2},
                                          {"Float8", 2},
                                          {"_BitInt(8)", 2},
                                          {"_Float16", 1},
                                          {"Half", 1},
                                          {"fp16", 1}}};
constexpr std::size_t kBf16 = 0;
constexpr std::size_t kVectorAdd = 7;

bool uses_matrix_cores(KernelClass c) {
  return c == KernelClass::gemm || c == KernelClass::attention ||
         c == KernelClass::attention_scores;
}

std::size_t matrix_counter(std::string_view name) {
  if (const std::optional<GemmTile> tile = gemm_tile(name)) {
    for (const Word& type : kTensileTypes) {
      if (tile->dtype == type.word) return type.counter;
    }
  }
  for (const Word& type : kTypeWords) {
    if (name.find(type.word) != std::string_view::npos) return type.counter;
  }
  return kBf16;
}

/// The largest whole number of requests of `size` bytes in `bytes`.
double whole_requests(double bytes, double size) { return std::floor(bytes / size); }

void count_reads(double bytes, RocprofCounters& counters) {
  double& bubbles = counters[kFirstTrafficCounter];  // requests of 128 bytes
  double& requests = counters[kFirstTrafficCounter + 1];
  double& small = counters[kFirstTrafficCounter + 2];  // of 32 bytes
  if (std::fmod(bytes, 1.0) !=
      0.0) {  // sums of three such numbers would round; one in a power of two does not
    bubbles = requests = bytes / 128.0;
    return;
  }
  bubbles = whole_requests(bytes, 128.0);
  const double rest = bytes - 128.0 * bubbles;
  const double middle = whole_requests(rest, 64.0);
  small = (rest - 64.0 * middle) / 32.0;
  requests = bubbles + middle + small;
}

void count_writes(double bytes, RocprofCounters& counters) {
  counters[kFirstTrafficCounter + 3] = counters[kFirstTrafficCounter + 4] = bytes / 64.0;
}

class ContentsVisitor final : public SpanVisitor {
 public:
  explicit ContentsVisitor(RocprofContents& contents) : contents_(contents) {}

  void on_kernel(const KernelSpan& kernel) override {
    see(kernel.start, kernel.end());
    if (!rocprof_copy(kernel).empty()) {
      ++contents_.copies;
      return;
    }
    ++contents_.kernels;
    const RocprofCounters counters = contents_.counters_of(kernel);
    for (std::size_t i = 0; i < counters.size(); ++i)
      contents_.counted[i] = contents_.counted[i] || counters[i] != 0.0;
  }
  void on_runtime(const RuntimeSpan& call) override {
    see(call.start, call.start + call.duration);
    static_cast<void>(contents_.functions.of(call.name));
  }

 private:
  void see(core::Instant begin, core::Instant end) {
    contents_.begin = any_ ? std::min(contents_.begin, begin) : begin;
    contents_.end = any_ ? std::max(contents_.end, end) : end;
    any_ = true;
  }
  RocprofContents& contents_;
  bool any_ = false;
};

}  // namespace

RocprofCounters RocprofContents::counters_of(const KernelSpan& kernel) {
  const std::uint32_t name = kernel_names.of(kernel.name);
  if (name == matrix_counters.size()) matrix_counters.push_back(matrix_counter(kernel.name));
  RocprofCounters counters{};
  const double issued = kernel.issued.value();
  if (uses_matrix_cores(kernel.cls)) {
    counters[matrix_counters[name]] = issued / 512.0;
  } else {
    counters[kVectorAdd] = issued / 64.0;
  }
  count_reads(kernel.hbm_read.value(), counters);
  count_writes(kernel.hbm_written.value(), counters);
  return counters;
}

std::string rocprof_value(double value) {
  const bool six_decimals_do = std::fmod(value * 64.0, 1.0) == 0.0;  // 1/64 is 0.015625
  return six_decimals_do ? fmt::format("{:.6f}", value) : fmt::format("{}", value);
}

std::string_view rocprof_copy(const KernelSpan& kernel) {
  if (!kernel.name.starts_with("Memcpy")) return {};
  const auto says = [&](std::string_view word) {
    return kernel.name.find(word) != std::string_view::npos;
  };
  if (says("HtoD")) return "MEMORY_COPY_HOST_TO_DEVICE";
  if (says("DtoH")) return "MEMORY_COPY_DEVICE_TO_HOST";
  if (says("HtoH")) return "MEMORY_COPY_HOST_TO_HOST";
  return "MEMORY_COPY_DEVICE_TO_DEVICE";
}

RocprofContents::RocprofContents(const SpanSource& source, Window window) {
  ContentsVisitor visitor(*this);
  source.visit(window, visitor);
  const std::string architecture = source.device().architecture;
  // Version 9.4, which the fifth letter holds, brought this set: CDNA 3. What came before has no
  // bubbles and other names.
  const bool has_these_counters =
      architecture.size() > 4 && architecture.starts_with("gfx9") && architecture[4] >= '4';
  any_counter =
      has_these_counters && std::any_of(counted.begin(), counted.end(), [](bool c) { return c; });
  // Traffic is counted in full or not at all: a formula over five counters needs all five.
  const bool traffic =
      std::any_of(counted.begin() + kFirstTrafficCounter, counted.end(), [](bool c) { return c; });
  std::fill(counted.begin() + kFirstTrafficCounter, counted.end(), traffic);
}

void check_rocprof_device(const DeviceInfo& device) {
  if (device.architecture.empty() || device.architecture.starts_with("gfx")) return;
  throw core::ConfigError("rocprofv3 records AMD devices; this timeline is of '" +
                          device.architecture + "'");
}

}  // namespace ridgeline::timeline
