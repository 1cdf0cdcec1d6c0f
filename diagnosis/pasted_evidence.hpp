#pragma once
// What pasted text says, as the document that `read_evidence` takes: facts go where evidence keeps
// them (TPOT is the ITL, an argument of the engine is a dtype or a number of devices), names of
// GPUs and checkpoints become shipped machines and models where they are known, a table of kernels
// becomes shares, and what a log says in words becomes a symptom. A fact that evidence has no place
// for is named in a note. Every value remembers its line in the text.

#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "core/document.hpp"
#include "diagnosis/pasted/pasted.hpp"

namespace ridgeline::diagnosis {

struct PastedEvidence {
  core::Node document;
  std::vector<std::string> notes;  // sentences: what was ambiguous, left out, not read

  /// Whether the text said anything that evidence keeps.
  [[nodiscard]] bool any() const { return !document.entries.empty(); }
};

/// `name` is what errors and places call the text.
[[nodiscard]] PastedEvidence evidence_from_pasted(const Pasted& pasted, const std::string& name,
                                                  const core::ConfigLibrary& library);

/// `typed` with what `pasted` adds to it. What both say, `typed` says; where they differ by more
/// than their digits allow, a sentence in `notes` names both lines.
[[nodiscard]] core::Node laid_under(core::Node pasted, core::Node typed,
                                    const core::ConfigLibrary& library,
                                    std::vector<std::string>& notes);

}  // namespace ridgeline::diagnosis
