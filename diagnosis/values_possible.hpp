#pragma once
// Which values a quantity of the evidence can have at all.

#include <string_view>

#include "core/quantity_text.hpp"

namespace ridgeline::diagnosis {

/// Far around everything that is measured on a server, in SI units, so that nothing computed from
/// it overflows.
inline constexpr double kLeastSensible = 1e-12;
inline constexpr double kMostSensible = 1e18;

/// Quantities that can be nothing; all others divide something.
[[nodiscard]] inline bool may_be_zero(std::string_view key, core::Dimension dimension) {
  for (const std::string_view name :
       {"waiting", "preemptions", "gap_length", "gap_time", "host_time", "transient",
        "prefill_tokens_per_step", "speculative_tokens", "shared_prefix_tokens", "transfer_time",
        "communication_time", "host_weight_bytes", "copy_call_time"}) {
    if (key == name) return true;
  }
  return dimension == core::Dimension::fraction;
}

}  // namespace ridgeline::diagnosis
