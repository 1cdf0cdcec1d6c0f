#include "whatif/document_text.hpp"

#include <algorithm>

namespace ridgeline::whatif {
namespace {

/// Of each key: as many as a sweep has machines or models, usually.
constexpr std::size_t kMostKept = 16;

bool reads_the_same(const core::Node& a, const core::Node& b) {
  return a.kind == b.kind && a.quoted == b.quoted && a.scalar == b.scalar &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    reads_the_same) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && reads_the_same(x.second, y.second);
                    });
}

}  // namespace

std::string DocumentText::of(const core::Node& document) {
  if (document.kind != core::Node::Kind::map || document.entries.empty())
    return core::to_yaml(document);
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [key, value] : document.entries) {
    auto& kept = written_[key];
    auto it = std::find_if(kept.begin(), kept.end(), [&value = value](const Written& w) {
      return reads_the_same(w.value, value);
    });
    if (it == kept.end()) {
      core::Node alone;
      alone.kind = core::Node::Kind::map;
      alone.entries.emplace_back(key, value);
      if (kept.size() >= kMostKept) kept.pop_front();
      it = kept.insert(kept.end(), {value, core::to_yaml(alone)});
    }
    out += it->text;
  }
  return out;
}

}  // namespace ridgeline::whatif
