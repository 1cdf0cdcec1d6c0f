// What is advised against, and why.

#include <catch2/catch.hpp>

#include "diagnosis/diagnose.hpp"
#include "tests/diagnosis/random_evidence.hpp"
#include "tests/diagnosis/soundness.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::Diagnosis;
using diagnosis::Evidence;
using diagnosis::Recommendation;
using diagnosis::Regime;

namespace {

/// 16 GB at 3.35 TB/s are 4.8 of 20 ms, and a host that takes 10 of the rest.
const std::string kHostBound =
    "machine: h100\nmodel: {parameters: 8e9, weight_dtype: bf16, layers: 32}\nserving: "
    "{concurrency: 1}\nmeasured: {throughput_per_sequence: 50 tokens/s}\nprofile: {host_time: 10 "
    "ms}\n";

const Recommendation* find(const std::vector<Recommendation>& list, std::string_view name) {
  const auto it = std::find_if(list.begin(), list.end(),
                               [&](const Recommendation& r) { return r.name == name; });
  return it != list.end() ? &*it : nullptr;
}

}  // namespace

TEST_CASE("A proposal that gains, but beside what binds, is rejected") {
  const Diagnosis d =
      diagnosis::diagnose(tests::typed(kHostBound + "proposals: [weight_quantization_4bit]\n"));
  REQUIRE(d.regime == Regime::overhead_bound);
  REQUIRE(find(d.rejects, "weight_quantization_4bit") != nullptr);
  CHECK(find(d.fixes, "weight_quantization_4bit") == nullptr);
  // Nobody asked: then its sure gain is not kept back.
  const Diagnosis unasked = diagnosis::diagnose(tests::typed(kHostBound));
  CHECK(find(unasked.rejects, "weight_quantization_4bit") == nullptr);
}

TEST_CASE("What is rejected is not advised under another name") {
  const Diagnosis d =
      diagnosis::diagnose(tests::typed(kHostBound + "proposals: [weight_quantization_4bit]\n"));
  REQUIRE(find(d.rejects, "weight_quantization_4bit") != nullptr);
  CHECK(find(d.fixes, "weight_quantization_8bit") == nullptr);
}

TEST_CASE("More hardware is advised only where nothing else is, or where somebody asks for it") {
  tests::RandomEvidence random(23);
  for (int i = 0; i < 300; ++i) {
    const Evidence e = random.facts_and_clues();
    const Diagnosis d = diagnosis::diagnose(e);
    for (std::size_t n = 1; n < d.fixes.size(); ++n) {
      const std::string& name = d.fixes[n].name;
      const bool asked =
          std::find(e.proposals.begin(), e.proposals.end(), name) != e.proposals.end();
      const bool tried = std::any_of(e.trials.begin(), e.trials.end(),
                                     [&](const auto& trial) { return trial.change == name; });
      INFO(name);
      CHECK((asked || tried || !diagnosis::find_fix(name)->needs_hardware));
    }
  }
}

TEST_CASE("A proposal is rejected before what merely everybody proposes") {
  const Diagnosis d = diagnosis::diagnose(tests::typed(kHostBound + "proposals: [fp8_kv_cache]\n"));
  REQUIRE_FALSE(d.rejects.empty());
  CHECK(d.rejects[0].name == "fp8_kv_cache");
}

TEST_CASE("A proposal for which the ledger has nothing is rejected, whatever it is") {
  const Diagnosis d =
      diagnosis::diagnose(tests::typed(kHostBound + "proposals: [balance_experts]\n"));
  const Recommendation* r = find(d.rejects, "balance_experts");
  REQUIRE(r != nullptr);
  CHECK(r->speedup == core::Interval(1.0));
  CHECK(r->why.find("no line of the ledger") != std::string::npos);
}

TEST_CASE("What was tried and gained under 5 % is rejected by its own measurement") {
  const Diagnosis d =
      diagnosis::diagnose(tests::typed(
          kHostBound + "trials: [{change: weight_quantization_4bit, before: {itl: 20.4 ms}, after: "
                       "{itl: 20.0 ms}}]\n"));
  const Recommendation* r = find(d.rejects, "weight_quantization_4bit");
  REQUIRE(r != nullptr);
  CHECK(r->speedup.contains(1.02));
  CHECK(r->why.find("tried") == 0);
}

TEST_CASE("What is in place is neither advised nor advised against") {
  for (const char* speedup : {"1.0", "1.5"}) {
    const Diagnosis d = diagnosis::diagnose(
        tests::typed(kHostBound +
                     "trials: [{change: weight_quantization_4bit, in_place: true, "
                     "speedup: " +
                     speedup + "}]\n"));
    CHECK(find(d.rejects, "weight_quantization_4bit") == nullptr);
    CHECK(find(d.fixes, "weight_quantization_4bit") == nullptr);
  }
}

TEST_CASE("Unasked and untried, only what is worth under 5 % is rejected") {
  tests::RandomEvidence random(17);
  for (int i = 0; i < 300; ++i) {
    Evidence e = random.facts();
    e.proposals.clear();  // some of the observations have them
    const Diagnosis d = diagnosis::diagnose(e);
    for (const Recommendation& r : d.rejects) {
      INFO(r.name);
      CHECK(r.speedup.high < 1.05);
    }
  }
}

TEST_CASE("There are no more than two fixes and three rejects, each of a family of its own") {
  tests::RandomEvidence random(19);
  for (int i = 0; i < 300; ++i) {
    const Evidence e = random.facts_and_clues();
    const Diagnosis d = diagnosis::diagnose(e);
    // What somebody asked about is answered beyond that.
    std::vector<Recommendation> fixes = d.fixes;
    for (std::size_t k = 2; k < fixes.size(); ++k) {
      INFO(fixes[k].name);
      CHECK(std::count(e.proposals.begin(), e.proposals.end(), fixes[k].name) == 1);
    }
    if (fixes.size() > 2) fixes.resize(2);
    CHECK(d.rejects.size() <= 3);
    const std::vector<Recommendation>& rejects = d.rejects;
    const std::vector<Recommendation>& advised = fixes;
    for (const std::vector<Recommendation>* list : {&advised, &rejects}) {
      std::vector<std::string_view> families;
      for (const Recommendation& r : *list) {
        if (std::count(e.proposals.begin(), e.proposals.end(), r.name) == 0 || list == &rejects)
          families.push_back(diagnosis::find_fix(r.name)->family);
      }
      std::sort(families.begin(), families.end());
      CHECK(std::unique(families.begin(), families.end()) == families.end());
    }
  }
}

TEST_CASE("A proposal that nobody knows is rejected with the name that was meant") {
  CHECK_THROWS_WITH(tests::typed(kHostBound + "proposals: [graph_captur]\n"),
                    Catch::Matchers::Contains("graph_capture"));
}
