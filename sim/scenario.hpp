#pragma once
// Everything a run depends on: machine, model, stack, engine, workload, seed. Composed from
// configurations, resolved into one document that needs no other file but the request trace.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config_library.hpp"
#include "hw/gpu_spec.hpp"
#include "sim/engine_spec.hpp"
#include "workloads/model_spec.hpp"
#include "workloads/stack_spec.hpp"
#include "workloads/workload_spec.hpp"

namespace ridgeline::sim {

struct Scenario {
  std::string name;
  hw::GpuSpec gpu;
  workloads::ModelSpec model;
  workloads::StackSpec stack;
  EngineSpec engine;
  workloads::WorkloadSpec workload;
  std::uint64_t seed = 0;
  std::optional<double> usd_per_gpu_hour;  // rent; nothing where nobody says
  core::Node document;                     // resolved; reading it again gives the same scenario
};

/// One `--set engine.max_num_seqs=64`.
using Override = std::pair<std::string, std::string>;

/// "a.b=c" as an override. ConfigError unless there is a key before the '='.
[[nodiscard]] Override parse_override(const std::string& text);

/// Whether a key is that of a whole part of a scenario, which a reference can stand for: "hw",
/// "model", "stack".
[[nodiscard]] bool is_reference(std::string_view key);

/// The document with those of `overrides` that are whole references set, and every reference
/// replaced by what it means: it needs no other file but the request trace, whose path is absolute.
[[nodiscard]] core::Node resolve_references(core::Node document,
                                            const std::vector<Override>& overrides,
                                            const core::ConfigLibrary& library);

/// Reads a scenario document. References (`hw: mi300x`) are resolved, then overrides applied, in
/// order; an override of a whole reference (`hw=mi325x`) comes first. `workload.trace=FILE`
/// replaces a generated workload. A machine that stands in configs/prices.yaml brings its rent
/// along where the document does not say `usd_per_gpu_hour`.
[[nodiscard]] Scenario read_scenario(core::Node document, const std::vector<Override>& overrides,
                                     const core::ConfigLibrary& library);

/// The document of a file, or of the name of a shipped scenario, bases resolved.
[[nodiscard]] core::Node load_scenario_document(const std::string& name_or_path,
                                                const core::ConfigLibrary& library);
/// Both in one.
[[nodiscard]] Scenario load_scenario(const std::string& name_or_path,
                                     const std::vector<Override>& overrides,
                                     const core::ConfigLibrary& library);

}  // namespace ridgeline::sim
