#include <catch2/catch.hpp>

#include "tests/diagnosis/observations.hpp"
#include "tests/diagnosis/soundness.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::Diagnosis;
using diagnosis::Evidence;
using diagnosis::Phase;
using diagnosis::Regime;
using tests::fact;

namespace {

void check_sound(const Diagnosis& d) { tests::check_sound(d, {}); }

}  // namespace

TEST_CASE(
    "GPU, model, batch and throughput are enough to compute the percentages and to ask one "
    "question") {
  const Diagnosis d = diagnosis::diagnose(tests::typed(
      "machine: mi300x\nmodel: {parameters: 8e9, weight_dtype: fp16}\nserving: {concurrency: "
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
  const Diagnosis d = diagnosis::diagnose(tests::typed(
      "machine: mi300x\nmodel: {parameters: 70e9, weight_dtype: fp16}\nserving: {concurrency: "
      "1}\nmeasured: {throughput: 400 tokens/s}"));
  REQUIRE_FALSE(d.inconsistencies.empty());
  CHECK_FALSE(d.inconsistencies[0].explained);
  CHECK(d.confidence < 0.2);
  CHECK(d.fixes.empty());
  check_sound(d);
}

TEST_CASE("The total of a batch read as the rate of one sequence is recognised") {
  // 32 x 60 tokens/s given as the rate of one: the floor is 32 times the time.
  const Diagnosis d =
      diagnosis::diagnose(tests::typed("machine: mi300x\nmodel: {parameters: 44.2e9, weight_dtype: "
                                       "fp16}\nserving: {concurrency: 32}\n"
                                       "measured: {throughput_per_sequence: 1920 tokens/s}"));
  REQUIRE_FALSE(d.inconsistencies.empty());
  CHECK(d.inconsistencies[0].reading.find("total over sequences") != std::string::npos);
}

TEST_CASE("A rate of tokens and their lengths are enough to see arithmetic bind") {
  // As many prompt tokens as output tokens: 2 x 11,116 x 13.5 GFLOP are 30 % of 989 TFLOP/s, far
  // more than most servers reach.
  const Diagnosis d = diagnosis::diagnose(tests::typed(
      "machine: {hbm_bandwidth: 3.35 TB/s, peak: {fp16: 989 TFLOP/s, fp8: 1979 TFLOP/s}}\nmodel: "
      "{parameters: "
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
  // 13.5 GB over 8 x 2.04 TB/s: 0.83 ms of a 3.05 ms step; 64 all-reduces of 20 us would be 1.3 ms
  // of the rest.
  const Diagnosis d = diagnosis::diagnose(tests::typed(
      "machine: a100\ndevices: 8\nmodel: {parameters: 6.74e9, weight_dtype: bf16, layers: "
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
  const Diagnosis d = diagnosis::diagnose(tests::typed("measured: {itl: 20 ms}"));
  CHECK(d.confidence < 0.5);
  check_sound(d);
  check_sound(diagnosis::diagnose(Evidence{}));
}

TEST_CASE(
    "A full KV cache with requests waiting is a matter of capacity, unless arithmetic binds "
    "anyway") {
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

TEST_CASE("JSON has the agreed keys, in their order") {
  const nlohmann::ordered_json j =
      diagnosis::to_json(diagnosis::diagnose(diagnosis::observe(tests::gaps())));
  std::string keys;
  for (const auto& [key, value] : j.items()) keys += key + " ";
  CHECK(keys ==
        "regime phase confidence settling_evidence time_budget fixes rejects inconsistencies "
        "question ");
  CHECK(j["regime"] == "overhead_bound");
  CHECK(j["fixes"][0].contains("speedup_low"));
  CHECK(j["time_budget"][0].contains("seconds_high"));
}

TEST_CASE("Text begins with what binds, what proves it and what to do") {
  const std::string text =
      diagnosis::to_text(diagnosis::diagnose(diagnosis::observe(tests::gaps())));
  CHECK(text.rfind("Binds:  overhead_bound / decode", 0) == 0);
  CHECK(text.find("\nProof:  ") <
        text.find("\nDo:     capture the step in a graph (graph_capture), 1."));
  CHECK(text.find("Before you do it, ask: ") != std::string::npos);
  CHECK(text.find("[derived]") == std::string::npos);
}

TEST_CASE("What is not settled says so first, and asks before it advises") {
  // No batch, no context, no counter: one rate of tokens.
  const Diagnosis d =
      diagnosis::diagnose(tests::typed("machine: mi300x\nmodel: {parameters: 8e9, weight_dtype: "
                                       "bf16}\nmeasured: {throughput: 3000 tokens/s}"));
  CHECK_FALSE(d.settled());
  const std::string text = diagnosis::to_text(d);
  CHECK(text.rfind("Binds:  Not settled; most likely ", 0) == 0);
  CHECK(text.find("\nDo:     To settle it, ask: " + d.question.substr(0, 20)) != std::string::npos);
  check_sound(d);
}

TEST_CASE("Arithmetic that is a trifle beside what nobody separated is not said to bind") {
  // 3,000 x 16 GFLOP are 3.7 % of peak; the rest may be anything, so neither guesses nor batches
  // are refused for it.
  const Diagnosis d =
      diagnosis::diagnose(tests::typed("machine: mi300x\nmodel: {parameters: 8e9, weight_dtype: "
                                       "bf16}\nmeasured: {throughput: 3000 tokens/s}"));
  for (const auto& r : d.rejects) CHECK(r.why.find("arithmetic binds") == std::string::npos);
}

TEST_CASE("Each settling number that is missing lowers the confidence") {
  Evidence e = diagnosis::observe(tests::chatbot());
  double before = diagnosis::diagnose(e).confidence;
  const auto falls = [&] {
    const double now = diagnosis::diagnose(e).confidence;
    CHECK(now < before);
    before = now;
  };
  e.profile.kernel_time.clear();
  e.profile.busy_time.reset();
  e.profile.kernel_length.reset();
  falls();
  e.profile.hbm_fraction.reset();
  falls();
  e.profile.flop_fraction.reset();
  falls();
  e.measured = {};
  e.measured.throughput = fact(160);
  e.serving = {};
  falls();
  CHECK(before < Diagnosis::kSettled);
}

TEST_CASE("A rate and a step time on two devices with experts settle nothing for sure") {
  const Diagnosis d = diagnosis::diagnose(tests::typed(
      "machine: h100\ndevices: 2\nmodel: {parameters: 30.5e9, active_parameters: 3.3e9, "
      "weight_dtype: bf16}\n"
      "serving: {concurrency: 32}\nmeasured: {throughput: 3775 tokens/s, step_time: 7.75 ms}\n"
      "profile: {host_time: 1.84 ms}"));
  CHECK(d.confidence < 0.6);
  check_sound(d);
}

TEST_CASE(
    "Offered load above capacity is said in the first line, and what raises capacity is advised") {
  // 42 ms a step, and half of all requests wait 15 s for a first token whose own arithmetic is 5 ms
  // at peak.
  diagnosis::Observation o = tests::api();
  o.serving.arrivals = diagnosis::Arrivals::open;
  o.serving.prompt_tokens = fact(100);
  o.serving.waiting = fact(700);
  o.measured.ttft = fact(15.0);
  const Diagnosis d = diagnosis::diagnose(diagnosis::observe(o));
  REQUIRE(d.queueing);
  CHECK(d.queueing->overloaded);
  CHECK(d.queueing->wait.best == Approx(15.0 - 2 * 0.042 - 2 * 34e9 * 100 / 1307.4e12 / 0.25));
  CHECK(d.regime == Regime::compute_bound);
  CHECK(d.fixes[0].name == "fp8_w8a8");
  const std::string text = diagnosis::to_text(d);
  CHECK(text.substr(0, text.find('\n')).find("offered load exceeds capacity") != std::string::npos);
  check_sound(d);

  // A closed loop always has one more waiting: that is its set-up, and no news.
  o.serving.arrivals = diagnosis::Arrivals::saturated;
  CHECK_FALSE(diagnosis::diagnose(diagnosis::observe(o)).queueing);
  // Nor is a first token after two steps.
  o.serving.arrivals = diagnosis::Arrivals::open;
  o.measured.ttft = fact(0.1);
  CHECK_FALSE(diagnosis::diagnose(diagnosis::observe(o)).queueing);
}

TEST_CASE(
    "A full cache is no matter of capacity where every sequence brings as much work as it shares") {
  // A third of the step is arithmetic at peak, and kernels twice as slow as that hold the rest: 85
  // % grow with the batch.
  diagnosis::Observation o = tests::api();
  o.summary.by_class.clear();
  o.summary.total = {};
  o.summary.kernels_time = o.summary.busy = {};
  tests::add_kernels(o.summary, timeline::KernelClass::gemm, 337, 37.0, 18e12, 18e12, 68e9);
  tests::add_kernels(o.summary, timeline::KernelClass::attention, 96, 3.0, 0.1e12, 0.1e12, 7.5e9);
  tests::close(o.summary, 0.8, 1.2);
  Evidence e = diagnosis::observe(o);
  e.serving.prefill_tokens_per_step = fact(10);
  e.serving.kv_usage = fact(0.999);
  e.serving.waiting = fact(100);
  CHECK(diagnosis::diagnose(e).regime != Regime::capacity_bound);
}

TEST_CASE("Steps whose kernels follow one another without a wait are captured already") {
  diagnosis::Observation o = tests::chatbot();  // 0.25 ms over 562 kernels: half a microsecond each
  o.proposals = {"graph_capture"};
  const Diagnosis d = diagnosis::diagnose(diagnosis::observe(o));
  const auto it = std::find_if(d.rejects.begin(), d.rejects.end(),
                               [](const auto& r) { return r.name == "graph_capture"; });
  REQUIRE(it != d.rejects.end());
  CHECK(it->why.find("already captured") == 0);
}

TEST_CASE("What was measured is named only where exactly one rate was") {
  const auto why = [](const Evidence& e) {
    for (const auto& r : diagnosis::diagnose(e).rejects) {
      if (r.name == "larger_batch") return r.why;
    }
    return std::string();
  };
  Evidence one = diagnosis::observe(tests::gaps());
  CHECK(why(one).find("which is what was measured") != std::string::npos);
  one.measured.throughput = fact(32 * 36);
  one.serving.arrivals = diagnosis::Arrivals::open;
  CHECK(why(one).find("the requests that arrive set the batch, 32 on average") !=
        std::string::npos);
}

TEST_CASE("Contexts read off a timeline are not made shorter by a counter") {
  Evidence e = diagnosis::observe(tests::chatbot());
  const double expected = diagnosis::work_of(e).kv_expected->best;
  e.profile.hbm_fraction =
      fact(0.70);  // less than the weights alone: an embedding table is hardly read
  CHECK(diagnosis::work_of(e).kv_read->best == expected);
}

TEST_CASE("The kernels that are far from their floor are named in the first line") {
  const std::string text =
      diagnosis::to_text(diagnosis::diagnose(diagnosis::observe(tests::summarizer())));
  CHECK(text.find("kernels far from their own floor: attention") < text.find('\n'));
}

TEST_CASE("Differences that are explained stand apart from contradictions") {
  const std::string explained =
      diagnosis::to_text(diagnosis::diagnose(diagnosis::observe(tests::chatbot())));
  CHECK(explained.find("\nExplained differences\n") != std::string::npos);
  CHECK(explained.find("\nContradictions\n") == std::string::npos);
  const Diagnosis d = diagnosis::diagnose(
      tests::typed("machine: mi300x\nmodel: {parameters: 70e9, weight_dtype: fp16}\n"
                   "serving: {concurrency: 1}\nmeasured: {throughput: 400 tokens/s}"));
  CHECK(diagnosis::to_text(d).find("\nContradictions\n") != std::string::npos);
}

TEST_CASE("An assessment's gain is an interval whichever way round it was computed") {
  CHECK(diagnosis::Assessment({1.08, 1.0}, "").gain == core::Interval(1.0, 1.08));
  CHECK(diagnosis::Assessment({-1.0, 2.0}, "").gain == core::Interval(0.0, 2.0));
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
