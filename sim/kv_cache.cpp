#include "sim/kv_cache.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace ridgeline::sim {

KvCache::KvCache(std::int64_t blocks, std::int64_t block_size)
    : blocks_(blocks), block_size_(block_size), free_(0) {
  push_free(kNobody, blocks);
}

KvCache::Found KvCache::find(Names names) const {
  Found found;
  for (const std::uint64_t name : names) {
    const auto it = named_.find(name);
    if (it == named_.end()) break;
    ++found.blocks;
    if (it->second.users > 0) ++found.in_use;
  }
  return found;
}

void KvCache::use(Named& block) {
  if (block.users++ > 0) return;
  order_.erase(block.place);
  --free_;
}

void KvCache::share(Names names) {
  for (const std::uint64_t name : names) {
    const auto it = named_.find(name);
    if (it == named_.end()) throw core::InvariantError("a KV block is shared that is not there");
    use(it->second);
  }
}

void KvCache::call(Names names) {
  for (const std::uint64_t name : names) {
    const auto [it, fresh] = named_.try_emplace(name);
    if (fresh) {
      it->second.users = 1;
    } else {
      use(it->second);
      push_free(kNobody, 1);
    }
  }
}

void KvCache::leave(Names names) {
  for (auto name = names.rbegin(); name != names.rend(); ++name) {  // the tail goes first
    const auto it = named_.find(*name);
    if (it == named_.end() || it->second.users == 0)
      throw core::InvariantError("a KV block is left that nobody uses");
    if (--it->second.users > 0) continue;
    ++free_;
    order_.push_back({*name, 1, true});
    it->second.place = std::prev(order_.end());
  }
}

void KvCache::release_preempted(std::uint64_t owner, std::int64_t& held, std::int64_t full) {
  const std::int64_t kept = std::min(full, held);
  push_free(kNobody, held - kept);
  push_free(owner, kept);
  held = 0;
}

std::int64_t KvCache::left_by(std::uint64_t owner) const {
  if (left_.empty()) return 0;
  const auto it = left_.find(owner);
  return it == left_.end() ? 0 : it->second->blocks;
}

void KvCache::take_back(std::uint64_t owner, std::int64_t& held, std::int64_t blocks) {
  const auto it = left_.find(owner);
  if (it == left_.end()) {
    if (blocks > 0) throw core::InvariantError("a sequence takes back blocks it did not leave");
    return;
  }
  const auto run = it->second;
  if (blocks > run->blocks) throw core::InvariantError("more KV blocks taken back than are left");
  left_.erase(it);
  run->owner = kNobody;
  run->blocks -= blocks;
  if (run->blocks == 0) order_.erase(run);
  free_ -= blocks;
  held += blocks;
}

void KvCache::push_free(std::uint64_t owner, std::int64_t blocks) {
  if (blocks == 0) return;
  free_ += blocks;
  if (free_ > blocks_) throw core::InvariantError("more KV blocks returned than there are");
  if (owner == kNobody && !order_.empty() && order_.back().owner == kNobody &&
      !order_.back().named) {
    order_.back().blocks += blocks;
    return;
  }
  order_.push_back({owner, blocks});
  if (owner != kNobody) left_[owner] = std::prev(order_.end());
}

void KvCache::hand_out(std::int64_t blocks) {
  free_ -= blocks;
  while (blocks > 0) {
    Run& oldest = order_.front();
    const std::int64_t n = std::min(blocks, oldest.blocks);
    oldest.blocks -= n;
    blocks -= n;
    if (oldest.blocks > 0) return;
    if (oldest.named) {
      named_.erase(oldest.owner);
    } else if (oldest.owner != kNobody) {
      left_.erase(oldest.owner);
    }
    order_.pop_front();
  }
}

}  // namespace ridgeline::sim
