#pragma once
// What an exercise is marked by: not what its sheet says, but what comes out when the server runs
// again with one thing changed, or what the people found who wrote the report.
//
//   regime   right as the truth has it; what lies within a near tie is as good
//   fix      right when the truth lists it, or when the speed with it is at least 5 % higher and at
//            least half (of logarithms) of what the best fix brings
//   reject   right when the truth lists it, or when the speed with it is less than 5 % higher

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "whatif/corpus/label.hpp"
#include "whatif/exercise/exercise.hpp"

namespace ridgeline::whatif {

struct Truth {
  struct Listed {
    std::string fix;
    std::string why;
  };
  std::vector<diagnosis::Regime> regimes;  // the right one first
  std::string why;                         // of the regime, where nothing was run
  std::optional<Label> label;              // responses and true gains, where something was
  std::vector<Listed> fixes;               // right whatever else is known of them
  std::vector<Listed> rejects;

  [[nodiscard]] Mark of_regime(diagnosis::Regime regime) const;
  [[nodiscard]] Mark of_fix(std::string_view fix) const;
  [[nodiscard]] Mark of_reject(std::string_view fix) const;
  /// Whether anything is known of it: only then it can be asked for.
  [[nodiscard]] bool knows(std::string_view fix) const;
  /// The speed with it over the speed without; nothing where it was not run.
  [[nodiscard]] std::optional<double> gain_of(std::string_view fix) const;
};

}  // namespace ridgeline::whatif
