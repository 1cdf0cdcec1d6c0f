#pragma once
// A model from the config.json that Hugging Face checkpoints carry. The file is translated into the
// document that a file of configs/models would hold, so that everything that can be said over a
// model (`model.quantization=fp8`) can be said over this one too.
//
// What is read are the dimensions of the language model (`text_config` of a multimodal one), the
// pattern of its experts and windows, and how its weights were quantized. Families that are not
// plain attention and feedforward (state spaces, linear attention, encoders) are refused by name.

#include <filesystem>

#include "core/document.hpp"
#include "workloads/model_spec.hpp"

namespace ridgeline::workloads {

/// The model of a config.json, or of the folder that holds one, as the map that `read_model_spec`
/// reads. Errors (ConfigError, naming file and key): no such file, not JSON, an architecture or a
/// quantization that is not known, a dimension that is missing or makes no sense.
[[nodiscard]] core::Node hf_model_document(const std::filesystem::path& path);

/// The same, read.
[[nodiscard]] ModelSpec read_hf_config(const std::filesystem::path& path);

/// Whether a path means a config.json: its name ends in .json, or it is a folder that has one.
[[nodiscard]] bool is_hf_config(const std::filesystem::path& path);

}  // namespace ridgeline::workloads
