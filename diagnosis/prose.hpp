#pragma once
// Sentences on a page of fixed width, and the phrases that the tellings of a diagnosis share.

#include <string>
#include <string_view>

#include "diagnosis/diagnose.hpp"

namespace ridgeline::diagnosis {

inline constexpr std::size_t kColumns = 110;

/// `sentence` broken at spaces, every line but the first behind `indent` spaces, and a line end. A
/// number stays on one line with its unit.
[[nodiscard]] std::string wrapped(const std::string& sentence, std::size_t indent);

/// "HBM bandwidth", "kernels far from their own floor: attention".
[[nodiscard]] std::string binding_words(const Diagnosis& diagnosis);

/// What a ledger splits: "the time of a decode step", "the time to first token".
[[nodiscard]] std::string time_name(const TimeBudget& budget);

/// Where queues make the wait: "at least 2.1 s of the ..."; "" where they do not.
[[nodiscard]] std::string queue_words(const Diagnosis& diagnosis);

/// "78.5 %", "27.8 ms", "1,152 tokens/s".
[[nodiscard]] std::string amount_text(const Value& value, std::string_view unit);

/// A title within a sentence; "KV" and "GEMM" stay as they are.
[[nodiscard]] std::string lower_first(std::string_view title);

/// `#` certain, `-` best guess, `.` at most.
[[nodiscard]] std::string bar(double share, double low, double high, std::size_t cells);

/// Whether the lines' bounds are too near to each other to be worth a legend.
[[nodiscard]] bool known_exactly(const TimeBudget& budget);

}  // namespace ridgeline::diagnosis
