#include "workloads/workload_spec.hpp"

#include <utility>

#include "core/error.hpp"
#include "workloads/limits.hpp"
#include "workloads/sources/closed_loop_source.hpp"
#include "workloads/sources/dealt.hpp"
#include "workloads/sources/open_loop_source.hpp"
#include "workloads/sources/trace_source.hpp"
#include "workloads/trace_formats.hpp"

namespace ridgeline::workloads {
namespace {

constexpr const char* kKinds =
    "'trace', or 'arrivals' with 'requests', 'prompt_tokens' and 'output_tokens', or 'training'";

/// Rejects a key that belongs to another kind of workload than `kind`.
void reject_others(const core::Reader& in, std::string_view kind,
                   const std::vector<std::string_view>& others) {
  for (const std::string_view other : others) {
    if (!in.has(other)) continue;
    in.reject(other, "cannot stand beside '" + std::string(kind) + "': expected " + kKinds);
  }
}

TraceWorkload read_trace_workload(const core::Reader& in) {
  TraceWorkload out{.file = read_trace_path(in, "trace"), .limit = std::nullopt};
  if (in.has("requests")) out.limit = in.integer("requests", 1, kMostRequests);
  out.time_scale = in.get("time_scale", 1.0);
  in.require(out.time_scale > 0.0 && out.time_scale <= 1e6, "time_scale",
             "a factor above 0 and at most 1e6");
  if (in.has("gather")) out.gather = read_gather(in.child("gather"));
  return out;
}

GeneratedWorkload read_generated_workload(const core::Reader& in) {
  GeneratedWorkload out{.requests = in.integer("requests", 1, kMostRequests),
                        .arrivals = read_arrivals(in),
                        .prompt_tokens = read_length_law(in, TokenKind::prompt),
                        .output_tokens = read_length_law(in, TokenKind::output)};
  if (in.has("shared_prefix")) out.shared_prefix = read_shared_prefix(in.child("shared_prefix"));
  if (in.has("gather")) {
    if (std::holds_alternative<ClosedLoop>(out.arrivals))
      in.reject("gather", "clients of a closed loop are not gathered; give arrivals with a rate");
    out.gather = read_gather(in.child("gather"));
  }
  const auto rate = rate_of(out.arrivals);
  if (rate && static_cast<double>(out.requests) / *rate > kLongestSeconds) {
    in.reject("arrivals",
              std::to_string(out.requests) + " requests at this rate would take longer than 1e9 s");
  }
  return out;
}

TrainingWorkload read_training_workload(const core::Reader& workload) {
  const core::Reader in = workload.child("training");
  constexpr std::int64_t kMostSequences = 1'000'000;
  constexpr std::int64_t kMostAtOnce = 1'000'000'000;
  TrainingWorkload out{.microbatch = in.integer("microbatch", 1, kMostSequences),
                       .sequence = in.integer("sequence", 1, kMostTokens)};
  in.require(
      out.microbatch * out.sequence <= kMostAtOnce, "microbatch",
      "at most 1e9 tokens a step (microbatch x sequence of " + std::to_string(out.sequence) + ")");
  return out;
}

struct MakeSource {
  std::uint64_t seed;
  std::vector<std::string>& notes;

  std::unique_ptr<RequestSource> operator()(const TraceWorkload& spec) const {
    spec.file.require_file();
    TraceFile trace = read_trace(spec.file.path);
    const std::string name = spec.file.path.string();
    add(trace.notes(name));
    auto& requests = trace.requests;
    if (spec.limit) {
      const auto limit = static_cast<std::size_t>(*spec.limit);
      if (limit < requests.size()) {
        requests.resize(limit);
      } else if (limit > requests.size()) {
        notes.push_back(name + ": has " + std::to_string(requests.size()) +
                        " requests, fewer than the " + std::to_string(limit) + " asked for");
      }
    }
    const double span = requests.back().arrival.since_start().value() * spec.time_scale;
    if (span > kLongestSeconds) {
      throw core::ConfigError(name + ": expected a trace of at most 1e9 s, got " +
                              std::to_string(span) + " s after time_scale");
    }
    return std::make_unique<TraceSource>(std::move(requests), spec.time_scale);
  }

  std::unique_ptr<RequestSource> operator()(const GeneratedWorkload& spec) const {
    Lengths prompts(spec.prompt_tokens, TokenKind::prompt, seed);
    Lengths outputs(spec.output_tokens, TokenKind::output, seed);
    add(prompts.notes());
    if (outputs.notes() != prompts.notes())
      add(outputs.notes());  // both from one trace: say it once
    std::unique_ptr<RequestSource> own;
    if (const auto* loop = std::get_if<ClosedLoop>(&spec.arrivals)) {
      own = std::make_unique<ClosedLoopSource>(*loop, spec.requests, std::move(prompts),
                                               std::move(outputs));
    } else {
      own = std::make_unique<OpenLoopSource>(arrival_times(spec.arrivals, spec.requests, seed),
                                             std::move(prompts), std::move(outputs));
    }
    if (!spec.shared_prefix) return own;
    return with_shared_prefix(std::move(own), *spec.shared_prefix, seed);
  }

  /// What one of some servers gets.
  static std::unique_ptr<RequestSource> share(const TrainingWorkload&, Turn) {
    throw core::InvariantError("a training workload has steps, not requests");
  }
  template <class Spec>
  std::unique_ptr<RequestSource> share(const Spec& spec, Turn turn) const {
    auto all = (*this)(spec);
    if (spec.gather) return gathered(std::move(all), *spec.gather, turn);
    if (turn.of == 1) return all;
    return std::make_unique<DealtSource>(std::move(all), turn);
  }

  void add(const std::vector<std::string>& more) const {
    notes.insert(notes.end(), more.begin(), more.end());
  }
};

}  // namespace

WorkloadSpec read_workload_spec(const core::Reader& in) {
  if (in.has("trace")) {
    reject_others(in, "trace",
                  {"arrivals", "prompt_tokens", "output_tokens", "shared_prefix", "training"});
    return read_trace_workload(in);
  }
  if (in.has("training")) {
    reject_others(
        in, "training",
        {"requests", "arrivals", "prompt_tokens", "output_tokens", "shared_prefix", "gather"});
    return read_training_workload(in);
  }
  if (in.has("arrivals") || in.has("prompt_tokens") || in.has("output_tokens"))
    return read_generated_workload(in);
  const std::string path = in.path().empty() ? "workload" : in.path();
  std::string keys;
  for (const std::string& key : in.keys()) keys += (keys.empty() ? "" : ", ") + key;
  throw core::ConfigError(in.node().position.text() + ": " + path + ": expected " + kKinds +
                          ", got " + (keys.empty() ? "an empty map" : "only " + keys));
}

std::unique_ptr<RequestSource> make_request_source(const WorkloadSpec& spec, std::uint64_t seed,
                                                   std::vector<std::string>* notes, Turn turn) {
  std::vector<std::string> unread;
  const MakeSource make{seed, notes != nullptr ? *notes : unread};
  return std::visit([&](const auto& one) { return make.share(one, turn); }, spec);
}

}  // namespace ridgeline::workloads
