// "From what?" can be asked of every number: the trees are those of the arithmetic, and end in
// facts.

#include "diagnosis/evidence_reader.hpp"
#include "diagnosis/explain.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "diagnosis/ledger_trail.hpp"
#include "diagnosis/memo.hpp"
#include "diagnosis/report.hpp"
#include "tests/diagnosis/observations.hpp"

using namespace ridgeline;
using Catch::Matchers::Contains;
using diagnosis::Asked;
using diagnosis::Evidence;
using diagnosis::Explanation;
using diagnosis::Operation;
using diagnosis::Origin;
using diagnosis::Step;
using diagnosis::Value;

namespace {

const std::filesystem::path kRoot(RIDGELINE_SOURCE_DIR);

Evidence typed(const std::string& name) {
  return diagnosis::load_evidence(kRoot / "configs/cases" / (name + ".evidence.yaml"),
                                  core::ConfigLibrary(kRoot / "configs"));
}

Explanation explained(const Evidence& e) { return diagnosis::explain(e, diagnosis::diagnose(e)); }

std::size_t named(const Explanation& e, const std::string& name) {
  for (const auto& answer : e.answers) {
    if (answer.name == name) return answer.step;
  }
  FAIL("nothing is called " << name);
  return 0;
}

/// 10 ms a step; 20 GB of weights at 5 TB/s are 4 ms of it.
Evidence plain_decoding() {
  Evidence e;
  e.machine.hbm_bandwidth = diagnosis::read_exactly(5e12, "a datasheet");
  e.model.weight_bytes = diagnosis::read_exactly(20e9, "a model");
  e.serving.concurrency = diagnosis::read_exactly(4, "a server");
  e.measured.step_time = Value({9e-3, 11e-3}, Origin::given, "measured.step_time");
  return e;
}

}  // namespace

TEST_CASE("A value knows the operation and the operands that it came from") {
  const Value bytes({19e9, 21e9}, Origin::given, "model.weight_bytes");
  const Value time = bytes / Value(5e12);
  REQUIRE(time.why);
  CHECK(time.why->operation == Operation::quotient);
  CHECK(time.why->first == bytes.why);
  CHECK(time.why->second->operation == Operation::constant);
  CHECK(time.why->best == time.best);
}

TEST_CASE("A value that was written to says that it was adjusted, and from what") {
  Value sum = Value({1, 2}, Origin::given, "a") + Value({3, 4}, Origin::given, "b");
  sum.best += 0.25;
  CHECK(sum.derivation()->operation == Operation::adjusted);
  CHECK(sum.derivation()->first->operation == Operation::sum);
  CHECK((sum * Value(2.0)).why->first->operation == Operation::adjusted);
}

TEST_CASE("A cut that cuts nothing leaves no trace, nor does trust that does not change") {
  const Value a({1, 2}, Origin::given, "a");
  CHECK(a.clamped(0, 5).why == a.why);
  CHECK(a.as(Origin::given).why == a.why);
  CHECK(a.clamped(0, 1.75).why->operation == Operation::clamped);
}

TEST_CASE("What two values share has its bounds, and the larger of two is larger bound by bound") {
  const Value a({1, 5}, 2, Origin::given, "a");
  const Value b({3, 9}, 6, Origin::assumed, "b");
  CHECK(diagnosis::larger(a, b).interval == core::Interval(3, 9));
  CHECK(diagnosis::larger(a, b).origin == Origin::assumed);
  REQUIRE(diagnosis::overlap(a, b));
  CHECK(diagnosis::overlap(a, b)->interval == core::Interval(3, 5));
  CHECK(diagnosis::overlap(a, b)->best == 3);
  CHECK_FALSE(diagnosis::overlap(Value(1.0), Value(2.0)));
}

TEST_CASE("The weights' line of a ledger is bytes over bandwidth, both facts with their places") {
  const Explanation e = explained(plain_decoding());
  const Step& line = e.steps[named(e, "weights at peak bandwidth")];
  CHECK(line.operation == Operation::quotient);
  CHECK(line.best == Approx(20e9 / 5e12));
  REQUIRE(line.unit);
  CHECK(*line.unit == diagnosis::Unit{.seconds = 1});  // bytes over bytes a second
  REQUIRE(line.from.size() == 2);
  CHECK(e.steps[line.from[0]].name == "model.weight_bytes");
  CHECK(e.steps[line.from[0]].text == "a model");
  CHECK(e.steps[line.from[1]].name == "machine.hbm_bandwidth");
}

TEST_CASE("The line that takes the rest of a ledger is the total less the other lines") {
  const Explanation e = explained(plain_decoding());
  const Step& rest = e.steps[named(e, "not told apart: kernels, gaps, host")];
  CHECK(rest.operation == Operation::difference);
  CHECK(rest.best == Approx(10e-3 - 20e9 / 5e12));
  CHECK(rest.from[0] == e.total);
}

