#pragma once
// Speculative decoding: every decode step checks `num_speculative_tokens` drafts of each sequence
// in one pass, and all up to the first wrong one are tokens, with one more from the pass itself.
//
//   speculative_config: {model: llama3_1b, num_speculative_tokens: 4, acceptance: 0.7}
//   speculative_config: {model: ngram, num_speculative_tokens: 4, acceptance: 0.5}
//
// A draft is right with a probability of `acceptance`, whatever stands before it (Leviathan et al.,
// ICML 2023, arXiv:2211.17192: the mean number of tokens a step is (1 - a^(k+1)) / (1 - a)). It is
// an input: no text is simulated, and no source gives it for a pair of models on all texts.
//
// As vLLM 0.19 does it (vllm/v1/spec_decode): a draft model runs with the same stack and the same
// tensor parallelism, once over what the model itself computed and then once a further draft; its
// weights and its KV cache stand beside the model's. N-grams are looked up by the host, which takes
// no device time and forbids asynchronous scheduling. Left out: drafts that the token budget or
// max_model_len cuts short, the host's time for n-grams, trees of drafts, drafting heads (EAGLE,
// Medusa, MTP).

#include <cstdint>
#include <optional>

#include "core/random.hpp"
#include "core/reader.hpp"
#include "workloads/model_spec.hpp"

namespace ridgeline::sim {

struct SpeculativeConfig {
  std::int64_t num_speculative_tokens = 0;
  double acceptance = 0.0;
  std::optional<workloads::ModelSpec> draft;  // none: n-grams

  bool operator==(const SpeculativeConfig&) const = default;

  /// Mean tokens of a step and sequence.
  [[nodiscard]] double tokens_per_step() const;
};

/// What `model` says for n-grams.
inline constexpr const char* kNgram = "ngram";

/// The map `in`, its model resolved. The draft must have the model's vocabulary.
[[nodiscard]] SpeculativeConfig read_speculative_config(const core::Reader& in,
                                                        const workloads::ModelSpec& model);

/// Which drafts are right: a function of (seed, request, place of the token in the answer).
class Acceptance {
 public:
  Acceptance(const SpeculativeConfig& config, std::uint64_t seed)
      : drafts_(config.num_speculative_tokens),
        probability_(config.acceptance),
        stream_(seed, "speculation") {}

  /// Of the drafts for the `place`-th token of the answer and those after it, how many are right
  /// before one is wrong.
  [[nodiscard]] std::int64_t accepted(std::uint64_t request, std::int64_t place) const;

 private:
  std::int64_t drafts_;
  double probability_;
  core::RandomStream stream_;
};

}  // namespace ridgeline::sim
