#pragma once
// Evidence as the YAML that `read_evidence` takes: what a timeline told can be kept, sent and
// changed by hand like what a person typed. Exact values stand with '=', ranges as 'a-b', and every
// bound reads back as it was, to the last bit.
//
// Left out, because typed evidence has no words for it: where a value came from, which number of a
// range is the likeliest (its middle is taken), and of a machine without a name what its best
// kernels sustain.

#include <optional>
#include <string>

#include "core/document.hpp"
#include "diagnosis/evidence.hpp"

namespace ridgeline::diagnosis {

/// Names that stand for all facts of the machine or the model, where the reader knows them.
struct EvidenceNames {
  std::optional<std::string> machine;
  std::optional<std::string> model;
};

[[nodiscard]] core::Node to_document(const Evidence& evidence, const EvidenceNames& names = {});
[[nodiscard]] std::string to_yaml(const Evidence& evidence, const EvidenceNames& names = {});

/// A quantity as text that `core::parse_interval` reads back exactly: "=4.05 ms", "6-30 us".
[[nodiscard]] std::string exact_text(core::Interval value, core::Dimension dimension);

}  // namespace ridgeline::diagnosis
