#pragma once
// Where prompts begin alike: a prompt is made of pieces, each the first tokens of an endless text
// that a number names, and goes on with text that no other prompt has. Two prompts are alike as far
// as their pieces are.
//
//   shared_prefix: {groups: 16, tokens: 1024}              one prefix of 16, all as likely
//   shared_prefix: {groups: 16, tokens: 1024, zipf: 1.0}   the n-th as likely as 1 / n^zipf
//
// A group's prefix comes before the prompt_tokens that are a request's own, as in vLLM's benchmark
// (`--random-prefix-len`, and `--dataset-name prefix_repetition` for several of them). Left out:
// conversations, whose next prompt repeats the answer to the one before.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/reader.hpp"
#include "workloads/request.hpp"

namespace ridgeline::workloads {

/// A name for each whole block of `block_size` tokens that other prompts may have too. Blocks of
/// equal names hold equal tokens and stand behind equal tokens (vLLM's chained block hashes, here
/// of 64 bits: among a million blocks two are taken for each other with a chance of 3e-8).
[[nodiscard]] std::vector<std::uint64_t> block_names(const std::vector<PromptPiece>& pieces,
                                                     std::int64_t block_size);

struct SharedPrefix {
  std::int64_t groups = 1;
  std::int64_t tokens = 1;
  double zipf = 0.0;  // 0: all groups are as likely
  bool operator==(const SharedPrefix&) const = default;
};

/// The map `in`.
[[nodiscard]] SharedPrefix read_shared_prefix(const core::Reader& in);

/// The requests of `own`, each behind its group's prefix. A request's group is a function of
/// (prefix, seed, its number).
[[nodiscard]] std::unique_ptr<RequestSource> with_shared_prefix(std::unique_ptr<RequestSource> own,
                                                                const SharedPrefix& prefix,
                                                                std::uint64_t seed);

}  // namespace ridgeline::workloads
