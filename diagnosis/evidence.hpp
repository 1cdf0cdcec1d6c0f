#pragma once
// What is known about a slow server: any subset of the machine, the model, how it is served, what
// was measured from outside and what a profiler showed. Nothing is filled in here that nobody said;
// what follows from it is diagnosis/work.hpp.
//
// Two roads make one: diagnosis/evidence_reader.hpp reads what a person typed,
// diagnosis/observe.hpp takes it from a timeline.

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/quantity_text.hpp"
#include "diagnosis/value.hpp"
#include "hw/dtype.hpp"
#include "hw/gpu_spec.hpp"
#include "timeline/span.hpp"

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
  Maybe compute_units;
  Maybe link_bandwidth;    // between devices: what one sends, over all its links
  double link_rate = 0.0;  // by the datasheet: of the link between two devices, or of a port
  bool linked_in_pairs = false;
  Maybe host_bandwidth;  // to the host's memory, one way
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
inline constexpr std::array<std::string_view, 3> kArrivalsNames{"one_at_a_time", "open",
                                                                "saturated"};
[[nodiscard]] constexpr std::string_view name_of(Arrivals a) {
  return kArrivalsNames[static_cast<std::size_t>(a)];
}

/// The engine and its switches, in vLLM's words.
struct Engine {
  std::string name;
  std::optional<bool> enforce_eager;
  std::optional<bool> enable_prefix_caching;
  std::optional<bool> async_scheduling;  // the host works on the next step while the device runs
  Maybe max_num_seqs;
  Maybe max_num_batched_tokens;
  Maybe speculative_tokens;  // guessed a pass
  Maybe accepted_tokens;     // that a pass yields, the model's own token among them
  Maybe gpu_layers;          // share of the layers that are on the device
};

struct Memory {
  Maybe kv_bytes;           // of the whole KV cache of one copy
  Maybe kv_tokens;          // that it holds
  Maybe host_weight_bytes;  // weights that stay in the host's memory
  Maybe allocated;          // of one device
};

struct Serving {
  std::optional<Arrivals> arrivals;
  Maybe concurrency;              // sequences decoding together
  Maybe requests;                 // of the whole run
  Maybe request_rate;             // offered
  Maybe shared_prefix_tokens;     // of every prompt, the same
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
  Maybe total_throughput;     // prompt tokens counted too
  Maybe requests_per_second;  // finished
  Maybe ttft;
  Maybe ttft_p99;
  Maybe itl;
  Maybe itl_p99;
  Maybe latency;  // of a whole request
  Maybe step_time;
  Maybe flop_rate;       // of one device: useful, as model FLOP over time
  Maybe hbm_rate;        // of one device
  Maybe bytes_per_step;  // that all devices read from HBM in one step or for one token
};

/// What a profile covers.
enum class Window : std::uint8_t { decode, prefill, training, kernel };
inline constexpr std::array<std::string_view, 4> kWindowNames{"decode", "prefill", "training",
                                                              "kernel"};
[[nodiscard]] constexpr std::string_view name_of(Window w) {
  return kWindowNames[static_cast<std::size_t>(w)];
}

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
[[nodiscard]] KernelGroup group_of(timeline::KernelClass cls);

struct Profile {
  std::optional<Window> window;
  Maybe flop_fraction;  // issued FLOP, padding included, as counters show it
  Maybe useful_flop_fraction;
  Maybe hbm_fraction;
  Maybe kernels_per_step;
  Maybe kernel_length;           // the range that kernels fall in, and so their mean
  Maybe gap_length;              // between consecutive kernels
  Maybe transient;               // largest allocation above the weights
  Maybe gemm_rows;               // M of the matrix products
  Maybe busy_time;               // of one step: some kernel runs
  Maybe gap_time;                // of one step: between kernels
  Maybe host_time;               // of one step: before its first kernel and after its last
  Maybe idle_fraction;           // of the run: no step at all
  Maybe busy_fraction;           // of one step: some kernel runs
  Maybe host_fraction;           // of one step: the device waits for the host
  Maybe communication_fraction;  // of one step: collectives with nothing else running
  Maybe communication_time;
  Maybe transfer_time;   // of one step: copies between host and device, on the device's clock
  Maybe transfer_bytes;  // of one such copy
  Maybe transfer_rate;
  Maybe copy_call_time;   // of one step: the host inside calls that copy
  Maybe host_issue_time;  // of one step, on the host's clock: from its first launch to its last
  Maybe device_span;      // of one step, on the device's clock: from its first kernel to its last
  Maybe occupied;         // share of the compute units that the longest kernel's workgroups fill
  Maybe near_roof;        // share of kernel time at a roof that the machine sustains
  Maybe by_matrix;  // of the time at either roof: at the matrix roof, each kernel at its nearer
  Maybe host_path;  // of one step: on the path from launch to launch, kernels beside it or not
  Maybe clock_fraction;                      // of the rated clock, sustained
  Maybe imbalance;                           // work of the busiest device over the mean
  std::map<KernelGroup, Value> kernel_time;  // shares of all kernel time
};

/// One line of a kernel table, or a kernel measured alone.
struct KernelRow {
  std::string name;
  KernelGroup group = KernelGroup::other;
  Maybe calls;
  Maybe time;   // of all calls
  Maybe share;  // of all kernel time
  Maybe bytes;  // moved, of all calls; of a collective, the message of one call
  Maybe flop;   // of all calls
  Maybe occupied;
};

/// A change that somebody made, and what came of it.
struct Trial {
  struct Effect {
    std::string measure;  // key of Measured, or "speedup"
    Value gain;           // old time over new, new rate over old: above 1 is better
  };
  std::string change;           // a fix's name, or one of diagnosis/trials.hpp
  std::string when;             // "at 25 requests/s": for people
  std::vector<Effect> effects;  // the one that counts first
  bool with = true;             // the evidence's own numbers are those after the change
  std::string from;             // "trials[0]"
};

struct Evidence {
  std::string title;
  Machine machine;
  Model model;
  Engine engine;
  Serving serving;
  Memory memory;
  Measured measured;
  Profile profile;
  std::vector<KernelRow> kernels;
  std::vector<Trial> trials;
  std::vector<Evidence> sweep;  // the same server, some quantities changed; the last is in question
  std::vector<std::string> symptoms;  // words of diagnosis/symptoms.hpp
  std::vector<std::string>
      proposals;  // fixes that somebody proposes, by their names in diagnosis/fixes
};

/// One quantity of the evidence: where it stands in YAML, and where in the struct.
struct Field {
  std::string_view section;
  std::string_view key;
  core::Dimension dimension;
  bool whole;  // counted, so that "1" is one and not 0.5 to 1.5
  std::string_view meaning;
  Maybe& (*at)(Evidence&);

  [[nodiscard]] std::string path() const { return std::string(section) + "." + std::string(key); }
};
/// Every plain quantity, in the order in which errors and tests go through them.
[[nodiscard]] const std::vector<Field>& evidence_fields();
/// By "serving.concurrency" or "concurrency"; null when there is none.
[[nodiscard]] const Field* find_field(std::string_view path_or_key);

/// The machine facts of a GPU, all of them read.
[[nodiscard]] Machine machine_from(const hw::GpuSpec& gpu);

/// Throws ConfigError naming the first quantity that is negative, infinite or not a number.
void require_sensible(const Evidence& evidence);

}  // namespace ridgeline::diagnosis
