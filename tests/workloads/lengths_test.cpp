#include "workloads/lengths.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/workloads/fixtures.hpp"

namespace {

using namespace ridgeline::workloads;  // NOLINT: a test of this one folder
using ridgeline::tests::error_of;
using ridgeline::tests::TemporaryFolder;

constexpr std::uint64_t kDraws = 100'000;

std::vector<double> draw(const LengthLaw& law, TokenKind kind = TokenKind::prompt,
                         std::uint64_t seed = 1) {
  const Lengths lengths(law, kind, seed);
  std::vector<double> out;
  for (std::uint64_t n = 0; n < kDraws; ++n)
    out.push_back(static_cast<double>(lengths.tokens_of(n)));
  return out;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

LengthLaw read(const std::string& yaml) {
  const ridgeline::core::Node node = ridgeline::core::parse_yaml(yaml, "w.yaml");
  const ridgeline::core::Reader in(node);
  LengthLaw law = read_length_law(in, TokenKind::prompt);
  in.finish();
  return law;
}

std::string error_for(const std::string& yaml) {
  return error_of([&] { static_cast<void>(read(yaml)); });
}

TEST_CASE("A fixed length is the same for every request", "[workloads][lengths]") {
  const Lengths lengths(FixedLength{512}, TokenKind::prompt, 1);
  CHECK(lengths.tokens_of(0) == 512);
  CHECK(lengths.tokens_of(999'999'999) == 512);
}

TEST_CASE("Uniform lengths reach both ends and average to the middle", "[workloads][lengths]") {
  const auto lengths = draw(UniformLength{10, 90});
  CHECK(*std::min_element(lengths.begin(), lengths.end()) == 10);
  CHECK(*std::max_element(lengths.begin(), lengths.end()) == 90);
  // 81 values: variance (81^2 - 1) / 12 = 546.7, so the mean of 100,000 is 50 with a standard error
  // of 23.4 / 316 = 0.074.
  CHECK(mean_of(lengths) == Approx(50.0).margin(4 * 0.074));
}

TEST_CASE("Quantiles are met, and lengths between two of them are as likely",
          "[workloads][lengths]") {
  auto lengths = draw(QuantileLength{{10, 20, 100}});
  std::sort(lengths.begin(), lengths.end());
  CHECK(lengths.front() == 10);
  CHECK(lengths.back() == 100);
  // Half are at most 20; a share of 100,000 has a standard error of 0.5 / 316 = 0.0016.
  const auto short_ones =
      std::count_if(lengths.begin(), lengths.end(), [](double n) { return n <= 20.0; });
  CHECK(static_cast<double>(short_ones) / kDraws == Approx(0.5).margin(0.004 + 4 * 0.0016));
  // The mean of the halves' middles: (15 + 60) / 2. Standard deviation below 31, of 100,000: 0.1.
  CHECK(mean_of(lengths) == Approx(37.5).margin(4 * 0.1));
}

TEST_CASE("Two quantiles are a uniform law, equal ones a fixed length", "[workloads][lengths]") {
  const auto lengths = draw(QuantileLength{{1, 1001}});
  CHECK(mean_of(lengths) == Approx(501.0).margin(4 * 0.92));  // 289 / 316
  const Lengths same(QuantileLength{{7, 7}}, TokenKind::output, 3);
  CHECK(same.tokens_of(0) == 7);
}

TEST_CASE("A uniform law of one value is that value", "[workloads][lengths]") {
  const Lengths lengths(UniformLength{7, 7}, TokenKind::prompt, 1);
  CHECK(lengths.tokens_of(3) == 7);
}

TEST_CASE(
    "Half of all lognormal lengths lie below the median, and the mean is median * exp(sigma^2 / 2)",
    "[workloads][lengths]") {
  const auto lengths = draw(LognormalLength{.median = 1000, .sigma = 0.5});
  const auto below =
      std::count_if(lengths.begin(), lengths.end(), [](double v) { return v < 1000; });
  // Binomial: standard error sqrt(0.25 / 100,000) = 0.0016; rounding moves 0.0004 (half a token of
  // density 0.0008).
  CHECK(static_cast<double>(below) / kDraws == Approx(0.5).margin(4 * 0.0016));
  // Mean 1000 * exp(0.125) = 1133.1; cv = sqrt(exp(0.25) - 1) = 0.533, standard error 1133.1 *
  // 0.533 / 316 = 1.9.
  CHECK(mean_of(lengths) == Approx(1133.1).margin(4 * 1.9));
}

TEST_CASE("Lognormal lengths outside the bounds become the bound", "[workloads][lengths]") {
  const auto lengths = draw(LognormalLength{.median = 100, .sigma = 1.0, .min = 100, .max = 200});
  CHECK(*std::min_element(lengths.begin(), lengths.end()) == 100);
  CHECK(*std::max_element(lengths.begin(), lengths.end()) == 200);
  // At least the half below the median sits on the lower bound.
  const auto at_min = std::count(lengths.begin(), lengths.end(), 100.0);
  CHECK(static_cast<double>(at_min) / kDraws > 0.49);
}

TEST_CASE("The widest lognormal law still gives lengths that a request may have",
          "[workloads][lengths]") {
  const auto lengths = draw(LognormalLength{.median = 1e7, .sigma = 10.0});
  CHECK(*std::min_element(lengths.begin(), lengths.end()) >= 1);
  CHECK(*std::max_element(lengths.begin(), lengths.end()) == kMostTokens);
}

TEST_CASE("Empirical lengths are those of their column, as often as there",
          "[workloads][lengths]") {
  const TemporaryFolder folder;
  const auto file = folder.write("t.csv",
                                 "arrived_at,num_prefill_tokens,num_decode_tokens\n"
                                 "0,10,1\n1,10,2\n2,10,3\n3,50,4\n4,99,0\n");
  const auto prompts = draw(EmpiricalLength{file}, TokenKind::prompt);
  CHECK(std::all_of(prompts.begin(), prompts.end(), [](double v) { return v == 10 || v == 50; }));
  // Three of the four requests left have 10: standard error sqrt(3/16 / 100,000) = 0.0014.
  const auto tens = std::count(prompts.begin(), prompts.end(), 10.0);
  CHECK(static_cast<double>(tens) / kDraws == Approx(0.75).margin(4 * 0.0014));
  const auto outputs = draw(EmpiricalLength{file}, TokenKind::output);
  CHECK(*std::max_element(outputs.begin(), outputs.end()) == 4);
  const Lengths lengths(EmpiricalLength{file}, TokenKind::output, 1);
  CHECK(lengths.notes() ==
        std::vector<std::string>{file.string() + ": 1 of 5 rows left out: no output tokens"});
}

TEST_CASE("The n-th length does not depend on which were asked for before",
          "[workloads][lengths]") {
  const Lengths forwards(LognormalLength{.median = 100, .sigma = 1.0}, TokenKind::prompt, 7);
  const Lengths backwards(LognormalLength{.median = 100, .sigma = 1.0}, TokenKind::prompt, 7);
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
  for (std::uint64_t n = 0; n < 100; ++n) a.push_back(forwards.tokens_of(n));
  for (std::uint64_t n = 100; n-- > 0;) b.push_back(backwards.tokens_of(n));
  std::reverse(b.begin(), b.end());
  CHECK(a == b);
}

TEST_CASE("Prompts and outputs of one law and seed are uncorrelated, and so are two seeds",
          "[workloads][lengths]") {
  const LengthLaw law = UniformLength{1, 1000};
  const auto correlation = [](const std::vector<double>& x, const std::vector<double>& y) {
    const double mx = mean_of(x);
    const double my = mean_of(y);
    double xy = 0.0;
    double xx = 0.0;
    double yy = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      xy += (x[i] - mx) * (y[i] - my);
      xx += (x[i] - mx) * (x[i] - mx);
      yy += (y[i] - my) * (y[i] - my);
    }
    return xy / std::sqrt(xx * yy);
  };
  const auto prompts = draw(law, TokenKind::prompt, 1);
  // The correlation of n independent pairs has a standard error of 1 / sqrt(n) = 0.0032.
  CHECK(correlation(prompts, draw(law, TokenKind::output, 1)) == Approx(0.0).margin(4 * 0.0032));
  CHECK(correlation(prompts, draw(law, TokenKind::prompt, 2)) == Approx(0.0).margin(4 * 0.0032));
}

TEST_CASE("A length law reads as it is written", "[workloads][lengths]") {
  CHECK(read("prompt_tokens: 50") == LengthLaw{FixedLength{50}});
  CHECK(read("prompt_tokens: {fixed: 50}") == LengthLaw{FixedLength{50}});
  CHECK(read("prompt_tokens: {uniform: {low: 10, high: 90}}") == LengthLaw{UniformLength{10, 90}});
  CHECK(read("prompt_tokens: {lognormal: {median: 120, sigma: 0.8, max: 4096}}") ==
        LengthLaw{LognormalLength{120, 0.8, 1, 4096}});
  CHECK(read("prompt_tokens: {quantiles: [10, 20, 100]}") ==
        LengthLaw{QuantileLength{{10, 20, 100}}});
}

TEST_CASE("A wrong length law says what was expected and where", "[workloads][lengths]") {
  const std::string laws = "fixed, uniform, lognormal, quantiles, empirical";
  CHECK(error_for("a: 1") == "w.yaml:1:1: prompt_tokens: expected a map with one of " + laws +
                                 ", got nothing (the key is missing)");
  CHECK(error_for("prompt_tokens: [1]") ==
        "w.yaml:1:16: prompt_tokens: expected a map with one of " + laws + ", got a list");
  CHECK(error_for("prompt_tokens: many") ==
        "w.yaml:1:16: prompt_tokens: expected a whole number from 1 to 10000000, got 'many'");
  CHECK(error_for("prompt_tokens: 0") ==
        "w.yaml:1:16: prompt_tokens: expected a whole number from 1 to 10000000, got '0'");
  CHECK(error_for("prompt_tokens: {}") ==
        "w.yaml:1:16: prompt_tokens: expected exactly one of " + laws + ", got 0 keys");
  CHECK(error_for("prompt_tokens: {fixed: 1, uniform: {low: 1, high: 2}}") ==
        "w.yaml:1:16: prompt_tokens: expected exactly one of " + laws + ", got 2 keys");
  CHECK(error_for("prompt_tokens: {unifrom: {low: 1, high: 2}}") ==
        "w.yaml:1:17: prompt_tokens.unifrom: unknown law; did you mean 'uniform'?");
  CHECK(error_for("prompt_tokens: {zipf: {s: 1}}") ==
        "w.yaml:1:17: prompt_tokens.zipf: unknown law; known: " + laws);
  CHECK(error_for("prompt_tokens: {uniform: {low: 9, high: 2}}") ==
        "w.yaml:1:41: prompt_tokens.uniform.high: expected a number of tokens not below 'low', got "
        "'2'");
  CHECK(error_for("prompt_tokens: {lognormal: {median: 0.5, sigma: 1}}") ==
        "w.yaml:1:37: prompt_tokens.lognormal.median: expected a number of tokens from 1 to "
        "10000000, got '0.5'");
  CHECK(error_for("prompt_tokens: {lognormal: {median: 5, sigma: 0}}") ==
        "w.yaml:1:47: prompt_tokens.lognormal.sigma: expected a number above 0 and at most 10, got "
        "'0'");
  CHECK(error_for("prompt_tokens: {lognormal: {median: 5, sigma: 1, min: 9, max: 8}}") ==
        "w.yaml:1:63: prompt_tokens.lognormal.max: expected 'min' not above 'max', got '8'");
  CHECK(error_for("prompt_tokens: {quantiles: [5]}") ==
        "w.yaml:1:28: prompt_tokens.quantiles: expected at least the shortest and the longest "
        "length, got a list");
  CHECK(error_for("prompt_tokens: {quantiles: [5, 4]}") ==
        "w.yaml:1:28: prompt_tokens.quantiles: expected lengths in ascending order, got a list");
  CHECK(error_for("prompt_tokens: {quantiles: [0, 4]}") ==
        "w.yaml:1:28: prompt_tokens.quantiles: expected whole numbers from 1 to 10000000, got '0'");
  CHECK(error_for("prompt_tokens: {uniform: {low: 1, high: 2, mean: 3}}") ==
        "w.yaml:1:44: prompt_tokens.uniform.mean: unknown key; known: high, low");
}

TEST_CASE("A trace of lengths is missed when lengths are drawn, and the error says who named it",
          "[workloads][lengths]") {
  const ridgeline::core::Node node =
      ridgeline::core::parse_yaml("prompt_tokens: {empirical: /nowhere/t.csv}", "w.yaml");
  const LengthLaw law = read_length_law(ridgeline::core::Reader(node), TokenKind::prompt);
  CHECK(error_of([&] { static_cast<void>(Lengths(law, TokenKind::prompt, 1)); }) ==
        "w.yaml:1:28: prompt_tokens.empirical: no such file: /nowhere/t.csv");
}

}  // namespace
