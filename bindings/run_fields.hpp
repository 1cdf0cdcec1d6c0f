#pragma once
// The columns of what a run leaves behind, named as in requests.csv: times in whole nanoseconds
// since the run began.

#include <memory>

#include "bindings/records.hpp"
#include "sim/run_result.hpp"

namespace ridgeline::bindings {

using Result = std::shared_ptr<const sim::RunResult>;

[[nodiscard]] Records request_records(const Result& result);
[[nodiscard]] Records step_records(const Result& result);
[[nodiscard]] Records counter_records(const Result& result);
[[nodiscard]] Records token_gap_records(const Result& result);

}  // namespace ridgeline::bindings
