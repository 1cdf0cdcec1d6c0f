#pragma once
// What each quantity of the evidence looks like: an example for whoever types one, and, of those
// that are worth asking for, the range that servers fall in. The ranges say what could be answered,
// not what is likely; they are assumed, wide around the machines in configs/hw, the models in
// configs/models and the servers in configs/reports.

#include <span>
#include <string_view>

namespace ridgeline::diagnosis {

struct FieldGuide {
  std::string_view field;    // "profile.hbm_fraction"
  std::string_view example;  // as YAML
  std::string_view low{};    // "" where nobody needs to be asked
  std::string_view high{};
  std::string_view instead{};  // fields that say the same, blanks between them
};

[[nodiscard]] std::span<const FieldGuide> field_guides();
/// Null when there is none.
[[nodiscard]] const FieldGuide* find_guide(std::string_view field);

}  // namespace ridgeline::diagnosis
