#include "whatif/corpus/corpus.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>

#include "diagnosis/evidence_yaml.hpp"
#include "sim/run.hpp"
#include "tests/core/fixtures.hpp"
#include "tests/whatif/fixtures.hpp"
#include "whatif/corpus/corpus_directory.hpp"
#include "whatif/corpus/faults.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/told_evidence.hpp"

using namespace ridgeline;
using diagnosis::Regime;
using whatif::Resource;

namespace {

const whatif::ServerPool& pool() {
  static const whatif::ServerPool p(tests::shipped());
  return p;
}

const std::vector<whatif::CorpusItem>& some_items() {
  static const std::vector<whatif::CorpusItem> items =
      whatif::generate(pool(), 30, 11, {.gains = false});
  return items;
}

/// An 8 B model on one GPU, 16 clients, 500 in and 60 out.
whatif::Label label_of(const std::vector<sim::Override>& changes) {
  std::vector<sim::Override> overrides{{"workload.requests", "32"},
                                       {"workload.arrivals", "{closed_loop: {concurrency: 16}}"},
                                       {"workload.prompt_tokens", "500"},
                                       {"workload.output_tokens", "60"}};
  overrides.insert(overrides.end(), changes.begin(), changes.end());
  const sim::RunResult result =
      sim::run(sim::load_scenario("chat_8b", overrides, tests::shipped()));
  return whatif::label_of(result, sim::measure(result));
}

std::string everything_of(const whatif::CorpusItem& item) {
  return core::to_yaml(item.server.document) + item.throughput_text + item.percentages_text +
         diagnosis::to_yaml(item.timeline) + whatif::to_json(item.label).dump();
}

}  // namespace

TEST_CASE("Decoding alone on a tuned stack is limited by HBM bandwidth", "[whatif][corpus]") {
  const whatif::Label label = label_of(
      {{"workload.arrivals", "{closed_loop: {concurrency: 1}}"}, {"workload.requests", "2"}});
  CHECK(label.regime == Regime::bandwidth_bound);
  CHECK(label.objective == whatif::Objective::output_rate);
  CHECK(label.near_roof > 0.4);
}

TEST_CASE("A host of twenty times the work limits a server of one request", "[whatif][corpus]") {
  const whatif::Label label = label_of({{"workload.arrivals", "{closed_loop: {concurrency: 1}}"},
                                        {"workload.requests", "2"},
                                        {"stack.host.step", "10 ms"},
                                        {"engine.async_scheduling", "false"}});
  CHECK(label.regime == Regime::overhead_bound);
  CHECK(label[Resource::launch_and_host] > 0.5);
}

TEST_CASE("Too few KV blocks limit a server whose clients wait for them", "[whatif][corpus]") {
  const whatif::Label label = label_of({{"engine.num_gpu_blocks_override", "150"},
                                        {"engine.max_model_len", "1024"},
                                        {"workload.requests", "64"}});
  CHECK(label.regime == Regime::capacity_bound);
}

TEST_CASE("Kernels at a seventh of what is possible are what limits, not the bandwidth they waste",
          "[whatif][corpus]") {
  const whatif::Label label = label_of(
      {{"stack.efficiency.compute.gemm", "0.15"}, {"stack.efficiency.bandwidth.gemm", "0.15"}});
  CHECK(label.regime == Regime::kernel_inefficiency);
  CHECK(label[Resource::hbm_bandwidth] + label[Resource::matrix_rate] > 0.5);
}

TEST_CASE("Prefill attention that writes its scores out is a kernel's fault", "[whatif][corpus]") {
  const whatif::Label label = label_of({{"stack.lowering.prefill_attention", "materialised"},
                                        {"workload.arrivals", "{closed_loop: {concurrency: 1}}"},
                                        {"workload.requests", "2"},
                                        {"engine.max_model_len", "32768"},
                                        {"workload.prompt_tokens", "30000"},
                                        {"workload.output_tokens", "1"}});
  CHECK(label.objective == whatif::Objective::first_token);
  CHECK(label.regime == Regime::kernel_inefficiency);
}

TEST_CASE("Links at a hundredth of their rate limit eight GPUs", "[whatif][corpus]") {
  const whatif::Label label =
      label_of({{"engine.tensor_parallel_size", "8"}, {"hw.interconnect.rate", "0.64 GB/s"}});
  CHECK(label.regime == Regime::communication_bound);
}

TEST_CASE("A request now and then is limited by there being no more of them", "[whatif][corpus]") {
  const whatif::Label label =
      label_of({{"workload.arrivals", "{poisson: {rate: 0.2 /s}}"}, {"workload.requests", "10"}});
  CHECK(label.regime == Regime::load_bound);
  CHECK(label.idle > 0.8);
  CHECK(label[Resource::load] == Approx(1.0).margin(0.1));
}

