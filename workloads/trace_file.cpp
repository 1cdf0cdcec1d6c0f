#include "workloads/trace_file.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace ridgeline::workloads {

std::vector<std::string> TraceFile::notes(const std::string& name) const {
  std::vector<std::string> out;
  const auto note = [&](std::uint64_t count, const std::string& what) {
    if (count == 0) return;
    out.push_back(name + ": " + std::to_string(count) + " of " + std::to_string(rows) + " rows " +
                  what);
  };
  note(without_output, "left out: no output tokens");
  note(without_prompt, "left out: no prompt tokens");
  note(out_of_order, "earlier than the row before; sorted by time");
  return out;
}

void TraceBuilder::add(std::int64_t clock_ns, std::int64_t prompt_tokens,
                       std::int64_t output_tokens, std::vector<PromptPiece> shared) {
  ++trace_.rows;
  if (clock_ns < last_ns_) ++trace_.out_of_order;
  last_ns_ = clock_ns;
  if (output_tokens == 0) {
    ++trace_.without_output;
  } else if (prompt_tokens == 0) {
    ++trace_.without_prompt;
  } else {
    trace_.requests.push_back({.id = 0,
                               .arrival = {clock_ns},
                               .prompt_tokens = prompt_tokens,
                               .output_tokens = output_tokens,
                               .shared = std::move(shared)});
  }
}

TraceFile TraceBuilder::finish(const std::string& name) && {
  if (trace_.rows == 0)
    throw core::ConfigError(name + ": expected requests, got a header and no rows");
  if (trace_.requests.empty()) {
    throw core::ConfigError(name + ": expected requests, got " + std::to_string(trace_.rows) +
                            " rows, each without prompt tokens or without output tokens");
  }
  auto& requests = trace_.requests;
  if (trace_.out_of_order > 0) {
    std::stable_sort(requests.begin(), requests.end(),
                     [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  }
  const std::int64_t origin = requests.front().arrival.ns;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].id = i;
    requests[i].arrival.ns -= origin;
  }
  return std::move(trace_);
}

}  // namespace ridgeline::workloads
