#pragma once
// requests.csv: one row a request, times in nanoseconds since the run's start, its ledger in
// columns.

#include <string>
#include <vector>

#include "sim/run_result.hpp"

namespace ridgeline::sim {

[[nodiscard]] std::string requests_csv(const std::vector<RequestRecord>& requests);

/// Reads it back. Errors (ConfigError) say file:line:column.
[[nodiscard]] std::vector<RequestRecord> parse_requests_csv(const std::string& text,
                                                            const std::string& file_name);

}  // namespace ridgeline::sim
