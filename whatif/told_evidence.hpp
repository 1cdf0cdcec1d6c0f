#pragma once
// Evidence that somebody told: typed as YAML, pasted as text, or text within YAML. It may name any
// shipped machine and model.

#include <filesystem>
#include <string>
#include <string_view>

#include "core/config_library.hpp"
#include "diagnosis/evidence_reader.hpp"

namespace ridgeline::whatif {

/// Evidence as somebody typed it.
[[nodiscard]] diagnosis::Evidence read_typed_evidence(const core::Node& document,
                                                      const core::ConfigLibrary& library);

/// Evidence from text of either kind, `name` for errors: a YAML map with a key of evidence in it is
/// typed, and so is every file that ends like YAML; else what the text says is looked for. Notes
/// say what was not read and where text and typing differ. ConfigError for a scenario, which
/// another command takes, and for text that says nothing.
[[nodiscard]] diagnosis::EvidenceDocument read_told(std::string_view text, const std::string& name,
                                                    const core::ConfigLibrary& library);

/// The same from a file; "-" is standard input.
[[nodiscard]] diagnosis::EvidenceDocument open_told(const std::filesystem::path& path,
                                                    const core::ConfigLibrary& library);

/// Typed evidence from a file. ConfigError for a scenario, which another command takes.
[[nodiscard]] diagnosis::Evidence load_evidence_file(const std::filesystem::path& path,
                                                     const core::ConfigLibrary& library);

}  // namespace ridgeline::whatif
