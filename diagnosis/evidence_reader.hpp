#pragma once
// Evidence as a person types it in five minutes, in YAML; docs/evidence.md is its description.
// Numbers carry their doubt as written ("78 %" is 77.5 to 78.5). Nothing is guessed: an unknown key
// is an error with the nearest known one.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "diagnosis/evidence.hpp"

namespace ridgeline::diagnosis {

/// Makes a model from a reference by name. Evidence that names no model needs none.
using ModelByName = std::function<Model(const core::Node& reference)>;

/// Evidence, the document it was read from (what pasted text said laid under what was typed), and
/// sentences about that text: what was not read, what contradicts what was typed.
struct EvidenceDocument {
  Evidence evidence;
  core::Node document;
  std::vector<std::string> notes;
};
[[nodiscard]] EvidenceDocument read_evidence_document(const core::Node& document,
                                                      const core::ConfigLibrary& library,
                                                      const ModelByName& model_by_name = {});

/// Errors (ConfigError, with position): an unknown key or word, a missing unit, a value that cannot
/// be (a negative time, a fraction above one), a file with no quantity in it.
[[nodiscard]] Evidence read_evidence(const core::Node& document, const core::ConfigLibrary& library,
                                     const ModelByName& model_by_name = {});
[[nodiscard]] Evidence load_evidence(const std::filesystem::path& path,
                                     const core::ConfigLibrary& library,
                                     const ModelByName& model_by_name = {});

}  // namespace ridgeline::diagnosis
