#pragma once
// Paged KV cache: a sequence holds whole blocks of `block_size` tokens and takes one more when it
// outgrows them. Blocks are interchangeable, so counting them is enough. Left out: prefix sharing.

#include <cstdint>

#include "core/error.hpp"

namespace ridgeline::sim {

class KvCache {
 public:
  KvCache(std::int64_t blocks, std::int64_t block_size)
      : blocks_(blocks), block_size_(block_size), free_(blocks) {}

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
      free_ -= more;
      held += more;
    }
    return true;
  }
  /// Takes all its blocks back.
  void release(std::int64_t& held) {
    free_ += held;
    held = 0;
    if (free_ > blocks_) throw core::InvariantError("more KV blocks returned than there are");
  }

 private:
  std::int64_t blocks_;
  std::int64_t block_size_;
  std::int64_t free_;
};

}  // namespace ridgeline::sim
