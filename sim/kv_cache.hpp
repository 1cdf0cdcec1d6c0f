#pragma once
// Paged KV cache: a sequence holds whole blocks of `block_size` tokens and takes one more when it
// outgrows them. Free blocks are handed out in the order in which they were freed, and a block
// keeps its contents until it is handed out (vLLM 0.19, vllm/v1/core/block_pool.py).
//
// Blocks that prompts share have names (workloads/shared_prefix.hpp) and count their users; one
// that nobody uses is free, and whoever asks for its name before it is handed out has it again. A
// preempted sequence that comes back finds what is left of its own blocks behind those. Blocks are
// freed tail first, so what is left is always a prefix and a count says it all.
//
// Left out: a block that two sequences compute at the same time is kept once (vLLM keeps both);
// blocks of answers have no names.

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

namespace ridgeline::sim {

class KvCache {
 public:
  using Names = std::span<const std::uint64_t>;

  KvCache(std::int64_t blocks, std::int64_t block_size);

  [[nodiscard]] std::int64_t blocks() const { return blocks_; }
  [[nodiscard]] std::int64_t block_size() const { return block_size_; }
  [[nodiscard]] std::int64_t free_blocks() const { return free_; }
  [[nodiscard]] std::int64_t used_blocks() const { return blocks_ - free_; }
  [[nodiscard]] std::int64_t blocks_for(std::int64_t tokens) const {
    return (tokens + block_size_ - 1) / block_size_;
  }

  /// Lets a sequence that holds `held` blocks grow to `tokens` tokens. False, and nothing changed,
  /// when there is no room.
  [[nodiscard]] bool grow(std::int64_t& held, std::int64_t tokens) {
    const std::int64_t more = blocks_for(tokens) - held;
    if (more > free_) return false;
    if (more > 0) {
      hand_out(more);
      held += more;
    }
    return true;
  }
  /// Takes all its blocks back; nobody will ask for their contents.
  void release(std::int64_t& held) {
    push_free(kNobody, held);
    held = 0;
  }

  // Blocks with names.
  struct Found {
    std::int64_t blocks = 0;  // the first so many of the names
    std::int64_t in_use = 0;  // of these: not among the free ones
  };
  [[nodiscard]] Found find(Names names) const;
  /// One user more for each of them; all must be there.
  void share(Names names);
  /// The blocks that a sequence holds as its own are called so from now on. Where another block
  /// already is, the sequence uses that one, and its own is free.
  void call(Names names);
  /// One user less for each of them.
  void leave(Names names);

  /// Takes all blocks of a preempted sequence back, the first `full` of which hold whole blocks of
  /// computed tokens that it will ask for again.
  void release_preempted(std::uint64_t owner, std::int64_t& held, std::int64_t full);
  /// Blocks from the first on that still hold what a preempted sequence left.
  [[nodiscard]] std::int64_t left_by(std::uint64_t owner) const;
  /// Gives it the first `blocks` of those back; the others are forgotten.
  void take_back(std::uint64_t owner, std::int64_t& held, std::int64_t blocks);

 private:
  /// Neighbours in the order of eviction that one sequence freed, or a block with a name.
  struct Run {
    std::uint64_t owner;
    std::int64_t blocks;
    bool named = false;  // `owner` is its name
  };
  struct Named {
    std::int64_t users = 0;
    std::list<Run>::iterator place;  // in the order of eviction, where it has no users
  };
  static constexpr std::uint64_t kNobody = UINT64_MAX;

  void push_free(std::uint64_t owner, std::int64_t blocks);
  void hand_out(std::int64_t blocks);
  void use(Named& block);

  std::int64_t blocks_;
  std::int64_t block_size_;
  std::int64_t free_;
  std::list<Run> order_;  // of eviction
  std::unordered_map<std::uint64_t, std::list<Run>::iterator> left_;
  std::unordered_map<std::uint64_t, Named> named_;
};

}  // namespace ridgeline::sim
