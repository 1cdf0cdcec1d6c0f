#pragma once
// One scenario, run many times with other values: what a sweep does at each of its points. What the
// runs have in common is read once: the scenario and the machines, models and stacks that the
// points name. A run gives the figures (whatif/figures.hpp), the regime and the resolved scenario;
// its steps and requests are dropped.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config_library.hpp"
#include "sim/run.hpp"
#include "whatif/case.hpp"
#include "whatif/document_text.hpp"

namespace ridgeline::whatif {

/// A row of a sweep's table. One that could not run has an error and no figures.
struct SweepRow {
  std::vector<std::optional<double>> figures;  // in the order of figures()
  std::string regime;                          // empty where there is no diagnosis
  std::optional<double> confidence;
  std::string error;
  std::string scenario;       // resolved, as YAML; empty where the values make none
  double wall_seconds = 0.0;  // of this computer's time, for the run and its diagnosis
};

class ScenarioRuns {
 public:
  /// The scenario of a file or a shipped name; `overrides` hold for every run. ConfigError as
  /// `open_scenario` has it.
  [[nodiscard]] static ScenarioRuns open(const std::string& name_or_path,
                                         const std::vector<sim::Override>& overrides,
                                         const core::ConfigLibrary& library);
  [[nodiscard]] static ScenarioRuns open(UnreadScenario scenario,
                                         const core::ConfigLibrary& library);
  /// Of a document as text, which may have come from another machine.
  ScenarioRuns(const std::string& document, std::vector<sim::Override> overrides,
               core::ConfigLibrary library);

  /// With its references resolved, and without the overrides of `overrides()`: another machine
  /// takes it from here.
  [[nodiscard]] const std::string& document() const { return document_text_; }
  [[nodiscard]] const std::vector<sim::Override>& overrides() const { return overrides_; }

  /// The scenario at a point, the same as of `open_scenario` with all these overrides, and levers
  /// (whatif/lever.hpp) pulled on it.
  [[nodiscard]] sim::Scenario scenario(const std::vector<sim::Override>& point,
                                       const std::vector<std::string>& levers = {}) const;
  /// Its run. What is wrong with the values is in `error`; nothing is thrown for it.
  [[nodiscard]] SweepRow row(const std::vector<sim::Override>& point,
                             const std::vector<std::string>& levers, bool diagnose,
                             const sim::RunOptions& options) const;
  /// Keys with one value each, and that value as written, of the scenario at a point.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> leaves(
      const std::vector<sim::Override>& point) const;

 private:
  ScenarioRuns(core::Node document, std::vector<sim::Override> overrides,
               core::ConfigLibrary library);
  /// The document with these whole references in it, from memory if it has been asked for.
  [[nodiscard]] core::Node with_references(const std::vector<sim::Override>& references) const;

  struct Memory {
    std::mutex mutex;
    std::map<std::vector<sim::Override>, core::Node> documents;
    DocumentText text;
  };

  core::ConfigLibrary library_;
  core::Node document_;
  std::string document_text_;
  std::vector<sim::Override> overrides_;
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
};

}  // namespace ridgeline::whatif
