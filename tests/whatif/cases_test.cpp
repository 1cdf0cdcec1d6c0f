// The five cases: the numbers come out, and two roads lead to one diagnosis.

#include <catch2/catch.hpp>

#include <cctype>
#include <cmath>
#include <cstdlib>

#include "tests/whatif/fixtures.hpp"

using namespace ridgeline;
using diagnosis::Phase;
using diagnosis::Regime;
using tests::first_of;
using tests::outcomes;

namespace {

struct Answer {
  const char* name;
  Regime regime;
  Phase phase;
  const char* fix;
  const char* reject;
};
constexpr Answer kAnswers[] = {
    {"a_chatbot", Regime::bandwidth_bound, Phase::decode, "weight_quantization_4bit",
     "larger_batch"},
    {"b_training", Regime::compute_bound, Phase::training, "compile_fusion", "larger_batch"},
    {"c_summarizer", Regime::kernel_inefficiency, Phase::prefill, "fused_attention",
     "weight_quantization_4bit"},
    {"d_api", Regime::compute_bound, Phase::mixed, "fp8_w8a8", "weight_quantization_4bit"},
    {"e_gaps", Regime::overhead_bound, Phase::decode, "graph_capture", "weight_quantization_4bit"},
};

double simulated(const std::string& name, const std::string& quantity) {
  for (const auto& line : outcomes().at(name).lines) {
    if (line.expected.quantity == quantity) return line.simulated;
  }
  FAIL(name << " does not state " << quantity);
  return 0.0;
}

/// The numbers in a text, those inside names (llama2_7b) left out.
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> out;
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t i = 0; i < text.size();) {
    if (!in_word(text[i])) {
      ++i;
      continue;
    }
    char* end = nullptr;
    const double value = std::strtod(text.c_str() + i, &end);
    if (text[i] >= '0' && text[i] <= '9') out.push_back(value);
    while (i < text.size() && (in_word(text[i]) || text[i] == '.')) ++i;
  }
  return out;
}

}  // namespace

TEST_CASE("Every number of every case comes out within its interval", "[whatif][cases]") {
  REQUIRE(outcomes().size() == 5);
  for (const auto& [name, outcome] : outcomes()) {
    for (const auto& line : outcome.lines) {
      INFO(name << ": " << line.expected.quantity << " = " << line.simulated << ", accepted "
                << line.expected.accepted.low << " to " << line.expected.accepted.high);
      CHECK(line.holds());
    }
    CHECK(outcome.numbers_hold());
  }
}

TEST_CASE("Timeline and typed evidence lead to the same answer, which is the right one",
          "[whatif][cases]") {
  for (const Answer& answer : kAnswers) {
    INFO(answer.name);
    const auto& outcome = outcomes().at(answer.name);
    for (const auto* d : {&outcome.from_timeline, &outcome.from_typed}) {
      INFO((d == &outcome.from_timeline ? "from the timeline" : "from typed evidence"));
      CHECK(d->regime == answer.regime);
      CHECK(d->phase == answer.phase);
      CHECK(first_of(d->fixes) == answer.fix);
      CHECK(first_of(d->rejects) == answer.reject);
    }
    CHECK(outcome.diagnoses_agree());
  }
}

TEST_CASE("What follows from bytes alone comes out exactly", "[whatif][cases]") {
  // 5,300 GB/s / 26 GB. The vocabulary that makes the dimensions add up to 13 B leaves one part in
  // 10,000.
  CHECK(simulated("a_chatbot", "ceiling_tokens_per_second") == Approx(5300.0 / 26.0).epsilon(1e-4));
  CHECK(simulated("c_summarizer", "transient_bytes") ==
        32.0 * 25000 * 25000 * 2);  // heads x n x n x 2 bytes
  // 32 sequences of 2,048 tokens, 2 x 32 layers x 8 heads x 128 x 2 bytes each: 8.6 GB beside 16.06
  // GB of weights.
  CHECK(simulated("e_gaps", "ceiling_steps_per_second") ==
        Approx(5.3e12 / (16.06e9 + 32 * 2048 * 131072.0)).epsilon(1e-3));
}

TEST_CASE("Numbers of a case agree with one another", "[whatif][cases]") {
  // A: a token reads the weights once, so the share of the ceiling is the weights' share of the
  // bandwidth; KV adds about 1 %.
  CHECK(simulated("a_chatbot", "tokens_per_second") /
            simulated("a_chatbot", "ceiling_tokens_per_second") ==
        Approx(simulated("a_chatbot", "hbm_fraction")).epsilon(0.03));
  CHECK(simulated("a_chatbot", "useful_flop_fraction") ==
        Approx(simulated("a_chatbot", "tokens_per_second") * 26e9 / 1307.4e12).epsilon(0.03));
  CHECK(simulated("b_training", "share_gemm") + simulated("b_training", "share_flash_attention") +
            simulated("b_training", "share_layer_norm") +
            simulated("b_training", "share_elementwise") + simulated("b_training", "share_cast") <=
        1.0);
}

TEST_CASE("Numbers are told from names", "[whatif][cases]") {
  CHECK(numbers_in("{uniform: {low: 25, high: 0.72}}") == std::vector<double>{25, 0.72});
  CHECK(numbers_in("llama2_7b") == std::vector<double>{});
  CHECK(numbers_in("20 us") == std::vector<double>{20});
}

TEST_CASE("No number that must come out went in", "[whatif][cases]") {
  for (const auto& [name, outcome] : outcomes()) {
    for (const auto& free : outcome.what.free) {
      for (const double value : numbers_in(free.value)) {
        for (const auto& line : outcome.lines) {
          INFO(name << ": " << free.keys.front() << " = " << free.value << ", "
                    << line.expected.quantity);
          CHECK(std::abs(value - line.expected.value) > 1e-3 * line.expected.value);
          CHECK(std::abs(value - 100.0 * line.expected.value) > 0.1 * line.expected.value);
        }
      }
    }
  }
}

TEST_CASE("A free value that is another makes the numbers come out wrong", "[whatif][cases]") {
  // Otherwise the parameter would not be one.
  for (const auto& [name, outcome] : outcomes()) {
    if (name != "a_chatbot" && name != "e_gaps") continue;
    whatif::Case changed = outcome.what;
    std::vector<sim::Override> overrides;
    for (const auto& free : changed.free) {
      for (const auto& key : free.keys) overrides.emplace_back(key, free.value);
    }
    overrides.back().second = name == "a_chatbot" ? "0.5" : "1 ms";
    changed.scenario = whatif::open_scenario(name, overrides, tests::shipped());
    CHECK_FALSE(whatif::run_case(changed, tests::shipped()).numbers_hold());
  }
}

TEST_CASE("A case as JSON has what went in, what came out and what was said about it",
          "[whatif][cases]") {
  for (const auto& [name, outcome] : outcomes()) {
    const auto json = whatif::to_json(outcome);
    std::string keys;
    for (const auto& [key, value] : json.items()) keys += key + " ";
    CHECK(keys ==
          "case title simulated expected accepted given free diagnosis numbers_hold "
          "diagnoses_agree ");
    CHECK(json["simulated"].size() == outcome.lines.size());
    CHECK(json["free"].size() == outcome.what.free.size());
    CHECK(json["diagnosis"]["typed"]["regime"] == json["diagnosis"]["simulated"]["regime"]);
    CHECK(json["numbers_hold"] == true);
  }
}
