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
  std::int64_t blocks = 0;  // KV blocks held

  /// Prompt and everything generated so far: what must be computed before the next token comes out.
  [[nodiscard]] std::int64_t known() const { return request.prompt_tokens + generated; }
  [[nodiscard]] std::int64_t outstanding() const { return known() - computed; }
  /// Whether its next token is one more decode step, rather than (a chunk of) a prefill.
  [[nodiscard]] bool decodes() const { return generated > 0 && outstanding() == 1; }
};

}  // namespace ridgeline::sim
