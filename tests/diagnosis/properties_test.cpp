// What holds of a diagnosis whatever the evidence, and what must not change it.

#include <catch2/catch.hpp>

#include "diagnosis/complete.hpp"
#include "tests/diagnosis/random_evidence.hpp"
#include "tests/diagnosis/soundness.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::Cause;
using diagnosis::Diagnosis;
using diagnosis::Evidence;
using tests::fact;

namespace {

std::vector<Evidence> observed() {
  return {diagnosis::observe(tests::chatbot()), diagnosis::observe(tests::training()),
          diagnosis::observe(tests::summarizer()), diagnosis::observe(tests::api()),
          diagnosis::observe(tests::gaps())};
}

diagnosis::Trial trial(std::string change, core::Interval gain) {
  return {std::move(change),
          "",
          {{"speedup", diagnosis::Value(gain, diagnosis::Origin::given, "trials[0]")}},
          false,
          "trials[0]"};
}

void check_same(const Diagnosis& a, const Diagnosis& b) {
  CHECK(a.regime == b.regime);
  CHECK(a.confidence == Approx(b.confidence).margin(0.02));
  REQUIRE(a.time_budget.has_value() == b.time_budget.has_value());
  if (!a.time_budget) return;
  for (std::size_t i = 0; i < diagnosis::kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    INFO(name_of(cause));
    CHECK(a.time_budget->share(cause).best ==
          Approx(b.time_budget->share(cause).best).margin(0.02));
  }
}

}  // namespace

TEST_CASE("No subset of the evidence with any clues on top breaks the diagnosis") {
  tests::RandomEvidence random(7);
  for (int i = 0; i < 2000; ++i) {
    const Evidence e = random.facts_and_clues();
    INFO("evidence " << i);
    const Diagnosis d = diagnosis::diagnose(e);
    tests::check_sound(d, e);
    if (!d.time_budget) continue;
    // Every candidate, named or not: its gain is an interval.
    const Evidence complete = diagnosis::completed(e);
    const diagnosis::Work work = diagnosis::work_of(complete);
    for (const bool overloaded : {false, true}) {
      const diagnosis::Situation situation{complete, work, *d.time_budget, d.regime, overloaded};
      for (const diagnosis::Fix* fix : diagnosis::all_fixes()) {
        if (!fix->applies(situation)) continue;
        const diagnosis::Assessment assessment = fix->assess(situation);
        const core::Interval gain = assessment.gain;
        INFO(fix->name << ": " << gain.low << " to " << gain.high);
        CHECK(gain.low >= 0.0);
        CHECK(gain.low <= gain.high);
        CHECK(std::isfinite(gain.high));
        CHECK_FALSE(assessment.why.empty());
      }
    }
  }
}

TEST_CASE("A change without effect on a cause that is absent leaves the regime") {
  for (const Evidence& before : observed()) {
    const Diagnosis plain = diagnosis::diagnose(before);
    for (const char* change : {"larger_transfers", "weights_on_device", "overlap_communication",
                               "faster_collectives", "kv_offload"}) {
      const diagnosis::Causes acts_on = diagnosis::find_fix(change)->acts_on;
      REQUIRE(plain.time_budget->share(Cause::transfer).best == 0.0);
      REQUIRE(plain.time_budget->share(Cause::communication).best == 0.0);
      REQUIRE(plain.time_budget->share(Cause::capacity).best == 0.0);
      REQUIRE_FALSE(acts_on.empty());
      Evidence e = before;
      e.trials.push_back(trial(change, 1.0));
      INFO(change);
      check_same(plain, diagnosis::diagnose(e));
    }
  }
}

TEST_CASE("The order in which changes were tried does not matter") {
  for (Evidence e : observed()) {
    e.trials = {trial("graph_capture", 1.02), trial("larger_transfers", 1.0),
                trial("gemm_tuning", 1.04)};
    const Diagnosis forward = diagnosis::diagnose(e);
    std::reverse(e.trials.begin(), e.trials.end());
    check_same(forward, diagnosis::diagnose(e));
  }
}

TEST_CASE("A second measurement of the same change does not count as another") {
  for (Evidence e : observed()) {
    e.trials = {trial("graph_capture", 1.02)};
    const Diagnosis once = diagnosis::diagnose(e);
    e.trials.push_back(e.trials[0]);
    check_same(once, diagnosis::diagnose(e));
  }
}

TEST_CASE("Milliseconds, microseconds and seconds are one time") {
  const auto of = [](const char* itl, const char* host, const char* before, const char* after) {
    return diagnosis::diagnose(tests::typed(
        std::string("machine: h100\nmodel: {parameters: 8e9, weight_dtype: bf16, layers: "
                    "32}\nserving: {concurrency: 4}\nmeasured: {itl: ") +
        itl + "}\nprofile: {host_time: " + host +
        "}\ntrials: [{change: graph_capture, before: "
        "{itl: " +
        before + "}, after: {itl: " + after + "}}]\n"));
  };
  check_same(of("20.00 ms", "8.000 ms", "20.00 ms", "15.00 ms"),
             of("0.02000 s", "8000 us", "20000 us", "0.01500 s"));
}

TEST_CASE("Exact evidence leaves nothing that a clue could take from what was measured") {
  for (const Evidence& before : observed()) {
    const Diagnosis plain = diagnosis::diagnose(before);
    Evidence e = before;
    e.trials = {trial("graph_capture", 3.0)};  // against a timeline that shows few gaps
    const Diagnosis d = diagnosis::diagnose(e);
    for (const auto& line : plain.time_budget->lines) {
      if (line.cause != Cause::bandwidth && line.cause != Cause::compute) continue;
      INFO(line.part);
      const diagnosis::Line* after = d.time_budget->find(line.id);
      REQUIRE(after != nullptr);
      CHECK(after->time.best >= 0.99 * line.time.low());
    }
  }
}

TEST_CASE("Arithmetic that is a trifle beside transfers is not said to bind") {
  // 4.2 GB from the host's memory in 88 ms; 13.5 GFLOP a token are 0.05 % of peak.
  const Diagnosis d = diagnosis::diagnose(
      tests::typed("machine: a100\nmodel: {parameters: 6.74e9, weight_bytes: 4.2 GB}\nengine: "
                   "{gpu_layers: 0 of 33}\nserving: {concurrency: 1}\nmeasured: "
                   "{throughput_per_sequence: 11.3 tokens/s}\n"));
  CHECK(d.regime == diagnosis::Regime::transfer_bound);
  for (const auto& r : d.rejects) CHECK(r.why.find("arithmetic binds") == std::string::npos);
}
