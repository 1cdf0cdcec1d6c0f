#pragma once
// A diagnosis from a recorded trace: gates first, then the same ledger, regimes and fixes as from a
// simulated run, and what each class of kernels reached.

#include "diagnosis/diagnose.hpp"
#include "diagnosis/trace_study.hpp"
#include "timeline/summary.hpp"

namespace ridgeline::diagnosis {

struct TraceDiagnosis {
  std::vector<timeline::Gate> gates;
  std::optional<Diagnosis>
      diagnosis;                   // none when a decisive gate failed: then the gate is the answer
  Evidence evidence;               // that the diagnosis is of
  std::string cannot_tell;         // why there is none
  std::vector<std::string> notes;  // what is missing, and what it would tell
};

/// Summary of the trace's steps (of pure decode steps where those took most of the time), with
/// bytes and FLOP from the model where the trace can be attributed. `why_not`, if given, is set to
/// the reason where it cannot.
[[nodiscard]] timeline::Summary summarize_trace(const TraceStudy& study,
                                                const TraceContext& context,
                                                std::string* why_not = nullptr);

[[nodiscard]] TraceDiagnosis diagnose_trace(const TraceStudy& study, const TraceContext& context);

}  // namespace ridgeline::diagnosis
