#pragma once
// Where the time of a step usually goes when nobody measured it: not knowledge of this server, but
// what to suspect first. Estimated in seconds from what each mechanism takes on any machine, so
// that a small model in eager mode suspects its launches and a large one its kernels.

#include <array>

#include "diagnosis/causes.hpp"
#include "diagnosis/work.hpp"

namespace ridgeline::diagnosis {

/// Kernels that stream memory or multiply usually reach about this much of a roof.
inline constexpr double kUsuallyOfRoof = 0.65;

/// Of one step, by cause; `unexplained` is zero. Of bandwidth and arithmetic only what stands on no
/// ledger yet.
[[nodiscard]] std::array<double, kCauses> usual_seconds(const Evidence& evidence, const Work& work);

/// Share of the time that a server at its usual pace would need for what it was seen to do, one
/// sequence at a time; 0 where that cannot be said, or where times of single tokens are known.
[[nodiscard]] double usual_busy(const Evidence& evidence, const Work& work);

/// The same as relative weights.
[[nodiscard]] std::array<double, kCauses> usual_shares(const Evidence& evidence, const Work& work);

}  // namespace ridgeline::diagnosis
