#pragma once
// A request inside the server.

#include <cstdint>
#include <span>
#include <vector>

#include "core/instant.hpp"
#include "workloads/request.hpp"

namespace ridgeline::sim {

struct Sequence {
  workloads::Request request;
  std::int64_t output_limit =
      0;                      // tokens it will produce: what was asked for, cut at max_model_len
  std::int64_t computed = 0;  // tokens whose keys and values stand in the cache
  std::int64_t generated = 0;
  std::int64_t in_flight = 0;  // steps already planned that bring it a token, or more with drafts
  std::int64_t accepted_in_flight = 0;  // drafts that those will turn out to have got right ...
  std::int64_t rejected_in_flight = 0;  // ... and wrong; the scheduler knows neither
  std::int64_t blocks = 0;              // KV blocks held
  std::int64_t unnamed = 0;  // of the blocks in `names`, from the last on: not held by name yet
  std::vector<std::uint64_t> names{};  // of the blocks of its prompt that others may have too

  /// Prompt and everything generated so far: what must be computed before the next token comes out.
  [[nodiscard]] std::int64_t known() const { return request.prompt_tokens + generated; }
  /// Tokens still to be planned for: one that is in flight is computed like one that is known.
  [[nodiscard]] std::int64_t outstanding() const {
    return known() + in_flight + accepted_in_flight - computed;
  }
  /// Computed tokens that no step in flight has yet to bring.
  [[nodiscard]] std::int64_t settled() const { return computed - in_flight - accepted_in_flight; }
  /// Whether the tokens in flight are its last, for all that is sure.
  [[nodiscard]] bool ends_in_flight() const {
    return in_flight > 0 && generated + in_flight >= output_limit;
  }
  [[nodiscard]] bool finished() const { return generated == output_limit; }
  /// Whether its next token is one more decode step, rather than (a chunk of) a prefill.
  [[nodiscard]] bool decodes() const { return generated + in_flight > 0 && outstanding() == 1; }
  /// Blocks held by name, from the first on.
  [[nodiscard]] std::int64_t named() const {
    return static_cast<std::int64_t>(names.size()) - unnamed;
  }
  [[nodiscard]] std::span<const std::uint64_t> held_names() const {
    return std::span(names).first(static_cast<std::size_t>(named()));
  }
  void hold_by_name(std::int64_t first) {
    unnamed = static_cast<std::int64_t>(names.size()) - first;
  }
};

}  // namespace ridgeline::sim
