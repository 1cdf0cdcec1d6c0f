#pragma once
// Numbers as people read them, for the sentences of a diagnosis.

#include <string>

#include "core/quantity_text.hpp"
#include "diagnosis/value.hpp"

namespace ridgeline::diagnosis {

[[nodiscard]] std::string time_text(double seconds);       // "27.8 ms"
[[nodiscard]] std::string bytes_text(double bytes);        // "24.6 GB"
[[nodiscard]] std::string flop_text(double flop);          // "400 TFLOP"
[[nodiscard]] std::string percent_text(double fraction);   // "78.5 %", "0.32 %"
[[nodiscard]] std::string number_text(double number);      // "6,100", "23.8"
[[nodiscard]] std::string whole_text(double number);       // "573"
[[nodiscard]] std::string gain_text(core::Interval gain);  // "1.2x to 1.3x", "1.00x"
/// A quantity with the unit of its dimension; large bare numbers in three digits: "8.03e+09".
[[nodiscard]] std::string quantity_text(double x, core::Dimension dimension);
/// "3.6 to 6.75 ms", or one number when the bounds read the same.
[[nodiscard]] std::string time_range_text(core::Interval seconds);

}  // namespace ridgeline::diagnosis
