#pragma once
// Bounds beyond which a number in a workload is a mistake rather than a wish.

#include <cstdint>

namespace ridgeline::workloads {

inline constexpr std::int64_t kMostTokens = 10'000'000;     // of one prompt, or of one answer
inline constexpr std::int64_t kMostRequests = 100'000'000;  // of one run
inline constexpr double kLongestSeconds =
    1e9;  // of one run, 31 years: far inside the range of Instant

}  // namespace ridgeline::workloads
