#pragma once
// What one forward pass holds. Only sums over its sequences, and the longest context: they are all
// that costs depend on, they are what vLLM's step annotation records, and a step of a thousand
// sequences takes no more room than a step of one.

#include <algorithm>
#include <cstdint>

namespace ridgeline::workloads {

struct StepShape {
  std::int64_t decode_sequences = 0;  // tokens_per_decode new tokens each
  std::int64_t decode_context = 0;    // sum of their context lengths, new tokens included
  std::int64_t prefill_sequences = 0;
  std::int64_t prefill_tokens = 0;     // sum of q, the new tokens of each
  std::int64_t prefill_context = 0;    // sum of k, the context of each after this step
  std::int64_t prefill_qk = 0;         // sum of q k
  std::int64_t prefill_qq = 0;         // sum of q q
  std::int64_t sampled = 0;            // tokens that get logits
  std::int64_t decode_longest = 0;     // largest decode context, where it is known
  std::int64_t tokens_per_decode = 1;  // with speculation its drafts too

  bool operator==(const StepShape&) const = default;

  [[nodiscard]] std::int64_t decode_tokens() const { return decode_sequences * tokens_per_decode; }
  [[nodiscard]] std::int64_t tokens() const { return decode_tokens() + prefill_tokens; }

  void add_decode(std::int64_t context) {
    ++decode_sequences;
    decode_longest = std::max(decode_longest, context);
    decode_context += context;
    sampled += tokens_per_decode;
  }
  /// `q` new tokens that end at position `context`; `completes` when the sequence's first token
  /// comes out.
  void add_prefill(std::int64_t q, std::int64_t context, bool completes) {
    ++prefill_sequences;
    prefill_tokens += q;
    prefill_context += context;
    prefill_qk += q * context;
    prefill_qq += q * q;
    if (completes) ++sampled;
  }
};

}  // namespace ridgeline::workloads
