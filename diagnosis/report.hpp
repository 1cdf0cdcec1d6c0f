#pragma once
// A diagnosis for programs and for people.

#include <nlohmann/json.hpp>
#include <string>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/palette.hpp"

namespace ridgeline::diagnosis {

/// Keys: regime, phase, confidence, settling_evidence, time_budget, fixes, rejects,
/// inconsistencies, question. SI units; keys in that order. Of the inconsistencies `explained`
/// tells differences that the reading accounts for from contradictions. Each line of the time
/// budget has its best guess and its bounds, in seconds (null where only shares are known) and as
/// shares of the measured time.
[[nodiscard]] nlohmann::ordered_json to_json(const Diagnosis& diagnosis);

/// Three lines first (what binds, what proves it, what to do), then the ledger as bars, then the
/// rest. Below `Diagnosis::kSettled` what to do is to answer the question. At most 110 columns.
[[nodiscard]] std::string to_text(const Diagnosis& diagnosis, const Palette& palette = Palette{});

/// The same to paste into an issue: GitHub's markdown, the ledger as a table.
[[nodiscard]] std::string to_markdown(const Diagnosis& diagnosis);

}  // namespace ridgeline::diagnosis
