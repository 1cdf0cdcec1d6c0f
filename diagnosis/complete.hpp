#pragma once
// The same facts in other words: requests a second and answer lengths are tokens a second, a FLOP
// rate over a peak is a fraction of it, a table of kernels is their shares. Plain arithmetic on
// what was said; what was said itself is never changed.

#include "diagnosis/evidence.hpp"

namespace ridgeline::diagnosis {

[[nodiscard]] Evidence completed(Evidence evidence);

/// The dtype in which the model's matrices are multiplied.
[[nodiscard]] hw::Dtype arithmetic_dtype(const Model& model);
/// Peak of one device at that dtype, or at the 16-bit one that equals it.
[[nodiscard]] Maybe peak_of(const Machine& machine, hw::Dtype dtype);

}  // namespace ridgeline::diagnosis
