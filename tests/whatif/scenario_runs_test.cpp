#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "sim/metrics.hpp"
#include "whatif/case.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/figures.hpp"
#include "whatif/scenario_runs.hpp"

using namespace ridgeline;
using Overrides = std::vector<sim::Override>;

namespace {

const core::ConfigLibrary& library() {
  static const auto standard = core::ConfigLibrary::standard();
  return standard;
}

const Overrides kFew{{"workload.requests", "12"}};

/// The scenario's document, as `open_scenario` has it.
std::string opened(const std::string& name, Overrides overrides, const Overrides& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return core::to_yaml(whatif::open_scenario(name, overrides, library()).document);
}

}  // namespace

TEST_CASE("A scenario at a point is the one that all its overrides make at once") {
  const std::vector<std::pair<Overrides, Overrides>> cases{
      {{}, {}},
      {kFew, {{"engine.max_num_seqs", "4"}}},
      {{{"model.quantization", "fp8"}},
       {{"model", "qwen3_8b"}}},  // the base's value on another model
      {{{"hw", "mi325x"}}, {{"hw.hbm.capacity", "100 GB"}}},
      {{{"usd_per_gpu_hour", "2"}}, {{"hw", "mi325x"}}},
      {{{"hw", "mi325x"}}, {{"hw", "h100_sxm"}, {"stack", "vllm_v0"}}},
      {kFew, {{"hw", "{base: mi300x, name: mine}"}}},
  };
  for (const auto& [base, point] : cases) {
    const auto runs = whatif::ScenarioRuns::open("chat_8b", base, library());
    CHECK(core::to_yaml(runs.scenario(point).document) == opened("chat_8b", base, point));
    const whatif::ScenarioRuns elsewhere(runs.document(), runs.overrides(), library());
    CHECK(core::to_yaml(elsewhere.scenario(point).document) == opened("chat_8b", base, point));
  }
}

TEST_CASE("A case runs with its free values") {
  const auto runs = whatif::ScenarioRuns::open("e_gaps", {}, library());
  CHECK(core::to_yaml(runs.scenario({}).document) == opened("e_gaps", {}, {}));
}

TEST_CASE("A point asked for again, after others, is the same") {
  const auto runs = whatif::ScenarioRuns::open("chat_8b", kFew, library());
  const auto row = [&](const Overrides& point) { return runs.row(point, {}, true, {}); };
  const auto first = row({{"hw", "mi325x"}});
  CHECK(row({}).scenario != first.scenario);
  const auto again = row({{"hw", "mi325x"}});
  CHECK(again.scenario == first.scenario);
  CHECK(again.figures == first.figures);
}

TEST_CASE("The scenario of a row is the whole text of the point's document") {
  const auto runs = whatif::ScenarioRuns::open("chat_8b", kFew, library());
  const std::vector<Overrides> points{
      {}, {{"hw", "mi325x"}}, {{"name", "'1'"}}, {{"name", "1"}}, {{"hw", "mi325x"}}};
  for (const Overrides& point : points)
    CHECK(runs.row(point, {}, false, {}).scenario == core::to_yaml(runs.scenario(point).document));
}

TEST_CASE("A row holds what the run, its metrics and its diagnosis say") {
  const auto runs = whatif::ScenarioRuns::open("chat_8b", kFew, library());
  const auto row = runs.row({{"engine.max_num_seqs", "4"}}, {}, true, {});
  const auto result = sim::run(
      whatif::open_scenario("chat_8b", {kFew[0], {"engine.max_num_seqs", "4"}}, library()));
  const auto metrics = sim::measure(result);
  REQUIRE(row.error.empty());
  REQUIRE(row.figures.size() == whatif::figures().size());
  for (std::size_t i = 0; i < row.figures.size(); ++i)
    CHECK(row.figures[i] == whatif::figures()[i].of(result, metrics));
  const auto answer = whatif::diagnose_run(result, metrics);
  CHECK(row.regime == diagnosis::name_of(answer->regime));
  CHECK(row.confidence == answer->confidence);
  CHECK(runs.row({{"engine.max_num_seqs", "4"}}, {}, false, {}).regime.empty());
}

TEST_CASE("A point that cannot run is a row with the reason") {
  const auto runs = whatif::ScenarioRuns::open("chat_8b", kFew, library());
  const auto too_big = runs.row({{"model", "llama3_70b"}, {"hw", "a100"}}, {}, true, {});
  CHECK_THAT(too_big.error, Catch::Contains("does not fit"));
  CHECK_FALSE(too_big.scenario.empty());
  CHECK(too_big.figures == std::vector<std::optional<double>>(whatif::figures().size()));
  const auto wrong = runs.row({{"engine.max_num_seqz", "4"}}, {}, true, {});
  CHECK_THAT(wrong.error, Catch::Contains("did you mean 'max_num_seqs'?"));
  CHECK(wrong.scenario.empty());
}

TEST_CASE("Leaves are the values of a scenario by their dotted keys") {
  const auto runs = whatif::ScenarioRuns::open("chat_8b", kFew, library());
  const auto leaves = runs.leaves({{"engine.max_num_seqs", "4"}});
  const auto has = [&](const std::pair<std::string, std::string>& leaf) {
    return std::find(leaves.begin(), leaves.end(), leaf) != leaves.end();
  };
  CHECK(has({"engine.max_num_seqs", "4"}));
  CHECK(has({"workload.requests", "12"}));
  CHECK(has({"workload.arrivals.gamma.rate", "5.53 /s"}));
}
