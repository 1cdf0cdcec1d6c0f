#include "workloads/law.hpp"

#include <algorithm>

namespace ridgeline::workloads {

std::string law_name(const core::Reader& in, std::string_view key,
                     const std::vector<std::string>& known) {
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  const core::Node* found = in.node().find(key);
  if (found == nullptr || found->kind != core::Node::Kind::map)
    in.fail(key, "a map with one of " + names);
  if (found->entries.size() != 1) {
    in.reject(key, "expected exactly one of " + names + ", got " +
                       std::to_string(found->entries.size()) + " keys");
  }
  const std::string& name = found->entries.front().first;
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    in.child(key).reject_key(name, "unknown law" + core::suggestion(name, known));
  }
  return name;
}

}  // namespace ridgeline::workloads
