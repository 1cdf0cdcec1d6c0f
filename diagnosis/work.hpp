#pragma once
// What the evidence implies: how long one unit of work took, which bytes and which arithmetic it
// cannot do without, and how many tokens it carried. A unit is one step (decode, training) or one
// prompt (prefill). Everything is per unit.
//
// Left out: mixtures of experts beyond their active parameters, and embeddings, which a
// multiply-add per parameter overcounts by a few per cent.

#include "diagnosis/evidence.hpp"

namespace ridgeline::diagnosis {

enum class Phase : std::uint8_t { prefill, decode, mixed, training, kernel };
[[nodiscard]] constexpr std::string_view name_of(Phase p) {
  switch (p) {
    case Phase::prefill:
      return "prefill";
    case Phase::decode:
      return "decode";
    case Phase::mixed:
      return "mixed";
    case Phase::training:
      return "training";
    case Phase::kernel:
      return "kernel";
  }
  return "";
}

/// What the FLOP counter's excess over the tokens' own arithmetic most likely is.
enum class FlopExcess : std::uint8_t { none, padding, prompt_tokens, unexplained };

struct Work {
  Window window = Window::decode;
  Phase phase = Phase::decode;

  Maybe time;       // of one unit
  Maybe bandwidth;  // of all devices that share the model
  Maybe peak;       // of all of them, at the dtype of the arithmetic
  Maybe link;       // that one device sends to the others, over all its links
  hw::Dtype dtype = hw::Dtype::bf16;

  Maybe parameters;    // a token passes through
  Maybe weight_bytes;  // resident
  Maybe weights_read;  // in one unit: of a mixture of experts, those that some token chose
  Maybe kv_per_token;  // bytes of cache; assumed from the model's size when its shape is unknown
  Maybe context;       // of one decoding sequence
  Maybe kv_expected;   // bytes that contexts as stated would read
  Maybe kv_read;     // bytes read, as far as the bandwidth counter allows where contexts were only
                     // stated
  Maybe bytes;       // weights and KV of one unit
  Maybe host_bytes;  // weights of one unit that are not on the device
  Maybe kv_room;     // bytes that the KV cache can have
  Maybe kv_demand;   // of the sequences that are to run together, over that room

  Maybe sequences;            // decoding, each yielding one token a step
  Maybe tokens;               // that pass through the weights in one unit
  Maybe tokens_implied;       // that the FLOP counter accounts for
  Maybe riding;               // prompt tokens among them
  Maybe token_rate;           // of all tokens, prompts too
  double prompt_share = 0.0;  // of all tokens, over the run
  double padding = 1.0;       // how far padding the rows of a matrix product can inflate its FLOP
  FlopExcess excess = FlopExcess::none;

  Maybe linear_flop;            // useful
  Maybe attention_flop;         // useful: what the causal mask leaves
  Maybe attention_flop_square;  // what computing the whole score matrix takes
  Maybe flop;                   // useful, all of it

  Maybe flop_expected;  // fraction of peak that the work as stated comes to
  Maybe hbm_expected;   // fraction of bandwidth, the same way

  Maybe score_bytes;          // score matrix of one layer
  bool materialised = false;  // the transient allocation is that matrix
};

/// KV bytes below this share of what a step reads are not worth a number.
inline constexpr double kTooLittleToSee = 0.002;

/// Times that a materialised score matrix crosses HBM: scores out and in, probabilities out and in.
inline constexpr double kScorePasses = 4.0;

/// From this share of prompt tokens on, a server's time is that of prefill.
inline constexpr double kMostlyPrompts = 0.8;

[[nodiscard]] Work work_of(const Evidence& evidence);

}  // namespace ridgeline::diagnosis
