#pragma once
// In which dtypes a server keeps and multiplies its weights, by the words that engines have for it:
// the value of --quantization, and the endings of a checkpoint's name. Words that say only who made
// the file ("compressed-tensors", "modelopt") say nothing here; the checkpoint's name often does.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hw/dtype.hpp"

namespace ridgeline::diagnosis {

struct StoredFormat {
  hw::Dtype weights;
  std::optional<hw::Dtype> activations{};  // where products take quantized activations too
};

/// Of one word: "fp8", "awq_marlin", "w4a16"; nothing if it names no format.
[[nodiscard]] std::optional<StoredFormat> stored_format(std::string_view word);
/// Of the first word that names one.
[[nodiscard]] std::optional<StoredFormat> stored_format(std::span<const std::string> words);

/// A dtype as frameworks write it: "bfloat16", "torch.float16", "half", "fp8_e4m3", "q8_0".
[[nodiscard]] std::optional<hw::Dtype> dtype_called(std::string_view word);

}  // namespace ridgeline::diagnosis
