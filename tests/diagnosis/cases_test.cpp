// The five cases, typed and observed: both roads give one diagnosis, and its arithmetic can be
// followed.

#include <catch2/catch.hpp>

#include "diagnosis/evidence_reader.hpp"
#include "diagnosis/diagnose.hpp"
#include "tests/diagnosis/observations.hpp"

using namespace ridgeline;
using diagnosis::Diagnosis;
using diagnosis::Finding;
using diagnosis::Phase;
using diagnosis::Regime;

namespace {

Diagnosis typed(const std::string& name) {
  const std::filesystem::path root(RIDGELINE_SOURCE_DIR);
  const core::ConfigLibrary library(root / "configs");
  return diagnosis::diagnose(
      diagnosis::load_evidence(root / "configs/cases" / (name + ".evidence.yaml"), library));
}

/// The finding with this unit whose value is nearest to `x`.
double nearest(const Diagnosis& d, const std::string& unit, double x) {
  double found = 1e300;
  for (const Finding& f : d.settling_evidence) {
    if (f.unit == unit && std::abs(f.value - x) < std::abs(found - x)) found = f.value;
  }
  return found;
}

bool mentions(const Diagnosis& d, const std::string& words) {
  for (const Finding& f : d.settling_evidence) {
    if (f.statement.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Case A: one request at a time is bound by bandwidth, near its ceiling") {
  const Diagnosis d = typed("a_chatbot");
  CHECK(d.regime == Regime::bandwidth_bound);
  CHECK(d.phase == Phase::decode);
  CHECK(d.confidence > 0.7);
  CHECK(nearest(d, "steps/s", 200) == Approx(5300.0 / 26.0));               // 203.8: bytes alone
  CHECK(nearest(d, "fraction", 0.785) == Approx(160.0 / (5300.0 / 26.0)));  // 78.5 % of it
  CHECK(nearest(d, "ratio", 1.27) == Approx(5300.0 / 26.0 / 160.0));  // what kernels can still give
  CHECK(nearest(d, "fraction", 0.0032) == Approx(160 * 26e9 / 1307.4e12));  // useful FLOP
  CHECK(nearest(d, "fraction", 0.0095) == Approx(0.0095).margin(0.001));    // KV: 0.25 of 26.25 GB
  REQUIRE(d.fixes.size() == 2);
  CHECK(d.fixes[0].name == "weight_quantization_4bit");
  CHECK(d.fixes[0].speedup.low > 1.27);  // it moves the ceiling
  CHECK(d.fixes[1].name == "speculative_decoding");
  REQUIRE_FALSE(d.rejects.empty());
  CHECK(d.rejects[0].name == "larger_batch");
  CHECK(d.rejects[0].speedup == core::Interval(1.0));
  REQUIRE(d.inconsistencies.size() == 1);
  CHECK(d.inconsistencies[0].reading.find("padding counted as FLOP") != std::string::npos);
}

TEST_CASE("Case B: a compute-bound step has a tail of 22 % that a compiler can shorten") {
  const Diagnosis d = typed("b_training");
  CHECK(d.regime == Regime::compute_bound);
  CHECK(d.phase == Phase::training);
  CHECK(nearest(d, "fraction", 0.78) == Approx(0.61 / 0.78));  // matrix kernels by themselves
  CHECK(nearest(d, "fraction", 0.22) == Approx(0.08 + 0.09 + 0.05));
  CHECK(nearest(d, "ratio", 1.28) == Approx(1 / (1 - 0.22)));
  REQUIRE_FALSE(d.fixes.empty());
  CHECK(d.fixes[0].name == "compile_fusion");
  CHECK(d.fixes[0].speedup.low > 1.09);
  CHECK(d.fixes[0].speedup.high < 1 / (1 - 0.22));
  REQUIRE_FALSE(d.rejects.empty());
  CHECK(d.rejects[0].name == "larger_batch");
  CHECK_FALSE(d.time_budget->in_seconds);
}

TEST_CASE("Case C: the score matrix explains the transient and the slow prefill") {
  const Diagnosis d = typed("c_summarizer");
  CHECK(d.regime == Regime::kernel_inefficiency);
  CHECK(d.phase == Phase::prefill);
  CHECK(nearest(d, "bytes", 40e9) == Approx(32.0 * 25000 * 25000 * 2));
  // Four passes over 32 such matrices in 55 % of 2.6 s.
  CHECK(nearest(d, "fraction", 0.68) == Approx(4 * 32 * 40e9 / (0.55 * 2.6 * 5.3e12)));
  // (400 + 328) TFLOP in 2.6 s.
  CHECK(nearest(d, "fraction", 0.214) == Approx((400e12 + 327.68e12) / (2.6 * 1307.4e12)));
  CHECK(nearest(d, "fraction", 0.26) == Approx(400e12 / (0.45 * 2.6 * 1307.4e12)));
  REQUIRE(d.fixes.size() == 2);
  CHECK(d.fixes[0].name == "fused_attention");
  CHECK(d.fixes[0].why.find("1.47 to 1.59 s") != std::string::npos);
  CHECK(d.fixes[1].name == "gemm_tuning");
  REQUIRE(d.rejects.size() == 3);
  CHECK(d.rejects[0].name == "weight_quantization_4bit");
  CHECK(d.rejects[2].name == "speculative_decoding");
}

TEST_CASE("Case D: the counter's FLOP say that prompts ride in the decode steps") {
  const Diagnosis d = typed("d_api");
  CHECK(d.regime == Regime::compute_bound);
  CHECK(d.phase == Phase::mixed);
  CHECK(nearest(d, "FLOP/byte", 256) == Approx(256));
  const double tokens = 0.71 * 1307.4e12 * (256.0 / 6100.0) / 68e9;  // 573
  CHECK(nearest(d, "tokens", 573) == Approx(tokens));
  CHECK(nearest(d, "tokens", 320) == Approx(tokens - 256));
  CHECK(nearest(d, "fraction", 0.306) == Approx(68.0 * 6100 / 256 / 5300));
  CHECK(mentions(d, "31.7 % of peak"));
  REQUIRE(d.fixes.size() == 2);
  CHECK(d.fixes[0].name == "fp8_w8a8");
  CHECK(d.fixes[0].speedup.high == Approx(1.87).margin(0.05));
  CHECK(d.fixes[1].name == "prefix_cache");
  REQUIRE_FALSE(d.rejects.empty());
  CHECK(d.rejects[0].name == "weight_quantization_4bit");
  CHECK(d.rejects[0].speedup.high < 1.05);
}

TEST_CASE("Case E: a quarter of the step at least is in neither kernels nor gaps") {
  const Diagnosis d = typed("e_gaps");
  CHECK(d.regime == Regime::overhead_bound);
  CHECK(d.phase == Phase::decode);
  CHECK(nearest(d, "steps/s", 215) == Approx(5300.0 / (16.0 + 32 * 0.27)));
  CHECK(nearest(d, "seconds", 7.5e-3) == Approx(1.0 / 36 - 450 * 45e-6));  // 27.8 - 20.25 ms
  CHECK(nearest(d, "fraction", 0.53) == Approx((0.14 * 5300 / 36 - 16) / (32 * 0.27)));
  REQUIRE(d.fixes.size() == 2);
  CHECK(d.fixes[0].name == "graph_capture");
  CHECK(d.fixes[0].speedup.low > 1.1);
  CHECK(d.fixes[0].speedup.high < 1.35);
  CHECK(d.fixes[1].name == "asynchronous_host");
  REQUIRE_FALSE(d.rejects.empty());
  CHECK(d.rejects[0].name == "weight_quantization_4bit");
  CHECK(d.rejects[0].speedup.high < 1.05);
}

TEST_CASE("An observed timeline leads to the same diagnosis as typed evidence") {
  struct Pair {
    const char* name;
    diagnosis::Observation observation;
  };
  const std::vector<Pair> pairs{{"a_chatbot", tests::chatbot()},
                                {"b_training", tests::training()},
                                {"c_summarizer", tests::summarizer()},
                                {"d_api", tests::api()},
                                {"e_gaps", tests::gaps()}};
  for (const Pair& pair : pairs) {
    INFO(pair.name);
    const Diagnosis by_hand = typed(pair.name);
    const Diagnosis read = diagnosis::diagnose(diagnosis::observe(pair.observation));
    CHECK(read.regime == by_hand.regime);
    CHECK(read.phase == by_hand.phase);
    REQUIRE_FALSE(read.fixes.empty());
    CHECK(read.fixes[0].name == by_hand.fixes[0].name);
    REQUIRE_FALSE(read.rejects.empty());
    CHECK(read.rejects[0].name == by_hand.rejects[0].name);
  }
}
