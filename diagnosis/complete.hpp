#pragma once
// The same facts in other words: requests a second and answer lengths are tokens a second, a FLOP
// rate over a peak is a fraction of it, a table of kernels is their shares. Plain arithmetic on
// what was said; what was said itself is never changed.

#include "diagnosis/evidence.hpp"

namespace ridgeline::diagnosis {

[[nodiscard]] Evidence completed(Evidence evidence);

/// The dtype in which the model's matrices are multiplied.
[[nodiscard]] hw::Dtype arithmetic_dtype(const Model& model);
/// What the best kernels reach of the matrix peak at that dtype; 1 where nobody measured it.
[[nodiscard]] double matrix_sustained(const Evidence& evidence, hw::Dtype dtype);
/// Peak of one device at that dtype, or at the 16-bit one that equals it.
[[nodiscard]] Maybe peak_of(const Machine& machine, hw::Dtype dtype);

}  // namespace ridgeline::diagnosis
