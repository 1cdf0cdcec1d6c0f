#include <catch2/catch.hpp>

#include "core/random.hpp"
#include "diagnosis/fixes/table.hpp"
#include "diagnosis/report.hpp"
#include "tests/diagnosis/observations.hpp"

using namespace ridgeline;
using diagnosis::Diagnosis;
using diagnosis::Evidence;
using diagnosis::Phase;
using diagnosis::Regime;
using tests::fact;

namespace {

Evidence read(const std::string& text) {
  const core::ConfigLibrary library(std::filesystem::path(RIDGELINE_SOURCE_DIR) / "configs");
  return diagnosis::read_evidence(core::parse_yaml(text, "e.yaml"), library);
}

bool has_null(const nlohmann::json& j) {
  if (j.is_null()) return true;
  if (!j.is_structured()) return false;
  for (const auto& item : j) {
    if (has_null(item)) return true;
  }
  return false;
}

void check_sound(const Diagnosis& d) {
  const nlohmann::json j = diagnosis::to_json(d);
  const std::string text = diagnosis::to_text(d);
  CHECK(d.confidence >= 0.0);
  CHECK(d.confidence <= 1.0);
  CHECK_FALSE(d.question.empty());
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf ") == std::string::npos);
  CHECK_FALSE(has_null(j["fixes"]));
  CHECK_FALSE(has_null(j["rejects"]));
  CHECK_FALSE(has_null(j["settling_evidence"]));
  if (d.time_budget && d.time_budget->in_seconds) CHECK_FALSE(has_null(j["time_budget"]));
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    CHECK(end - begin <= 110);
    begin = end + 1;
  }
  if (d.time_budget) {
    double sum = 0.0;
    for (const auto& line : d.time_budget->lines) sum += line.time.best;
    if (!d.time_budget->lines.empty()) CHECK(sum == Approx(d.time_budget->total.best).epsilon(1e-6));
  }
  for (const auto& r : d.rejects) CHECK(r.speedup.high < 1.05);
  for (const auto& f : d.fixes) CHECK(f.speedup.high >= 1.05);
}

}  // namespace

TEST_CASE("GPU, model, batch and throughput are enough to compute the percentages and to ask one question") {
  const Diagnosis d =
      diagnosis::diagnose(read("machine: mi300x\nmodel: {parameters: 8e9, weight_dtype: fp16}\nserving: {concurrency: "
                               "1}\nmeasured: {throughput: 200 tokens/s}"));
  // 16 GB at 5.3 TB/s allow 331 steps/s; 200 are 60 % of it.
  CHECK(d.regime == Regime::bandwidth_bound);
  CHECK(d.settling_evidence.front().value == Approx(200 / (5300.0 / 16.0)));
  CHECK(d.confidence < 0.8);
  CHECK(d.confidence > 0.3);
  CHECK(d.question.find("HBM bandwidth") != std::string::npos);
  check_sound(d);
}

TEST_CASE("A rate above the roof is a contradiction, not a crash") {
  const Diagnosis d =
      diagnosis::diagnose(read("machine: mi300x\nmodel: {parameters: 70e9, weight_dtype: fp16}\nserving: {concurrency: "
                               "1}\nmeasured: {throughput: 400 tokens/s}"));
  REQUIRE_FALSE(d.inconsistencies.empty());
  CHECK_FALSE(d.inconsistencies[0].explained);
  CHECK(d.confidence < 0.2);
  CHECK(d.fixes.empty());
  check_sound(d);
}

TEST_CASE("The total of a batch read as the rate of one sequence is recognised") {
  // 32 x 60 tokens/s given as the rate of one: the floor is 32 times the time.
  const Diagnosis d = diagnosis::diagnose(
      read("machine: mi300x\nmodel: {parameters: 44.2e9, weight_dtype: fp16}\nserving: {concurrency: 32}\n"
           "measured: {throughput_per_sequence: 1920 tokens/s}"));
  REQUIRE_FALSE(d.inconsistencies.empty());
  CHECK(d.inconsistencies[0].reading.find("total over sequences") != std::string::npos);
}

