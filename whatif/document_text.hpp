#pragma once
// The YAML text of many documents that are mostly alike: what stands under a key of the document is
// written once, and taken from memory for every document that has the same there. Writing the text
// of a machine takes longer than a short simulation.

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "core/document.hpp"

namespace ridgeline::whatif {

class DocumentText {
 public:
  /// The same as `core::to_yaml` of a map. From any thread.
  [[nodiscard]] std::string of(const core::Node& document);

 private:
  struct Written {
    core::Node value;
    std::string text;
  };
  std::mutex mutex_;
  std::map<std::string, std::deque<Written>> written_;  // by key, the latest last
};

}  // namespace ridgeline::whatif
