// What was seen and not measured.

#include "diagnosis/symptoms.hpp"

#include <catch2/catch.hpp>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/fixes/table.hpp"
#include "tests/diagnosis/observations.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::Cause;
using diagnosis::Clue;
using diagnosis::Diagnosis;
using diagnosis::Evidence;
using diagnosis::Symptom;

namespace {

const char* const kSlowStep =
    "machine: h100\nmodel: {parameters: 8e9, weight_dtype: bf16, layers: 32}\nserving: "
    "{concurrency: 1}\nmeasured: {itl: 20 ms}\n";

double share(const Diagnosis& d, Cause cause) { return d.time_budget->share(cause).best; }

}  // namespace

TEST_CASE("Every symptom has its own name, a cause, and points at a fix that exists") {
  std::vector<std::string> names = diagnosis::symptom_names();
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
  for (const Symptom& symptom : diagnosis::all_symptoms()) {
    INFO(symptom.name);
    CHECK_FALSE(symptom.meaning.empty());
    CHECK_FALSE(symptom.causes.empty());
    CHECK(diagnosis::find_fix(symptom.suggests) != nullptr);
    CHECK(diagnosis::find_symptom(symptom.name) == &symptom);
  }
  CHECK(diagnosis::find_symptom("nothing") == nullptr);
}

TEST_CASE("A fix that a symptom points at acts on what the symptom suspects") {
  for (const Symptom& symptom : diagnosis::all_symptoms()) {
    INFO(symptom.name);
    CHECK(diagnosis::find_fix(symptom.suggests)->acts_on.meets(symptom.causes));
  }
}

TEST_CASE("A symptom only raises a suspicion") {
  for (const Symptom& symptom : diagnosis::all_symptoms()) {
    Evidence e;
    e.symptoms = {std::string(symptom.name)};
    const std::vector<Clue> clues = clues_of_symptoms(e);
    REQUIRE(clues.size() == 1);
    CHECK_FALSE(clues[0].measured);
    CHECK(clues[0].share == core::Interval(0.0, 1.0));
    CHECK(clues[0].suspicion > 1.0);
    CHECK(clues[0].statement.find("Seen: ") == 0);
  }
}

TEST_CASE("Eager mode is a symptom once, whether typed as a switch, a word or both") {
  Evidence e;
  CHECK(clues_of_symptoms(e).empty());
  e.engine.enforce_eager = false;
  CHECK(clues_of_symptoms(e).empty());
  e.engine.enforce_eager = true;
  CHECK(clues_of_symptoms(e).size() == 1);
  e.symptoms = {"eager_launch"};
  CHECK(clues_of_symptoms(e).size() == 1);
}

TEST_CASE("Eager mode points at a graph, whether typed as a switch or as a word") {
  for (const char* said : {"engine: {enforce_eager: true}", "symptoms: [eager_launch]"}) {
    const Diagnosis d = diagnosis::diagnose(tests::typed(std::string(kSlowStep) + said + "\n"));
    INFO(said);
    REQUIRE_FALSE(d.fixes.empty());
    CHECK(d.fixes[0].name == "graph_capture");
  }
}

TEST_CASE("An unknown symptom is rejected with the one that was meant") {
  CHECK_THROWS_WITH(tests::typed("measured: {itl: 2 ms}\nsymptoms: [host_bussy]"),
                    Catch::Matchers::Contains("host_busy"));
}

TEST_CASE("A symptom says where the time goes that nothing else separates") {
  // 16 GB at 3.35 TB/s are 4.8 of 20 ms; the other 15 were not told apart.
  const Diagnosis plain = diagnosis::diagnose(tests::typed(kSlowStep));
  const Diagnosis seen =
      diagnosis::diagnose(tests::typed(std::string(kSlowStep) + "symptoms: [host_busy]\n"));
  CHECK(share(plain, Cause::host) == 0.0);
  CHECK(share(seen, Cause::host) > 0.2);
  CHECK(share(seen, Cause::bandwidth) == Approx(share(plain, Cause::bandwidth)).margin(1e-3));
  CHECK(share(seen, Cause::unexplained) < share(plain, Cause::unexplained));
}

TEST_CASE("A symptom does not decide against a measurement") {
  // The timeline shows every kernel, gap and host time of its steps.
  for (const auto& o : {tests::chatbot(), tests::api(), tests::summarizer(), tests::training()}) {
    Evidence e = diagnosis::observe(o);
    const Diagnosis plain = diagnosis::diagnose(e);
    for (const Symptom& symptom : diagnosis::all_symptoms()) {
      if (symptom.causes.has(Cause::capacity)) continue;  // beside a step, not inside it
      e.symptoms = {std::string(symptom.name)};
      INFO(o.gpu.name << " " << symptom.name);
      CHECK(diagnosis::diagnose(e).regime == plain.regime);
    }
  }
}

TEST_CASE("The order of symptoms does not matter") {
  const auto of = [](const char* list) {
    return diagnosis::diagnose(tests::typed(std::string(kSlowStep) + "symptoms: [" + list + "]\n"));
  };
  const Diagnosis a = of("host_busy, untuned_gemm, eager_launch");
  const Diagnosis b = of("eager_launch, host_busy, untuned_gemm");
  CHECK(a.regime == b.regime);
  CHECK(a.confidence == Approx(b.confidence));
  for (std::size_t i = 0; i < diagnosis::kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    CHECK(share(a, cause) == Approx(share(b, cause)).margin(1e-9));
  }
  REQUIRE(a.fixes.size() == b.fixes.size());
  for (std::size_t i = 0; i < a.fixes.size(); ++i) CHECK(a.fixes[i].name == b.fixes[i].name);
}

TEST_CASE("A symptom said twice is no more than said once") {
  const auto of = [](const char* list) {
    return diagnosis::diagnose(tests::typed(std::string(kSlowStep) + "symptoms: [" + list + "]\n"));
  };
  CHECK(share(of("host_busy"), Cause::host) ==
        Approx(share(of("host_busy, host_busy"), Cause::host)));
}
