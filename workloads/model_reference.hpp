#pragma once
// What a reference to a model may be, beyond what every reference may (core/config_library.hpp):
// the config.json of a checkpoint, or the name of its repository.

#include <string_view>

#include "core/config_library.hpp"
#include "core/document.hpp"

namespace ridgeline::workloads {

/// The whole document that a reference to a model means: what `library` resolves (a name, a path to
/// YAML, a map with a base), and besides a path to a config.json, alone or as `base`, and a name
/// with its organisation ("Qwen/Qwen2.5-7B-Instruct"). `key` is what the reference stands at, for
/// errors.
[[nodiscard]] core::Node resolve_model(const core::ConfigLibrary& library,
                                       const core::Node& reference, std::string_view key = "model");

}  // namespace ridgeline::workloads
