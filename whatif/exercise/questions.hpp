#pragma once
// From what is known of a server to an exercise about it: which choices stand in the menus.
//
// Only that becomes an exercise whose sheet leads to its truth: where the diagnosis of the sheet
// names another regime, no observation on it settles the right one.

#include <optional>
#include <string>
#include <vector>

#include "whatif/draw.hpp"
#include "whatif/exercise/sheet.hpp"
#include "whatif/exercise/truth.hpp"

namespace ridgeline::whatif {

struct Material {
  std::string kind;
  SheetHead head;
  diagnosis::Evidence shown;
  Truth truth;
  std::string note;
};

/// What settles the diagnosis of another server.
struct Elsewhere {
  std::string title;
  diagnosis::Phase phase = diagnosis::Phase::decode;
  diagnosis::Regime regime = diagnosis::Regime::mixed;
  std::string statement;
};

/// The same for the same draws. Nothing where the sheet does not lead to the truth, or no fix is
/// known to help. A question that nothing is known about is left out: a report may reject nothing.
[[nodiscard]] std::optional<Exercise> exercise_of(const Material& material,
                                                  const std::vector<Elsewhere>& elsewhere,
                                                  Draw draw);

}  // namespace ridgeline::whatif
