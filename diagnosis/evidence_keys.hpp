#pragma once
// Every key that evidence in YAML can hold, quantity or word, with what it means, what it looks
// like, and where it belongs. The template, the page of the documentation and the errors about
// unknown keys are made from it. Quantities come from evidence_fields(), their examples and usual
// ranges from diagnosis/field_guide.hpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"

namespace ridgeline::diagnosis {

struct EvidenceKey {
  std::string_view section;  // "" for what stands by itself
  std::string_view key;
  std::string_view meaning;
  std::string_view example;  // as YAML
  bool quantity = false;
};

/// Sections, the most telling first.
[[nodiscard]] const std::vector<std::string_view>& evidence_sections();
/// Of one section, "" for those that stand by themselves; what names a thing first.
[[nodiscard]] std::vector<EvidenceKey> evidence_keys(std::string_view section);

/// Throws ConfigError for the first key of `in` that this section does not have, with the section
/// that has it ("'throughput' belongs under 'measured'") or the nearest key of all sections. `also`
/// are keys that are known here besides.
void reject_unknown(const core::Reader& in, std::string_view section,
                    const std::vector<std::string>& also = {});

}  // namespace ridgeline::diagnosis
