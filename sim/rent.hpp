#pragma once
// What a scenario's GPUs cost. The price goes with the machine: a scenario says it itself
// (`usd_per_gpu_hour: 2.1`), or configs/prices.yaml does for machines of that name.

#include <string_view>

#include "core/config_library.hpp"

namespace ridgeline::sim {

inline constexpr std::string_view kRent = "usd_per_gpu_hour";

/// Writes the price of the machine `document` is resolved to into it, where it says none and the
/// library knows one.
void add_rent(core::Node& document, const core::ConfigLibrary& library);

}  // namespace ridgeline::sim
