#pragma once
// Exercises one after the other: shipped cases, servers generated now, public reports.
//
//   cases      what they were made to say, and every fix by running them again
//   generated  the label, which comes from running them again (whatif/corpus/label.hpp)
//   reports    what their authors found; a change that the truth lists is not shown as tried

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "whatif/exercise/exercise.hpp"

namespace ridgeline::whatif {

enum class DrillSource : std::uint8_t { cases, generated, reports, all };
enum class DrillLevel : std::uint8_t { throughput, percentages };  // of generated servers

/// ConfigError with the nearest word.
[[nodiscard]] DrillSource drill_source_named(const std::string& word);
[[nodiscard]] DrillLevel drill_level_named(const std::string& word);

struct DrillOptions {
  DrillSource from = DrillSource::all;
  DrillLevel level = DrillLevel::percentages;
  std::uint64_t seed = 1;
};

class Deck {
 public:
  /// ConfigError where reports are asked for and nobody wrote down what is true of them.
  Deck(const DrillOptions& options, const core::ConfigLibrary& library);
  ~Deck();
  Deck(const Deck&) = delete;
  Deck& operator=(const Deck&) = delete;

  /// The next one, made when it is asked for; the same for the same options. Nothing when there are
  /// no more; of generated ones there always are.
  [[nodiscard]] std::optional<Exercise> next();

 private:
  class Source;
  class Cases;
  class Generated;
  class Reports;

  std::vector<std::unique_ptr<Source>> sources_;  // that take turns
  std::size_t turn_ = 0;
};

}  // namespace ridgeline::whatif
