#include "whatif/figures.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "core/error.hpp"
#include "sim/run.hpp"
#include "tests/sim/fixtures.hpp"

using namespace ridgeline;

namespace {

sim::Scenario server(const std::vector<sim::Override>& changes) {
  std::vector<sim::Override> overrides{{"workload.requests", "16"},
                                       {"workload.arrivals", "{closed_loop: {concurrency: 8}}"},
                                       {"workload.prompt_tokens", "500"},
                                       {"workload.output_tokens", "60"}};
  overrides.insert(overrides.end(), changes.begin(), changes.end());
  return sim::load_scenario("chat_8b", overrides, tests::shipped());
}

struct Run {
  explicit Run(const std::vector<sim::Override>& changes = {})
      : result(sim::run(server(changes))), metrics(sim::measure(result)) {}
  [[nodiscard]] std::optional<double> operator[](std::string_view name) const {
    return whatif::figure(name, "test").of(result, metrics);
  }
  sim::RunResult result;
  sim::Metrics metrics;
};

}  // namespace

TEST_CASE("A figure has a name of its own, a unit and a finite number or none",
          "[whatif][figures]") {
  const Run run;
  std::set<std::string_view> names;
  for (const whatif::Figure& f : whatif::figures()) {
    INFO(f.name);
    CHECK(names.insert(f.name).second);
    CHECK_FALSE(f.unit.empty());
    const auto value = f.of(run.result, run.metrics);
    CHECK((!value || std::isfinite(*value)));
  }
  CHECK_THROWS_WITH(whatif::figure("mean_ttft", "--sort"),
                    "--sort: no figure is named 'mean_ttft'; did you mean 'mean_ttft_ms'?");
}

TEST_CASE("The shares of a server's time add up to one", "[whatif][figures]") {
  const Run run;
  double sum = 0.0;
  for (const whatif::Figure& f : whatif::figures()) {
    if (f.name.starts_with("share_")) sum += *f.of(run.result, run.metrics);
  }
  CHECK(sum == Approx(1.0).epsilon(1e-12));
}

TEST_CASE("Rates are those of all copies, and cost and GPUs with them", "[whatif][figures]") {
  const Run one;
  const Run two({{"engine.data_parallel_size", "2"},
                 {"workload.requests", "32"},
                 {"workload.arrivals", "{closed_loop: {concurrency: 16}}"}});
  // Each copy has half of the clients and does what the one alone did.
  CHECK(*two["output_throughput"] == Approx(2.0 * *one["output_throughput"]));
  CHECK(*two["gpus"] == 2.0);
  CHECK(*two["output_throughput_per_gpu"] == Approx(0.5 * *two["output_throughput"]));
  // 1.99 $/h x 1 GPU / 3600 s / (tokens/s) x 1e6
  CHECK(*one["usd_per_million_output_tokens"] ==
        Approx(1.99 / 3600.0 / *one["output_throughput"] * 1e6));
}

TEST_CASE("The price goes with the machine", "[sim][rent]") {
  CHECK(server({}).usd_per_gpu_hour == 1.99);
  CHECK(server({{"usd_per_gpu_hour", "3"}}).usd_per_gpu_hour == 3.0);
  CHECK_FALSE(server({{"hw", "mi210"}, {"model", "llama3_8b"}}).usd_per_gpu_hour);
  // A resolved document holds the price; on another machine it is another.
  const sim::Scenario resolved = server({{"usd_per_gpu_hour", "3"}});
  CHECK(sim::read_scenario(resolved.document, {}, tests::shipped()).usd_per_gpu_hour == 3.0);
  CHECK(
      sim::read_scenario(resolved.document, {{"hw", "h100"}}, tests::shipped()).usd_per_gpu_hour ==
      2.99);
  CHECK_THROWS_AS(server({{"usd_per_gpu_hour", "-1"}}), core::ConfigError);
}

TEST_CASE("Every price is a shipped machine's, and has a source", "[sim][rent]") {
  const core::Node prices = core::load_yaml(tests::shipped().root() / "prices.yaml");
  for (const auto& [name, price] : prices.find("usd_per_gpu_hour")->entries) {
    INFO(name);
    CHECK(tests::shipped().called("hw", name));
    CHECK(prices.find("sources")->find(name) != nullptr);
  }
}
