#pragma once
// The number formats of a model's weights and arithmetic, as an override that fits its document: a
// method of quantization, or where the document gives formats instead, those.

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario.hpp"

namespace ridgeline::whatif {

/// One way to store and multiply weights, by the name people have for it.
struct NumberFormat {
  std::string_view name;     // "int4"
  std::string_view method;   // the value of model.quantization
  std::string_view weights;  // of a model without one; "" is the activations' format
  bool multiplies_stored =
      false;             // the arithmetic is in the weights' format, else the activations'
  std::string_view fix;  // what the diagnosis calls the change to it; "" if it knows none
  std::string_view meaning;
};

[[nodiscard]] const std::vector<NumberFormat>& number_formats();
/// ConfigError for a name that is no format's, with the nearest; `where` is what asked for it.
[[nodiscard]] const NumberFormat& number_format(std::string_view name, std::string_view where);

[[nodiscard]] std::vector<sim::Override> in_format(const NumberFormat& format,
                                                   const sim::Scenario& scenario);

}  // namespace ridgeline::whatif
