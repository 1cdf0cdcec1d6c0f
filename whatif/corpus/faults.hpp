#pragma once
// Things that go wrong with servers, each planted by keys that any scenario can set.
//
// Left out for want of a mechanism: copies through PCIe, thermal throttling, a noisy neighbour, a
// fallback backend that is not simply slow, prompts that could have shared a prefix.

#include <span>
#include <string_view>

#include "whatif/corpus/servers.hpp"

namespace ridgeline::whatif {

struct Fault {
  std::string_view name;
  std::string_view what;
  double weight;  // how often, beside the others that apply
  bool (*applies)(const ServerSketch&);
  void (*plant)(ServerSketch&, Draw&);
};

[[nodiscard]] std::span<const Fault> faults();

}  // namespace ridgeline::whatif
