#pragma once
// A run on disk:
//   scenario.yaml   the resolved scenario: with steps.bin, all it takes to expand the timeline
//   result.json     metrics by the names of vLLM's benchmark, and the ledger
//   requests.csv    one row a request
//   steps.bin       step and counter records
// Written beside its final place and renamed, so a directory that is there is whole.

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sim/metrics.hpp"
#include "sim/run_result.hpp"

namespace ridgeline::sim {

/// The run's result as JSON: keys of `vllm bench serve --save-result`, and under "ridgeline" what
/// only a simulator knows.
[[nodiscard]] nlohmann::ordered_json result_json(const RunResult& result, const Metrics& metrics);

/// Writes the directory, replacing an earlier run of ours that stands there; ConfigError when
/// something else does, or when it cannot be written.
void write_run_directory(const RunResult& result, const std::filesystem::path& directory);

/// Whether `file` is, by whatever path, one of the four files of the run in `directory`: not to be
/// written over.
[[nodiscard]] bool is_file_of_run(const std::filesystem::path& file,
                                  const std::filesystem::path& directory);

/// Reads back what `write_run_directory` wrote, requests included. Errors (ConfigError) name the
/// file and what is wrong with it.
[[nodiscard]] RunResult read_run_directory(const std::filesystem::path& directory,
                                           const core::ConfigLibrary& library);

}  // namespace ridgeline::sim
