#pragma once
// A corpus as files, one directory an item, there whole or not at all:
//
//   NNNN/scenario.yaml               what `ridgeline run` takes
//   NNNN/throughput.evidence.yaml    what `ridgeline diagnose` takes, at three depths
//   NNNN/percentages.evidence.yaml
//   NNNN/timeline.evidence.yaml
//   NNNN/label.json                  regime, elasticities, faults planted, true gains
//   NNNN/timeline.json.gz            where asked for: the kernels of some steps, as Kineto writes
//                                    them
//   index.json                       how many of each

#include <filesystem>
#include <nlohmann/json.hpp>

#include "whatif/corpus/corpus.hpp"

namespace ridgeline::whatif {

class CorpusDirectory {
 public:
  /// Makes the directory, or goes on with one. ConfigError when it is no directory.
  CorpusDirectory(std::filesystem::path path, std::uint64_t seed, bool timelines);

  /// Whether the item is there already. ConfigError when it is one of another seed.
  [[nodiscard]] bool has(std::int64_t index) const;
  void write(const CorpusItem& item) const;
  /// Counts the items 0 to n - 1, writes the index and returns it.
  nlohmann::ordered_json write_index(std::int64_t n) const;
  /// What processes that were stopped left half-written.
  void remove_unfinished() const;

 private:
  [[nodiscard]] std::filesystem::path place_of(std::int64_t index) const;

  std::filesystem::path path_;
  std::uint64_t seed_;
  bool timelines_;
};

}  // namespace ridgeline::whatif
