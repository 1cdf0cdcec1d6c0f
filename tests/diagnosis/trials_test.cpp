// Amdahl's law read backwards: from what a change gained to the share that it acted on.

#include "diagnosis/trials.hpp"

#include <catch2/catch.hpp>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/fixes/table.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::Cause;
using diagnosis::Causes;
using diagnosis::Clue;
using diagnosis::Diagnosis;
using diagnosis::Evidence;
using diagnosis::Trial;
using diagnosis::Value;
using diagnosis::Window;

namespace {

Trial trial(std::string change, core::Interval gain, bool in_place = false) {
  return {std::move(change),
          "",
          {{"speedup", Value(gain, diagnosis::Origin::given, "trials[0]")}},
          in_place,
          "trials[0]"};
}

std::vector<Clue> clues(const Trial& t) {
  Evidence e;
  e.trials.push_back(t);
  return clues_of_trials(e, diagnosis::work_of(e));
}

Clue clue(const Trial& t) {
  const std::vector<Clue> all = clues(t);
  REQUIRE(all.size() == 1);
  return all[0];
}

}  // namespace

TEST_CASE("A change that leaves nothing and doubles the speed acted on one half of the time") {
  // A graph leaves 0 to 30 % of the launches. Nothing left: (1 - 1/2) / 1. 30 % left: 0.5 / 0.7.
  const Clue c = clue(trial("graph_capture", 2.0));
  CHECK(c.causes == Causes(Cause::launch));
  CHECK(c.share.low == Approx(0.5));
  CHECK(c.share.high == Approx(0.5 / 0.7));
  CHECK(c.measured);
  CHECK(c.unit == "fraction");
  CHECK(c.likely() >= c.share.low);
  CHECK(c.likely() <= c.share.high);
  for (const char* words : {"apture the step in a graph", "2.00x faster", "50.0 %", "launches"})
    CHECK(c.statement.find(words) != std::string::npos);
}

TEST_CASE("A gain known within bounds bounds the share from both sides") {
  // 1 - 1/1.25 = 20 % at least, with nothing left; 1 - 1/2 = 50 % at most, 30 % of it left.
  const Clue c = clue(trial("graph_capture", {1.25, 2.0}));
  CHECK(c.share.low == Approx(0.2));
  CHECK(c.share.high == Approx(0.5 / 0.7));
}

TEST_CASE("A change without effect bounds from above what it acts on") {
  // 3 % are noise; 70 % of the launches would have gone: 0.03 / 0.7.
  const Clue c = clue(trial("graph_capture", 1.0));
  CHECK(c.share.low == 0.0);
  CHECK(c.share.high == Approx(0.03 / 0.7));
  CHECK(c.statement.find("changed nothing") != std::string::npos);
  CHECK(c.statement.find("4.29 %") != std::string::npos);
}

TEST_CASE("The faster a change made it, the more of the time it acted on") {
  double before = 0.0;
  for (const double gain : {1.05, 1.2, 1.5, 2.0, 5.0, 50.0}) {
    const Clue c = clue(trial("graph_capture", gain));
    CHECK(c.share.low > before);
    CHECK(c.share.low <= c.share.high);
    CHECK(c.share.high <= 1.0);
    before = c.share.low;
  }
  CHECK(before == Approx(1.0 - 1.0 / 50.0));
}

TEST_CASE("Guesses that made it slower show arithmetic, guesses that paid show the read") {
  // 1 / 1.6 = 0.625: 37.5 % of the time with them is theirs.
  const Clue slower = clue(trial("speculative_decoding", 0.625, true));
  CHECK(slower.causes == Causes(Cause::compute));
  CHECK(slower.share.low == Approx(0.375));
  CHECK(slower.share.high == 1.0);
  // 1.5x: a third of the time, were nothing of the read left; 30 % are: (1/3) / 0.7.
  const Clue faster = clue(trial("speculative_decoding", 1.5));
  CHECK_FALSE(faster.causes.has(Cause::compute));
  CHECK(faster.causes.has(Cause::bandwidth));
  CHECK(faster.share.low == Approx(1.0 / 3.0 / 0.7));
  // Neither: it may have cost as much as it saved.
  CHECK(clues(trial("speculative_decoding", 1.0)).empty());
}

TEST_CASE("Adapters that made it slower added kernels") {
  const Clue c = clue(trial("adapters", 1.0 / 1.75, true));
  CHECK(c.causes == Causes(Cause::kernels));
  CHECK(c.share.low == Approx(1.0 - 1.0 / 1.75));  // 42.9 % of the time with them
  CHECK(clues(trial("adapters", 1.2)).empty());    // and nothing is known of less
}

TEST_CASE("Work that a change added is no part of the time before it") {
  for (const char* change : {"adapters", "speculative_decoding", "longer_drafts"}) {
    const Clue c = clue(trial(change, 0.5));
    INFO(change);
    CHECK(c.causes.empty());
    CHECK(c.statement.find("50.0 % of the time with it") != std::string::npos);
  }
}

TEST_CASE("A change that made it slower may have saved much and cost more: it bounds nothing") {
  CHECK(clues(trial("weight_quantization_8bit", 1.0 / 4.7)).empty());
  CHECK(clues(trial("more_tensor_parallelism", 0.92)).empty());
}

