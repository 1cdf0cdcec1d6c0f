#include "whatif/scenario_runs.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "core/error.hpp"
#include "sim/rent.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/figures.hpp"
#include "whatif/lever.hpp"

namespace ridgeline::whatif {
namespace {

using Overrides = std::vector<sim::Override>;

/// Documents kept: each is about 100 kB.
constexpr std::size_t kMostKept = 256;

std::pair<Overrides, Overrides> references_and_rest(const Overrides& overrides) {
  std::pair<Overrides, Overrides> out;
  for (const sim::Override& one : overrides)
    (sim::is_reference(one.first) ? out.first : out.second).push_back(one);
  return out;
}

void collect_leaves(const core::Node& node, const std::string& path,
                    std::vector<std::pair<std::string, std::string>>& out) {
  const std::string before = path.empty() ? "" : path + ".";
  if (node.kind == core::Node::Kind::scalar) out.emplace_back(path, node.scalar);
  for (const auto& [key, value] : node.entries) collect_leaves(value, before + key, out);
  for (std::size_t i = 0; i < node.items.size(); ++i)
    collect_leaves(node.items[i], before + std::to_string(i), out);
}

core::Node resolved(core::Node document, const Overrides& references,
                    const core::ConfigLibrary& library) {
  core::Node out = sim::resolve_references(std::move(document), references, library);
  sim::add_rent(out, library);
  return out;
}

void fill(SweepRow& row, const sim::RunResult& result, bool diagnose) {
  const sim::Metrics metrics = sim::measure(result);
  std::transform(figures().begin(), figures().end(), row.figures.begin(),
                 [&](const Figure& figure) { return figure.of(result, metrics); });
  if (!diagnose) return;
  if (const auto answer = diagnose_run(result, metrics)) {
    row.regime = name_of(answer->regime);
    row.confidence = answer->confidence;
  }
}

}  // namespace

ScenarioRuns ScenarioRuns::open(const std::string& name_or_path, const Overrides& overrides,
                                const core::ConfigLibrary& library) {
  return open(find_scenario(name_or_path, overrides, library), library);
}

ScenarioRuns ScenarioRuns::open(UnreadScenario scenario, const core::ConfigLibrary& library) {
  auto [references, rest] = references_and_rest(scenario.overrides);
  return {resolved(std::move(scenario.document), references, library), std::move(rest), library};
}

ScenarioRuns::ScenarioRuns(core::Node document, Overrides overrides, core::ConfigLibrary library)
    : library_(std::move(library)),
      document_(std::move(document)),
      document_text_(core::to_yaml(document_)),
      overrides_(std::move(overrides)) {}

ScenarioRuns::ScenarioRuns(const std::string& document, Overrides overrides,
                           core::ConfigLibrary library)
    : ScenarioRuns(resolved(core::parse_yaml(document, "scenario"), {}, library),
                   std::move(overrides), library) {}

core::Node ScenarioRuns::with_references(const Overrides& references) const {
  if (references.empty()) return document_;
  const std::lock_guard lock(memory_->mutex);
  auto& kept = memory_->documents;
  const auto it = kept.find(references);
  if (it != kept.end()) return it->second;
  core::Node document = resolved(document_, references, library_);
  if (kept.size() >= kMostKept) kept.clear();
  return kept.emplace(references, std::move(document)).first->second;
}

sim::Scenario ScenarioRuns::scenario(const Overrides& point,
                                     const std::vector<std::string>& levers) const {
  Overrides all = overrides_;
  all.insert(all.end(), point.begin(), point.end());
  const auto [references, rest] = references_and_rest(all);
  sim::Scenario out = sim::read_scenario(with_references(references), rest, library_);
  return levers.empty() ? out : with_changes(out, levers, library_).scenario;
}

SweepRow ScenarioRuns::row(const Overrides& point, const std::vector<std::string>& levers,
                           bool diagnose, const sim::RunOptions& options) const {
  SweepRow row;
  row.figures.resize(figures().size());
  const auto failed = [&row](std::string why) {
    row.error = std::move(why);
    row.figures.assign(figures().size(), std::nullopt);
  };
  try {
    const sim::Scenario what = scenario(point, levers);
    row.scenario = memory_->text.of(what.document);
    const auto begin = std::chrono::steady_clock::now();
    fill(row, sim::run(what, options), diagnose);
    row.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } catch (const core::ConfigError& e) {
    failed(e.what());
  } catch (const core::SimulationError& e) {
    failed(e.what());
  } catch (const std::bad_alloc&) {
    failed("out of memory on this computer");
  } catch (const core::InvariantError& e) {
    failed(std::string("this is a bug, please report it: ") + e.what());
  }
  return row;
}

std::vector<std::pair<std::string, std::string>> ScenarioRuns::leaves(
    const Overrides& point) const {
  std::vector<std::pair<std::string, std::string>> out;
  collect_leaves(scenario(point).document, "", out);
  return out;
}

}  // namespace ridgeline::whatif