TEST_CASE("Every step that is arithmetic comes to its own number, in all five cases") {
  for (const char* name : {"a_chatbot", "b_training", "c_summarizer", "d_api", "e_gaps"}) {
    const Explanation e = explained(typed(name));
    REQUIRE(e.steps.size() > 10);
    for (std::size_t i = 0; i < e.steps.size(); ++i) {
      const Step& step = e.steps[i];
      INFO(name << ", step " << i << " " << step.name);
      for (const std::size_t operand : step.from) CHECK(operand < i);
      const Value again = diagnosis::evaluated(e, i);
      CHECK(again.best == Approx(step.best).epsilon(1e-9));
      // A line's bounds may be narrower: the other lines leave it no more.
      CHECK(again.low() <= step.interval.low + 1e-9 * std::abs(step.best));
      CHECK(again.high() >= step.interval.high - 1e-9 * std::abs(step.best));
    }
  }
}

TEST_CASE("The leaves below every number are given, read or assumed, and say where") {
  for (const char* name : {"a_chatbot", "b_training", "c_summarizer", "d_api", "e_gaps"}) {
    const Explanation e = explained(typed(name));
    for (const auto& answer : e.answers) {
      for (const std::size_t i : e.below(answer.step)) {
        const Step& step = e.steps[i];
        INFO(name << ", " << answer.name << ", step " << i);
        if (!step.is_leaf() || step.operation == Operation::constant) continue;
        // The gain of a fix that does not rewrite the ledger is told in words.
        const bool gain = answer.kind == Asked::fix || answer.kind == Asked::reject;
        if (gain && step.operation == Operation::computed) continue;
        if (step.name.starts_with("gain of ")) continue;
        CHECK(step.operation == Operation::fact);
        CHECK(step.origin != Origin::derived);
        CHECK_FALSE(step.text.empty());
      }
    }
  }
}

TEST_CASE("What is computed twice from the same facts is one step") {
  const Explanation e = explained(typed("c_summarizer"));
  for (std::size_t i = 0; i < e.steps.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const bool same = e.steps[i].operation == e.steps[k].operation &&
                        e.steps[i].from == e.steps[k].from && e.steps[i].best == e.steps[k].best &&
                        e.steps[i].text == e.steps[k].text && !e.steps[i].from.empty() &&
                        e.steps[i].interval == e.steps[k].interval;
      INFO(i << " and " << k);
      CHECK_FALSE(same);
    }
  }
}

TEST_CASE("A fact says the file and the line that it was written in") {
  const auto path = kRoot / "configs/cases/a_chatbot.evidence.yaml";
  const core::ConfigLibrary library(kRoot / "configs");
  const diagnosis::Places places(core::load_yaml(path), library);
  CHECK_THAT(places.of("measured.throughput"), Contains("a_chatbot.evidence.yaml:14"));
  CHECK_THAT(places.of("machine.hbm_bandwidth"), Contains("configs/hw/mi300x.yaml:"));
  CHECK_THAT(places.of("machine.peak.fp16"), Contains("configs/hw/mi300x.yaml:"));
  CHECK_THAT(places.of("model.no_such_key"), Contains("a_chatbot.evidence.yaml:"));  // the section
  CHECK(places.of("nothing.at.all").empty());
}

TEST_CASE("One quantity is explained by its name, and a wrong name gets the nearest") {
  const Explanation e = explained(typed("e_gaps"));
  CHECK_THAT(diagnosis::to_text(e, "Gaps_between kernels"),
             Contains("profile.kernels_per_step x profile.gap_length"));
  CHECK_THROWS_WITH(diagnosis::to_text(e, "gaps betwen kernels"),
                    Contains("did you mean 'gaps between kernels'?"));
}

TEST_CASE("An observed timeline's numbers are explained down to the timeline") {
  for (const auto& o :
       {tests::chatbot(), tests::training(), tests::summarizer(), tests::api(), tests::gaps()}) {
    const Explanation e = explained(diagnosis::observe(o));
    CHECK_THAT(diagnosis::to_text(e), Contains("read, timeline"));
  }
}

TEST_CASE("Leaving a trail changes no number of a ledger, and a second one adds nothing") {
  const Evidence e = typed("e_gaps");
  const auto budget = diagnosis::time_budget(e, diagnosis::work_of(e));
  diagnosis::TimeBudget once = *budget;
  diagnosis::leave_trail(once);
  diagnosis::TimeBudget twice = once;
  diagnosis::leave_trail(twice);
  for (std::size_t i = 0; i < once.lines.size(); ++i) {
    CHECK(once.lines[i].time.interval == budget->lines[i].time.interval);
    CHECK(once.lines[i].time.best == budget->lines[i].time.best);
    CHECK(once.lines[i].time.derivation() == once.lines[i].time.why);
  }
  CHECK(twice.lines.size() == once.lines.size());
}
