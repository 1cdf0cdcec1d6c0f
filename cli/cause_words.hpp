#pragma once
// What a cause of time is called before people.

#include <array>
#include <string_view>

#include "hw/ledger.hpp"

namespace ridgeline::cli {

inline constexpr std::array<std::string_view, hw::kCauses> kCauseWords{
    "kernels bound by compute",      "kernels bound by HBM",
    "kernels at their fixed cost",   "collectives between devices",
    "turning from kernel to kernel", "waiting for the host to launch",
    "host between launches"};
inline constexpr std::string_view kIdleWords = "no request to work on";

}  // namespace ridgeline::cli
