#pragma once
// Everything a run leaves behind. Plain data: the timeline, the metrics and the diagnosis are
// computed from it.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/instant.hpp"
#include "hw/ledger.hpp"
#include "sim/memory_plan.hpp"
#include "sim/scenario.hpp"
#include "sim/step_record.hpp"

namespace ridgeline::sim {

enum class RequestStatus : std::uint8_t {
  finished,
  refused,      // its prompt is longer than max_model_len allows
  interrupted,  // the run was stopped before it was answered
};
[[nodiscard]] constexpr std::string_view name_of(RequestStatus status) {
  switch (status) {
    case RequestStatus::finished:
      return "finished";
    case RequestStatus::refused:
      return "refused";
    case RequestStatus::interrupted:
      return "interrupted";
  }
  return "";
}

struct RequestRecord {
  std::uint64_t id = 0;
  RequestStatus status = RequestStatus::interrupted;
  std::int64_t prompt_tokens = 0;
  std::int64_t asked_tokens = 0;   // output tokens asked for
  std::int64_t output_tokens = 0;  // produced
  std::int64_t preemptions = 0;
  core::Instant arrival;
  core::Instant scheduled;  // first step that worked on it began
  core::Instant first_token;
  core::Instant last_token;
  core::Nanoseconds preempted;  // time out of the running batch after a preemption
  // Where the time in the running batch went. Of a finished request, queue + preempted + both
  // ledgers = last_token - arrival, to the nanosecond.
  hw::Ledger until_first_token;
  hw::Ledger after_first_token;
  std::int64_t cached_tokens = 0;  // of its prompt, found in the prefix cache when it was admitted

  bool operator==(const RequestRecord&) const = default;

  [[nodiscard]] core::Nanoseconds queue() const { return scheduled - arrival; }
  [[nodiscard]] core::Nanoseconds ttft() const { return first_token - arrival; }
  [[nodiscard]] core::Nanoseconds e2e() const { return last_token - arrival; }
  /// Mean time between its tokens; zero for a single token.
  [[nodiscard]] core::Seconds tpot() const {
    if (output_tokens < 2) return core::Seconds{0.0};
    return (last_token - first_token).seconds() / static_cast<double>(output_tokens - 1);
  }
};

/// A gap between two tokens of one request, and how many requests had just that gap in the same
/// step.
struct TokenGap {
  core::Nanoseconds gap;
  std::uint64_t count = 0;
  bool operator==(const TokenGap&) const = default;
};

struct RunResult {
  Scenario scenario;
  MemoryPlan memory{hw::HbmLedger(core::Bytes{}), {}, 0};
  std::vector<RequestRecord> requests;  // by id
  std::vector<StepRecord> steps;        // in time order, never overlapping
  std::vector<CounterRecord> counters;  // one a step
  std::vector<TokenGap> token_gaps;     // pooled over requests
  std::int64_t preemptions = 0;
  std::int64_t drafts_checked = 0;  // tokens guessed ahead, of requests that had not finished
  std::int64_t drafts_accepted = 0;
  core::Nanoseconds extrapolated;  // of all steps: in kernels outside the sizes that were measured
  bool interrupted = false;
  std::vector<std::string> notes;  // what the user should know: rows dropped from the trace, ...

  /// Where the last step ended.
  [[nodiscard]] core::Instant end() const {
    return steps.empty() ? core::Instant{} : steps.back().end();
  }
  /// Share of the kernels' time that is outside the sizes or machines that were measured.
  [[nodiscard]] double extrapolated_share() const {
    const core::Nanoseconds busy = ledger().busy();
    return busy.count > 0 ? extrapolated.seconds() / busy.seconds() : 0.0;
  }
  /// Output tokens that a decode step brings each of its sequences, on average: one without drafts.
  [[nodiscard]] double tokens_per_decode() const;
  /// Output tokens of the steps that `chosen` says yes to; with drafts, by that average.
  template <class Chosen>
  [[nodiscard]] double output_tokens(Chosen&& chosen) const {
    const std::int64_t sampled_per_decode = scenario.engine.tokens_per_decode();
    std::int64_t decodes = 0;
    std::int64_t others = 0;
    for (const StepRecord& step : steps) {
      if (!chosen(step)) continue;
      decodes += step.decode_sequences;
      others += step.sampled - step.decode_sequences * sampled_per_decode;
    }
    return static_cast<double>(others) + static_cast<double>(decodes) * tokens_per_decode();
  }
  /// The steps' ledgers added up.
  [[nodiscard]] hw::Ledger ledger() const {
    hw::Ledger sum;
    for (const StepRecord& step : steps) sum += step.ledger;
    return sum;
  }
};

}  // namespace ridgeline::sim
