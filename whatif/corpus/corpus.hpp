#pragma once
// A labelled corpus: random but plausible servers, what could be known of each at three depths,
// what limits it in truth, and what every fix would bring. Item i of a seed depends on (seed, i)
// alone, so a corpus can be made in any order, in part, and grown.

#include <cstdint>
#include <string>
#include <vector>

#include "whatif/corpus/label.hpp"
#include "whatif/corpus/servers.hpp"

namespace ridgeline::whatif {

struct CorpusItem {
  std::int64_t index = 0;
  std::string title;
  Server server;
  sim::RunResult result;
  std::string throughput_text;  // as a person would type it
  std::string percentages_text;
  diagnosis::Evidence throughput;  // the same, read
  diagnosis::Evidence percentages;
  diagnosis::Evidence timeline;
  Label label;
};

struct CorpusOptions {
  bool gains = true;  // run every fix too: two thirds of the time
};

[[nodiscard]] CorpusItem make_item(const ServerPool& pool, std::uint64_t seed, std::int64_t index,
                                   const CorpusOptions& options = {});

/// Items 0 to n - 1, one after the other in this process.
[[nodiscard]] std::vector<CorpusItem> generate(const ServerPool& pool, std::int64_t n,
                                               std::uint64_t seed,
                                               const CorpusOptions& options = {});

}  // namespace ridgeline::whatif