TEST_CASE("What a change in place has gained is gone; that it gained nothing still tells") {
  CHECK(clues(trial("graph_capture", 2.0, true)).empty());
  CHECK(clue(trial("graph_capture", 1.0, true)).share.high == Approx(0.03 / 0.7));
}

TEST_CASE("A change that says nothing of where the time goes leaves no clue") {
  CHECK(clues(trial("lower_clock", 0.8)).empty());
  CHECK(clues(trial("no_such_change", 2.0)).empty());
  Trial nothing = trial("graph_capture", 2.0);
  nothing.effects.clear();
  CHECK(clues(nothing).empty());
}

TEST_CASE("The effect that counts is that on the rate, in a prefill that on the first token") {
  Trial t = trial("graph_capture", 1.0);
  t.effects = {{"itl", Value(1.1)}, {"ttft", Value(1.2)}, {"throughput", Value(1.3)}};
  CHECK(main_effect(t, Window::decode).measure == "throughput");
  CHECK(main_effect(t, Window::prefill).measure == "ttft");
  t.effects.push_back({"speedup", Value(1.4)});  // its author's own verdict before any of them
  CHECK(main_effect(t, Window::decode).measure == "speedup");
  CHECK(main_effect(t, Window::prefill).measure == "speedup");
  t.effects = {{"latency", Value(1.5)}};  // none of those: what there is
  CHECK(main_effect(t, Window::decode).measure == "latency");
}

TEST_CASE("A rate that grows and a time that shrinks are gains alike") {
  // 100 to 150 tokens/s and 30 to 20 ms are both 1.5x.
  const Evidence e = tests::typed(
      "trials:\n"
      "- {change: graph_capture, before: {throughput: 100 tokens/s, itl: 30 ms},\n"
      "   after: {throughput: 150 tokens/s, itl: 20 ms}}\n"
      "- {change: kv_split, slowdown: 2}\n");
  REQUIRE(e.trials.size() == 2);
  REQUIRE(e.trials[0].effects.size() == 2);
  for (const Trial::Effect& effect : e.trials[0].effects) CHECK(effect.gain.best == Approx(1.5));
  CHECK(e.trials[1].effects[0].gain.best == Approx(0.5));
  CHECK_FALSE(e.trials[0].with);
}

TEST_CASE("Every fix is a change that can have been tried, and no change has two meanings") {
  std::vector<std::string> names = diagnosis::change_names();
  for (const std::string& fix : diagnosis::fix_names())
    CHECK(std::find(names.begin(), names.end(), fix) != names.end());
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
  for (const std::string& name : names) {
    INFO(name);
    const diagnosis::Change* change = diagnosis::find_change(name);
    REQUIRE(change != nullptr);
    CHECK(change->leaves.low >= 0.0);
    CHECK(change->leaves.low <= change->leaves.high);
    CHECK(change->leaves.high <= 1.0);
  }
  CHECK(diagnosis::find_change("graph_captures") == nullptr);
}

TEST_CASE("A change that nobody knows is rejected with the name that was meant") {
  CHECK_THROWS_WITH(tests::typed("trials: [{change: graph_captures, speedup: 2}]"),
                    Catch::Matchers::Contains("graph_capture'"));
  CHECK_THROWS_AS(tests::typed("trials: [{change: graph_capture}]"), core::ConfigError);
  CHECK_THROWS_AS(tests::typed("trials: [{change: graph_capture, before: {itl: 2 ms}, after: "
                               "{ttft: 2 ms}}]"),
                  core::ConfigError);
}

TEST_CASE("A trial moves time on the ledger to what it shortened, and the ledger still adds up") {
  // 20 GB at 2 TB/s are 10 of 40 ms. A graph that gives 2x shows 50 % of launches at least.
  const std::string base =
      "machine: {hbm_bandwidth: 2.00 TB/s, peak: {bf16: 300 TFLOP/s}}\nmodel: {parameters: 10e9, "
      "weight_dtype: bf16, layers: 32}\nserving: {concurrency: 1}\nmeasured: {itl: 40.0 ms}\n";
  const Diagnosis d = diagnosis::diagnose(
      tests::typed(base + "trials: [{change: graph_capture, speedup: 2.00}]\n"));
  REQUIRE(d.time_budget);
  CHECK(d.time_budget->share(Cause::launch).best >= 0.5 - 0.02);
  CHECK(d.time_budget->share(Cause::bandwidth).best == Approx(0.25).margin(0.015));
  double sum = 0.0;
  for (const auto& line : d.time_budget->lines) sum += line.time.best;
  CHECK(sum == Approx(0.040).epsilon(1e-6));
  CHECK(d.regime == diagnosis::Regime::overhead_bound);
}

TEST_CASE("What was tried needs no computing: the measured gain is the fix's, first of all") {
  const Diagnosis d = diagnosis::diagnose(tests::typed(
      "machine: h100\nmodel: {parameters: 8e9, weight_dtype: bf16}\nserving: {concurrency: 1}\n"
      "measured: {itl: 20 ms}\ntrials: [{change: graph_capture, before: {itl: 30 ms}, after: "
      "{itl: 20 ms}}]\n"));
  REQUIRE_FALSE(d.fixes.empty());
  CHECK(d.fixes[0].name == "graph_capture");
  CHECK(d.fixes[0].speedup.contains(1.5));
  CHECK(d.fixes[0].why.find("tried") == 0);
}