TEST_CASE("A training step and long prompts are limited by the matrix rate", "[whatif][corpus]") {
  const sim::RunResult step =
      sim::run(sim::load_scenario("chat_8b",
                                  {{"model", "llama2_7b"},
                                   {"engine.max_model_len", "4096"},
                                   {"workload.training", "{microbatch: 8, sequence: 4096}"}},
                                  tests::shipped()));
  const whatif::Label training = whatif::label_of(step, sim::measure(step));
  CHECK(training.objective == whatif::Objective::training_rate);
  CHECK(training.regime == Regime::compute_bound);
  CHECK(label_of({{"workload.prompt_tokens", "4000"}, {"workload.output_tokens", "1"}}).regime ==
        Regime::compute_bound);
}

TEST_CASE("A step on one GPU responds to its kernels and its host, and to nothing else",
          "[whatif][corpus]") {
  const whatif::Label label =
      label_of({{"stack.host.step", "5 ms"}, {"engine.async_scheduling", "false"}});
  const auto of_steps = [&](Resource r) { return label.of_steps[static_cast<std::size_t>(r)]; };
  const double host = of_steps(Resource::launch_and_host);
  const double kernels = of_steps(Resource::kernels);
  CHECK(of_steps(Resource::links) == 0.0);
  CHECK(host + kernels < 1.0);  // what is left is bytes and arithmetic at their peaks
  CHECK(host + std::max(of_steps(Resource::hbm_bandwidth), kernels) > 0.7);
}

TEST_CASE("An item depends on seed and index alone", "[whatif][corpus]") {
  const whatif::CorpusItem alone = whatif::make_item(pool(), 11, 17, {.gains = false});
  CHECK(everything_of(alone) == everything_of(some_items()[17]));
  const whatif::CorpusItem other = whatif::make_item(pool(), 12, 17, {.gains = false});
  CHECK(everything_of(alone) != everything_of(other));
}

TEST_CASE("An item's scenario is one that the program runs, with the same result",
          "[whatif][corpus]") {
  for (const std::size_t i : {2, 9, 20}) {
    const whatif::CorpusItem& item = some_items()[i];
    const core::Node document =
        core::parse_yaml(core::to_yaml(item.server.document), "scenario.yaml");
    const sim::RunResult again = sim::run(sim::read_scenario(document, {}, tests::shipped()));
    CHECK(again.steps == item.result.steps);
  }
}

TEST_CASE("The regime of an item is the first of those accepted", "[whatif][corpus]") {
  for (const whatif::CorpusItem& item : some_items()) {
    REQUIRE(item.label.accepted.front() == item.label.regime);
    const std::set<Regime> once(item.label.accepted.begin(), item.label.accepted.end());
    REQUIRE(once.size() == item.label.accepted.size());
    REQUIRE(item.label.regime != Regime::transfer_bound);
  }
}

TEST_CASE("Every item can be diagnosed at every depth, and from the files of it",
          "[whatif][corpus]") {
  for (const whatif::CorpusItem& item : some_items()) {
    INFO(item.title);
    for (const auto* evidence : {&item.throughput, &item.percentages, &item.timeline})
      CHECK_FALSE(diagnosis::diagnose(*evidence).question.empty());
    const std::string text = diagnosis::to_yaml(
        item.timeline, {.machine = item.server.sketch.machine->name, .model = std::nullopt});
    const diagnosis::Evidence from_file = whatif::read_typed_evidence(
        core::parse_yaml(text, "timeline.evidence.yaml"), tests::shipped());
    CHECK(diagnosis::diagnose(from_file).regime == diagnosis::diagnose(item.timeline).regime);
  }
}

TEST_CASE("A directory keeps whole items of its seed, and takes none of another",
          "[whatif][corpus]") {
  const auto place = std::filesystem::temp_directory_path() / "ridgeline_corpus_test";
  std::filesystem::remove_all(place);
  const whatif::CorpusDirectory directory(place, 11, false);
  CHECK_FALSE(directory.has(0));
  for (const std::int64_t i : {0, 1}) directory.write(some_items()[static_cast<std::size_t>(i)]);
  CHECK(directory.has(0));
  CHECK(directory.write_index(2)["regimes"].size() <= 2);
  CHECK(std::filesystem::exists(place / "0001" / "label.json"));

  std::filesystem::create_directory(place / ".0002.part1");
  directory.remove_unfinished();
  CHECK_FALSE(std::filesystem::exists(place / ".0002.part1"));

  const whatif::CorpusDirectory other(place, 12, false);
  CHECK(tests::error_of([&] { static_cast<void>(other.has(0)); }) ==
        (place / "0000").string() +
            ": of seed 11 and format 1, not 12 and 1; choose another directory");
  CHECK_FALSE(whatif::CorpusDirectory(place, 11, true).has(0));  // its timeline is missing
  std::filesystem::remove_all(place);
}

TEST_CASE("Every fault is named once", "[whatif][corpus]") {
  std::set<std::string_view> names;
  for (const whatif::Fault& fault : whatif::faults()) {
    CHECK(names.insert(fault.name).second);
    CHECK(fault.weight > 0.0);
  }
}