TEST_CASE("A rate of tokens and their lengths are enough to see arithmetic bind") {
  // As many prompt tokens as output tokens: 2 x 11,116 x 13.5 GFLOP are 30 % of 989 TFLOP/s, far more than most servers
  // reach.
  const Diagnosis d = diagnosis::diagnose(
      read("machine: {hbm_bandwidth: 3.35 TB/s, peak: {fp16: 989 TFLOP/s, fp8: 1979 TFLOP/s}}\nmodel: {parameters: "
           "6.74e9, weight_dtype: "
           "fp16}\n"
           "serving: {prompt_tokens: 128, output_tokens: 128}\nmeasured: {throughput: 11116 tokens/s}"));
  CHECK(d.regime == Regime::compute_bound);
  CHECK(d.settling_evidence.front().value == Approx(2 * 11116 * 2 * 6.74e9 / 989e12));
  CHECK(d.confidence < 0.5);
  REQUIRE_FALSE(d.fixes.empty());
  CHECK(d.fixes[0].name == "fp8_w8a8");
  check_sound(d);
}

TEST_CASE("A small model on many devices waits for its collectives") {
  // 13.5 GB over 8 x 2.04 TB/s: 0.83 ms of a 3.05 ms step; 64 all-reduces of 20 us would be 1.3 ms of the rest.
  const Diagnosis d =
      diagnosis::diagnose(read("machine: a100\ndevices: 8\nmodel: {parameters: 6.74e9, weight_dtype: bf16, layers: "
                               "32}\nserving: {concurrency: 1}\n"
                               "measured: {throughput: 328.4 tokens/s}"));
  CHECK(d.regime == Regime::communication_bound);
  CHECK(d.confidence < 0.5);
  check_sound(d);
}

TEST_CASE("A mixture of experts reads the experts that its tokens chose") {
  // One token through 3 of 30 B parameters: 6 of 60 GB. 200 tokens: nearly all.
  Evidence e;
  e.model.parameters = fact(30e9);
  e.model.active_parameters = fact(3e9);
  e.serving.concurrency = fact(1);
  CHECK(diagnosis::work_of(e).weights_read->best == Approx(6e9));
  e.serving.concurrency = fact(200);
  CHECK(diagnosis::work_of(e).weights_read->best == Approx(60e9));
}

TEST_CASE("A single fact gives a diagnosis of low confidence and a question") {
  const Diagnosis d = diagnosis::diagnose(read("measured: {itl: 20 ms}"));
  CHECK(d.confidence < 0.5);
  check_sound(d);
  check_sound(diagnosis::diagnose(Evidence{}));
}

TEST_CASE("A full KV cache with requests waiting is a matter of capacity, unless arithmetic binds anyway") {
  Evidence e = diagnosis::observe(tests::api());
  e.serving.kv_usage = fact(0.99);
  e.serving.waiting = fact(40);
  CHECK(diagnosis::diagnose(e).regime == Regime::compute_bound);
  Evidence quiet = diagnosis::observe(tests::gaps());
  quiet.serving.kv_usage = fact(0.99);
  quiet.serving.waiting = fact(40);
  const Diagnosis d = diagnosis::diagnose(quiet);
  CHECK(d.regime == Regime::capacity_bound);
  check_sound(d);
}

TEST_CASE("A device that idles between requests wants requests") {
  diagnosis::Observation o = tests::chatbot();
  o.idle_fraction = 0.8;
  o.serving.arrivals = diagnosis::Arrivals::open;
  const Diagnosis d = diagnosis::diagnose(diagnosis::observe(o));
  CHECK(d.regime == Regime::load_bound);
  REQUIRE_FALSE(d.fixes.empty());
  CHECK(d.fixes[0].name == "more_load");
}

TEST_CASE("Collectives that fill the step make it bound by communication") {
  diagnosis::Observation o = tests::chatbot();
  o.summary = {};
  o.summary.steps = 10;
  o.summary.decode_sequences = 10;
  o.summary.decode_context = 3000;
  o.devices = 8;
  tests::add_kernels(o.summary, timeline::KernelClass::gemm, 281, 1.5, 3.3e9, 3.3e9, 3.3e9);
  tests::add_kernels(o.summary, timeline::KernelClass::collective, 80, 4.0);
  tests::close(o.summary, 0.1, 0.1);
  const Diagnosis d = diagnosis::diagnose(diagnosis::observe(o));
  CHECK(d.regime == Regime::communication_bound);
  check_sound(d);
}

