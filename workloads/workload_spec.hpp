#pragma once
// What the server has to do: replay a trace, answer generated requests, or run training steps.
//
//   workload: {trace: conv.csv, requests: 1000, time_scale: 0.5}
//   workload: {requests: 1000, arrivals: {poisson: {rate: 5.5 /s}}, prompt_tokens: 512,
//   output_tokens: 128, shared_prefix: {groups: 16, tokens: 1024}, gather: {interval: 300 ms,
//   at_most: 96}}
//   workload: {training: {microbatch: 8, sequence: 4096}}

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/reader.hpp"
#include "workloads/arrivals.hpp"
#include "workloads/gather.hpp"
#include "workloads/lengths.hpp"
#include "workloads/request.hpp"
#include "workloads/shared_prefix.hpp"
#include "workloads/trace_path.hpp"

namespace ridgeline::workloads {

struct TraceWorkload {
  TracePath file;
  std::optional<std::int64_t> limit;  // the first so many requests
  double time_scale = 1.0;            // arrivals are multiplied by it: 0.5 doubles the rate
  std::optional<Gather> gather{};
  bool operator==(const TraceWorkload&) const = default;
};

struct GeneratedWorkload {
  std::int64_t requests = 1;
  ArrivalProcess arrivals;
  LengthLaw prompt_tokens;
  LengthLaw output_tokens;
  std::optional<SharedPrefix> shared_prefix{};  // before the prompt_tokens
  std::optional<Gather> gather{};
  bool operator==(const GeneratedWorkload&) const = default;
};

/// Not requests: forward and backward over `microbatch` sequences of `sequence` tokens.
struct TrainingWorkload {
  std::int64_t microbatch = 1;
  std::int64_t sequence = 1;
  bool operator==(const TrainingWorkload&) const = default;
};

using WorkloadSpec = std::variant<TraceWorkload, GeneratedWorkload, TrainingWorkload>;

/// The workload that the map `in` describes.
[[nodiscard]] WorkloadSpec read_workload_spec(const core::Reader& in);

/// The spec's requests, or of equal servers that take turns those of the one at `turn`; equal specs
/// and seeds give equal requests. A closed loop has one server. Appends what the user should
/// know about the trace to `notes` (rows left out, fewer requests than asked for). Throws
/// ConfigError for a trace that is missing or cannot be read, InvariantError for a training
/// workload, which has no requests.
[[nodiscard]] std::unique_ptr<RequestSource> make_request_source(
    const WorkloadSpec& spec, std::uint64_t seed, std::vector<std::string>* notes = nullptr,
    Turn turn = {});

}  // namespace ridgeline::workloads
