#pragma once
// A request inside the server.

#include <cstdint>

#include "core/instant.hpp"
#include "workloads/request.hpp"

namespace ridgeline::sim {

struct Sequence {
  workloads::Request request;
  std::int64_t output_limit =
      0;                      // tokens it will produce: what was asked for, cut at max_model_len
  std::int64_t computed = 0;  // tokens whose keys and values stand in the cache
  std::int64_t generated = 0;
  std::int64_t in_flight = 0;  // tokens that steps already planned will bring
  std::int64_t blocks = 0;     // KV blocks held

  /// Prompt and everything generated so far: what must be computed before the next token comes out.
  [[nodiscard]] std::int64_t known() const { return request.prompt_tokens + generated; }
  /// Tokens still to be planned for: one that is in flight is computed like one that is known.
  [[nodiscard]] std::int64_t outstanding() const { return known() + in_flight - computed; }
  /// Whether the tokens in flight are its last.
  [[nodiscard]] bool ends_in_flight() const {
    return in_flight > 0 && generated + in_flight >= output_limit;
  }
  /// Whether its next token is one more decode step, rather than (a chunk of) a prefill.
  [[nodiscard]] bool decodes() const { return generated + in_flight > 0 && outstanding() == 1; }
};

}  // namespace ridgeline::sim