TEST_CASE("A device busy all the time does not want a graph") {
  const Diagnosis d = diagnosis::diagnose(diagnosis::observe(tests::chatbot()));
  for (const auto& fix : d.fixes) CHECK(fix.name != "graph_capture");
}

TEST_CASE("The same evidence gives the same diagnosis") {
  const Evidence e = diagnosis::observe(tests::api());
  CHECK(diagnosis::to_json(diagnosis::diagnose(e)) == diagnosis::to_json(diagnosis::diagnose(e)));
}

TEST_CASE("JSON has the agreed keys") {
  const nlohmann::json j = diagnosis::to_json(diagnosis::diagnose(diagnosis::observe(tests::gaps())));
  for (const char* key : {"regime", "phase", "confidence", "settling_evidence", "time_budget", "fixes", "rejects",
                          "inconsistencies", "question"}) {
    CHECK(j.contains(key));
  }
  CHECK(j.size() == 9);
  CHECK(j["regime"] == "overhead_bound");
  CHECK(j["fixes"][0].contains("speedup_low"));
  CHECK(j["time_budget"][0].contains("seconds_high"));
}

TEST_CASE("Text begins with what binds, what proves it and what to do") {
  const std::string text = diagnosis::to_text(diagnosis::diagnose(diagnosis::observe(tests::gaps())));
  CHECK(text.rfind("Binds:  overhead_bound / decode", 0) == 0);
  CHECK(text.find("\nProof:  ") < text.find("\nDo:     graph_capture"));
}

TEST_CASE("Every fix has a name of its own, and what it waits for exists") {
  std::vector<std::string> names = diagnosis::fix_names();
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
  for (const diagnosis::Fix* fix : diagnosis::all_fixes()) {
    CHECK((fix->after.empty() || diagnosis::find_fix(fix->after) != nullptr));
  }
}

TEST_CASE("A timeline without steps cannot be observed") {
  CHECK_THROWS_AS(diagnosis::observe(diagnosis::Observation{}), core::ConfigError);
}

TEST_CASE("No subset of the evidence, true or absurd, breaks the diagnosis") {
  const core::RandomStream random(7, "evidence");
  std::uint64_t n = 0;
  const auto uniform = [&] { return random.uniform(n++); };
  for (int trial = 0; trial < 3000; ++trial) {
    Evidence e;
    switch (trial % 6) {
      case 0:
        e = diagnosis::observe(tests::chatbot());
        break;
      case 1:
        e = diagnosis::observe(tests::training());
        break;
      case 2:
        e = diagnosis::observe(tests::summarizer());
        break;
      case 3:
        e = diagnosis::observe(tests::api());
        break;
      case 4:
        e = diagnosis::observe(tests::gaps());
        break;
      default:
        break;
    }
    const double dropped = uniform();
    const double absurd = 0.3 * uniform();
    for (const diagnosis::Field& field : diagnosis::evidence_fields()) {
      diagnosis::Maybe& value = field.at(e);
      if (uniform() < dropped) value.reset();
      if (uniform() < absurd) {
        const bool fraction = field.dimension == core::Dimension::fraction;
        const double x = fraction ? uniform() : std::pow(10.0, 24.0 * uniform() - 9.0);
        value = diagnosis::Value(core::Interval(x * uniform(), x), diagnosis::Origin::given);
      }
    }
    if (uniform() < 0.5) e.profile.kernel_time.clear();
    if (uniform() < 0.3) e.profile.window.reset();
    if (uniform() < 0.2)
      e.profile.kernel_time[static_cast<diagnosis::KernelGroup>(random.uniform_int(n++, 0, 7))] = fact(uniform());
    INFO("trial " << trial);
    check_sound(diagnosis::diagnose(e));
  }
}
