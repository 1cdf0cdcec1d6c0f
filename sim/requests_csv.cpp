#include "sim/requests_csv.hpp"

#include <fmt/format.h>

#include <iterator>

#include "workloads/readers/csv.hpp"

namespace ridgeline::sim {
namespace {

constexpr RequestStatus kStatuses[] = {RequestStatus::finished, RequestStatus::refused,
                                       RequestStatus::interrupted};

std::string cause_column(std::string_view phase, std::size_t cause) {
  return fmt::format("{}_{}_ns", phase, hw::kCauseNames[cause]);
}

}  // namespace

std::string requests_csv(const std::vector<RequestRecord>& requests) {
  fmt::memory_buffer out;
  auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "id,status,prompt_tokens,asked_tokens,output_tokens,preemptions,arrival_ns,"
                 "scheduled_ns,first_token_ns,last_token_ns,"
                 "ttft_ns,e2e_ns,queue_ns,preempted_ns");
  for (const std::string_view phase : {"prefill", "decode"}) {
    for (std::size_t i = 0; i < hw::kCauses; ++i) fmt::format_to(to, ",{}", cause_column(phase, i));
  }
  fmt::format_to(to, ",cached_tokens\n");
  for (const RequestRecord& r : requests) {
    fmt::format_to(to, "{},{},{},{},{},{},{},{},{},{},{},{},{},{}", r.id, name_of(r.status),
                   r.prompt_tokens, r.asked_tokens, r.output_tokens, r.preemptions, r.arrival.ns,
                   r.scheduled.ns, r.first_token.ns, r.last_token.ns, r.ttft().count, r.e2e().count,
                   r.queue().count, r.preempted.count);
    for (const hw::Ledger* ledger : {&r.until_first_token, &r.after_first_token}) {
      for (const core::Nanoseconds part : ledger->by_cause) fmt::format_to(to, ",{}", part.count);
    }
    fmt::format_to(to, ",{}\n", r.cached_tokens);
  }
  return fmt::to_string(out);
}

std::vector<RequestRecord> parse_requests_csv(const std::string& text,
                                              const std::string& file_name) {
  workloads::CsvRows rows(workloads::TraceText{file_name, text});
  constexpr std::int64_t kMost = INT64_MAX;
  const auto column = [&](std::string_view name) { return rows.column(name); };
  const std::size_t id = column("id");
  const std::size_t status = column("status");
  const std::size_t prompt = column("prompt_tokens");
  const std::size_t asked = column("asked_tokens");
  const std::size_t output = column("output_tokens");
  const std::size_t preemptions = column("preemptions");
  const std::size_t arrival = column("arrival_ns");
  const std::size_t scheduled = column("scheduled_ns");
  const std::size_t first = column("first_token_ns");
  const std::size_t last = column("last_token_ns");
  const std::size_t preempted = column("preempted_ns");
  const std::size_t cached = column("cached_tokens");
  std::array<std::size_t, hw::kCauses> until{};
  std::array<std::size_t, hw::kCauses> after{};
  for (std::size_t i = 0; i < hw::kCauses; ++i) {
    until[i] = column(cause_column("prefill", i));
    after[i] = column(cause_column("decode", i));
  }

  std::vector<RequestRecord> out;
  while (rows.next()) {
    RequestRecord r;
    r.id = static_cast<std::uint64_t>(rows.count(id, kMost));
    if (r.id != out.size()) rows.fail(id, std::to_string(out.size()));
    bool known = false;
    for (const RequestStatus s : kStatuses) {
      if (rows.field(status) == name_of(s)) {
        r.status = s;
        known = true;
      }
    }
    if (!known) rows.fail(status, "finished, refused or interrupted");
    r.prompt_tokens = rows.count(prompt, kMost);
    r.asked_tokens = rows.count(asked, kMost);
    r.output_tokens = rows.count(output, kMost);
    r.preemptions = rows.count(preemptions, kMost);
    r.arrival.ns = rows.count(arrival, kMost);
    r.scheduled.ns = rows.count(scheduled, kMost);
    r.first_token.ns = rows.count(first, kMost);
    r.last_token.ns = rows.count(last, kMost);
    r.preempted.count = rows.count(preempted, kMost);
    r.cached_tokens = rows.count(cached, kMost);
    for (std::size_t i = 0; i < hw::kCauses; ++i) {
      r.until_first_token.by_cause[i].count = rows.count(until[i], kMost);
      r.after_first_token.by_cause[i].count = rows.count(after[i], kMost);
    }
    out.push_back(r);
  }
  return out;
}

}  // namespace ridgeline::sim
