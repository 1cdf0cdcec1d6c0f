#pragma once
// The requests of a trace file, whatever its format: in order of arrival, the first at 0, and what
// was left out counted.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/request.hpp"

namespace ridgeline::workloads {

struct TraceFile {
  std::vector<Request> requests;     // by arrival; rows of equal time stay in file order
  std::uint64_t rows = 0;            // in the file, those left out included
  std::uint64_t without_output = 0;  // left out: nothing was generated (a failed request)
  std::uint64_t without_prompt = 0;  // left out: output but no prompt
  std::uint64_t out_of_order = 0;    // rows earlier than the row before them; sorted into place

  /// A sentence for each count above that is not zero.
  [[nodiscard]] std::vector<std::string> notes(const std::string& name) const;
};

/// A trace as a reader gets it: text that is neither empty nor binary, byte order mark removed.
struct TraceText {
  std::string name;  // what errors call it: the path
  std::string_view text;
};

/// Gathers the rows of a file in the file's own clock, then sorts, numbers and re-bases what is
/// left.
class TraceBuilder {
 public:
  /// `clock_ns` counts from any origin, within 292 years of it.
  void add(std::int64_t clock_ns, std::int64_t prompt_tokens, std::int64_t output_tokens,
           std::vector<PromptPiece> shared = {});
  /// Throws ConfigError when no request is left.
  [[nodiscard]] TraceFile finish(const std::string& name) &&;

 private:
  TraceFile trace_;
  std::int64_t last_ns_ = INT64_MIN;
};

}  // namespace ridgeline::workloads
