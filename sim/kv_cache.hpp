#pragma once
// Paged KV cache: a sequence holds whole blocks of `block_size` tokens and takes one more when it
// outgrows them. Free blocks are handed out in the order in which they were freed, and a block
// keeps its contents until it is handed out (vLLM 0.19, vllm/v1/core/block_pool.py): a preempted
// sequence that comes back finds what is left of its own prefix. Its blocks are freed tail first,
// so what is left is always a prefix and a count says it all. Left out: prefixes that requests
// share.

#include <cstdint>
#include <list>
#include <unordered_map>

namespace ridgeline::sim {

class KvCache {
 public:
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

  /// Takes all blocks of a preempted sequence back, the first `full` of which hold whole blocks of
  /// computed tokens that it will ask for again.
  void release_preempted(std::uint64_t owner, std::int64_t& held, std::int64_t full);
  /// Blocks from the first on that still hold what a preempted sequence left.
  [[nodiscard]] std::int64_t left_by(std::uint64_t owner) const;
  /// Gives it the first `blocks` of those back; the others are forgotten.
  void take_back(std::uint64_t owner, std::int64_t& held, std::int64_t blocks);

 private:
  /// Neighbours in the order of eviction that one sequence freed.
  struct Run {
    std::uint64_t owner;
    std::int64_t blocks;
  };
  static constexpr std::uint64_t kNobody = UINT64_MAX;

  void push_free(std::uint64_t owner, std::int64_t blocks);
  void hand_out(std::int64_t blocks);

  std::int64_t blocks_;
  std::int64_t block_size_;
  std::int64_t free_;
  std::list<Run> order_;  // of eviction
  std::unordered_map<std::uint64_t, std::list<Run>::iterator> left_;
};

}  // namespace ridgeline::sim
