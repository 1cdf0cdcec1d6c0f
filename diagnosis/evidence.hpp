#pragma once
// What is known about a slow server: any subset of the machine, the model, how it is served, what
// was measured from outside and what a profiler showed. Nothing is filled in here that nobody said;
// what follows from it is diagnosis/work.hpp.
//
// Two roads make one: `load_evidence` reads what a person typed, diagnosis/observe.hpp takes it
// from a timeline.

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config_library.hpp"
#include "core/quantity_text.hpp"
#include "diagnosis/value.hpp"
#include "hw/dtype.hpp"
#include "hw/gpu_spec.hpp"

namespace ridgeline::diagnosis {

struct Machine {
  std::string name;
  bool datasheet =
      false;  // read from a configuration: a dtype without a peak is one that the part lacks
  Maybe hbm_bandwidth;
  Maybe hbm_capacity;
  std::map<hw::Dtype, Value> peak;  // dense matrix rate
  // What the best kernels reach of the peaks on this part; 1 where nobody measured it.
  double hbm_sustained = 1.0;
  std::map<hw::Dtype, double> peak_sustained;
  Maybe devices;  // that share one copy of the model; absent means one
};

struct Model {
  std::string name;
  Maybe parameters;
  Maybe active_parameters;  // those a token passes through, for a mixture of experts
  Maybe weight_bytes;
  Maybe layers;
  Maybe hidden;
  Maybe heads;
  Maybe kv_heads;
  Maybe head_dim;
  std::optional<hw::Dtype> weight_dtype;
  std::optional<hw::Dtype> activation_dtype;
  std::optional<hw::Dtype> kv_cache_dtype;
};

/// How requests meet one another.
enum class Arrivals : std::uint8_t {
  one_at_a_time,  // the next comes when the last is done: nothing overlaps
  open,           // they come when they come
  saturated,      // there is always one more waiting
};

struct Serving {
  std::optional<Arrivals> arrivals;
  Maybe concurrency;              // sequences decoding together
  Maybe prompt_tokens;            // median
  Maybe output_tokens;            // median
  Maybe context_tokens;           // of a decoding sequence
  Maybe kv_bytes_per_sequence;    // somebody's own figure
  Maybe microbatch;               // training: sequences
  Maybe sequence_tokens;          // training: tokens of one
  Maybe prefill_tokens_per_step;  // prompt tokens that ride in a decode step
  Maybe kv_usage;                 // fraction of the KV blocks in use
  Maybe waiting;                  // requests queued
  Maybe preemptions;
};

struct Measured {
  Maybe throughput;  // output tokens per second, all sequences (training: tokens per second)
  Maybe throughput_per_sequence;
  Maybe ttft;
  Maybe itl;
  Maybe step_time;
};

/// What a profile covers.
enum class Window : std::uint8_t { decode, prefill, training };

/// Kernels by what a fix would do about them.
enum class KernelGroup : std::uint8_t {
  gemm,
  attention,
  norm,
  elementwise,
  cast,
  collective,
  copy,
  other
};
inline constexpr std::array<std::string_view, 8> kKernelGroupNames{
    "gemm", "attention", "norm", "elementwise", "cast", "collective", "copy", "other"};
[[nodiscard]] constexpr std::string_view name_of(KernelGroup g) {
  return kKernelGroupNames[static_cast<std::size_t>(g)];
}

struct Profile {
  std::optional<Window> window;
  Maybe flop_fraction;  // issued FLOP, padding included, as counters show it
  Maybe useful_flop_fraction;
  Maybe hbm_fraction;
  Maybe kernels_per_step;
  Maybe kernel_length;  // the range that kernels fall in, and so their mean
  Maybe gap_length;     // between consecutive kernels
  Maybe transient;      // largest allocation above the weights
  Maybe gemm_rows;      // M of the matrix products
  Maybe busy_time;      // of one step: some kernel runs
  Maybe gap_time;       // of one step: between kernels
  Maybe host_time;      // of one step: before its first kernel and after its last
  Maybe idle_fraction;  // of the run: no step at all
  std::map<KernelGroup, Value> kernel_time;  // shares of all kernel time
};

struct Evidence {
  std::string title;
  Machine machine;
  Model model;
  Serving serving;
  Measured measured;
  Profile profile;
  std::vector<std::string>
      proposals;  // fixes that somebody proposes, by their names in diagnosis/fixes
};

/// One quantity of the evidence: where it stands in YAML, and where in the struct.
struct Field {
  std::string_view section;
  std::string_view key;
  core::Dimension dimension;
  bool whole;  // counted, so that "1" is one and not 0.5 to 1.5
  Maybe& (*at)(Evidence&);
};
/// Every plain quantity, in the order in which errors and tests go through them.
[[nodiscard]] const std::vector<Field>& evidence_fields();

/// Makes a model from a reference by name. Evidence that names no model needs none.
using ModelByName = std::function<Model(const core::Node& reference)>;

/// The machine facts of a GPU, all of them read.
[[nodiscard]] Machine machine_from(const hw::GpuSpec& gpu);

/// Errors (ConfigError, with position): an unknown key or word, a missing unit, a value that cannot
/// be (a negative time, a fraction above one), a file with no quantity in it.
[[nodiscard]] Evidence read_evidence(const core::Node& document, const core::ConfigLibrary& library,
                                     const ModelByName& model_by_name = {});
[[nodiscard]] Evidence load_evidence(const std::filesystem::path& path,
                                     const core::ConfigLibrary& library,
                                     const ModelByName& model_by_name = {});

/// Throws ConfigError naming the first quantity that is negative, infinite or not a number.
void require_sensible(const Evidence& evidence);

}  // namespace ridgeline::diagnosis
