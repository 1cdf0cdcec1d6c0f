#pragma once
// What the quantities of a `Work` are called where somebody asks for one, and what they are
// measured in.

#include <span>
#include <string_view>

#include "core/quantity_text.hpp"
#include "diagnosis/work.hpp"

namespace ridgeline::diagnosis {

struct WorkName {
  Maybe Work::*at;
  std::string_view name;
  core::Dimension dimension;
};

/// Of two that are the same number in the same work the first gives the name.
[[nodiscard]] std::span<const WorkName> work_names();

}  // namespace ridgeline::diagnosis
