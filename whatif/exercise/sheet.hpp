#pragma once
// Evidence as a page that a person reads: every quantity with its unit and what it means, from the
// table of fields that reads it. Proposals are left out, since they name fixes.

#include <string>

#include "diagnosis/evidence.hpp"

namespace ridgeline::whatif {

struct SheetHead {
  std::string title;
  std::string engine;  // that serves; the evidence's own if ""
  std::string counts;  // what the speed is, by which changes are judged
};

[[nodiscard]] std::string sheet_of(const diagnosis::Evidence& evidence, const SheetHead& head);

}  // namespace ridgeline::whatif
