#pragma once
// One quantity of typed evidence: as people write it, as core knows it, as a value with its doubt.
// "13,393 tok/s", "60 TFLOPS", "12 ms/token" and "1580 MHz of 1965 MHz" are understood; a prefix
// ("5k tok/s") is not, since nobody says whether it is rounded.

#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"
#include "diagnosis/evidence.hpp"

namespace ridgeline::diagnosis {

/// The same quantity in the words of core/quantity_text.hpp; what is no such quantity stays as it
/// is.
[[nodiscard]] std::string plainly_written(std::string_view text, core::Dimension dimension);

/// The value at a key, which must be there. `means` is the quantity's own name where the key is
/// another word for it. Errors (ConfigError, with position): no such quantity, a missing unit, a
/// value that cannot be.
[[nodiscard]] Value read_value(const core::Reader& in, std::string_view key,
                               core::Dimension dimension, bool whole, std::string_view means = {});
[[nodiscard]] Value read_value(const core::Reader& in, std::string_view key, const Field& field);

/// The name of a quantity that people also call `key` ("tpot" is "itl"); `key` itself otherwise.
[[nodiscard]] std::string_view own_name(std::string_view key);
/// Other words for a quantity.
[[nodiscard]] std::vector<std::string_view> also_called(std::string_view name);
/// The key under which a quantity stands in a map, by its own name or another; "" when it does not.
[[nodiscard]] std::string_view key_of(const core::Node& map, std::string_view name);

}  // namespace ridgeline::diagnosis
