#include "bindings/run_fields.hpp"

#include <cstddef>

namespace ridgeline::bindings {
namespace {

constexpr const char* kInteger = "<i8";
constexpr const char* kCount = "<u4";

/// One column a cause: "compute_ns", "prefill_compute_ns".
void add_ledger(std::vector<Field>& fields, const std::string& prefix, std::size_t offset) {
  for (std::size_t i = 0; i < hw::kCauses; ++i)
    fields.push_back({prefix + std::string(hw::kCauseNames[i]) + "_ns", kInteger,
                      offset + i * sizeof(core::Nanoseconds)});
}

}  // namespace

Records request_records(const Result& result) {
  using R = sim::RequestRecord;
  std::vector<Field> fields{{"id", "<u8", offsetof(R, id)},
                            {"status", "|u1", offsetof(R, status)},
                            {"prompt_tokens", kInteger, offsetof(R, prompt_tokens)},
                            {"asked_tokens", kInteger, offsetof(R, asked_tokens)},
                            {"output_tokens", kInteger, offsetof(R, output_tokens)},
                            {"preemptions", kInteger, offsetof(R, preemptions)},
                            {"arrival_ns", kInteger, offsetof(R, arrival)},
                            {"scheduled_ns", kInteger, offsetof(R, scheduled)},
                            {"first_token_ns", kInteger, offsetof(R, first_token)},
                            {"last_token_ns", kInteger, offsetof(R, last_token)},
                            {"preempted_ns", kInteger, offsetof(R, preempted)}};
  add_ledger(fields, "prefill_", offsetof(R, until_first_token));
  add_ledger(fields, "decode_", offsetof(R, after_first_token));
  fields.push_back({"cached_tokens", kInteger, offsetof(R, cached_tokens)});
  return {result, result->requests, std::move(fields)};
}

Records step_records(const Result& result) {
  using R = sim::StepRecord;
  std::vector<Field> fields{{"start_ns", kInteger, offsetof(R, start)},
                            {"decode_sequences", kCount, offsetof(R, decode_sequences)},
                            {"decode_context", kCount, offsetof(R, decode_context)},
                            {"decode_longest", kCount, offsetof(R, decode_longest)},
                            {"prefill_sequences", kCount, offsetof(R, prefill_sequences)},
                            {"prefill_tokens", kCount, offsetof(R, prefill_tokens)},
                            {"prefill_context", kCount, offsetof(R, prefill_context)},
                            {"prefill_qk", kInteger, offsetof(R, prefill_qk)},
                            {"prefill_qq", kInteger, offsetof(R, prefill_qq)},
                            {"sampled", kCount, offsetof(R, sampled)}};
  add_ledger(fields, "", offsetof(R, ledger));
  return {result, result->steps, std::move(fields)};
}

Records counter_records(const Result& result) {
  using R = sim::CounterRecord;
  return {result,
          result->counters,
          {{"running", kCount, offsetof(R, running)},
           {"waiting", kCount, offsetof(R, waiting)},
           {"kv_blocks_used", kCount, offsetof(R, kv_blocks_used)},
           {"preemptions", kCount, offsetof(R, preemptions)}}};
}

Records token_gap_records(const Result& result) {
  using R = sim::TokenGap;
  return {result,
          result->token_gaps,
          {{"gap_ns", kInteger, offsetof(R, gap)}, {"count", "<u8", offsetof(R, count)}}};
}

}  // namespace ridgeline::bindings
