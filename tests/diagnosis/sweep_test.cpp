// Slopes and intercepts from points that were made of known ones.

#include "diagnosis/sweep.hpp"

#include <catch2/catch.hpp>

#include "core/random.hpp"
#include "diagnosis/diagnose.hpp"
#include "tests/diagnosis/observations.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::Cause;
using diagnosis::Causes;
using diagnosis::Clue;
using diagnosis::Evidence;
using diagnosis::Maybe;
using tests::clue_with;
using tests::fact;

namespace {

/// The server measured at several values of one quantity.
Evidence swept(Evidence server, Maybe& (*x)(Evidence&), const std::vector<double>& at,
               double (*seconds)(double)) {
  Evidence e = server;
  for (const double value : at) {
    Evidence point = server;
    x(point) = fact(value);
    point.measured.step_time = fact(seconds(value));
    e.sweep.push_back(point);
  }
  x(e) = x(e.sweep.back());
  e.measured.step_time = e.sweep.back().measured.step_time;
  return e;
}

Maybe& devices(Evidence& e) { return e.machine.devices; }
Maybe& sequences(Evidence& e) { return e.serving.concurrency; }
Maybe& contexts(Evidence& e) { return e.serving.context_tokens; }

std::vector<Clue> clues(const Evidence& e) { return clues_of_sweep(e, diagnosis::work_of(e)); }

const Causes kPerStep{Cause::communication, Cause::launch, Cause::host};

}  // namespace

TEST_CASE("A line through points of a line is that line") {
  // y = 3 + 2x
  const auto fit = diagnosis::fit_line({{1, 5}, {2, 7}, {10, 23}, {100, 203}});
  CHECK(fit.intercept == Approx(3.0));
  CHECK(fit.slope == Approx(2.0));
  // The unit of y only scales it.
  const auto small = diagnosis::fit_line({{1, 5e-9}, {2, 7e-9}, {10, 23e-9}});
  CHECK(small.intercept == Approx(3e-9));
  CHECK(small.slope == Approx(2e-9));
}

TEST_CASE("Points at one place have a mean and no slope") {
  const auto fit = diagnosis::fit_line({{4, 10}, {4, 10}});
  CHECK(fit.intercept == Approx(10.0));
  CHECK(fit.slope == 0.0);
  CHECK(diagnosis::fit_line({}).intercept == 0.0);
}

TEST_CASE("Errors count relative to what was measured") {
  // At (1, 1) and (2, 10) twice: the small point pulls as much as the large ones, so that a
  // constant through 1 and 10 lies near 1: (1/1 + 10/100) / (1/1 + 1/100) = 1.089.
  CHECK(diagnosis::fit_line({{3, 1}, {3, 10}}).intercept == Approx(1.1 / 1.01));
}

TEST_CASE("The part of a step that more devices do not shorten is a of a + b/N, exactly") {
  // 2 ms + 8 ms / N: 3 ms at 8 devices, two thirds of it fixed.
  const Evidence e = swept({}, devices, {1, 2, 4, 8}, [](double n) { return 2e-3 + 8e-3 / n; });
  const auto found = clues(e);
  REQUIRE(found.size() == 1);
  CHECK(found[0].causes == kPerStep);
  CHECK(found[0].value.best == Approx(2.0 / 3.0));
  CHECK(found[0].share.low == Approx(0.85 * 2.0 / 3.0));
  CHECK(found[0].share.high == Approx(1.15 * 2.0 / 3.0));
  CHECK(found[0].statement.find("2.00 ms does not shrink with N") != std::string::npos);
}

TEST_CASE("Any a and b come back from their points") {
  const core::RandomStream random(11, "a + b/N");
  for (std::uint64_t i = 0; i < 200; ++i) {
    const double a = std::pow(10.0, -5.0 + 4.0 * random.uniform(3 * i));
    const double b = std::pow(10.0, -5.0 + 4.0 * random.uniform(3 * i + 1));
    std::vector<diagnosis::Point2> points;
    for (const double n : {1.0, 2.0, 4.0, 8.0}) points.push_back({1.0 / n, a + b / n});
    const auto fit = diagnosis::fit_line(points);
    CHECK(fit.intercept == Approx(a).epsilon(1e-6));
    CHECK(fit.slope == Approx(b).epsilon(1e-6));
  }
}

TEST_CASE("A step that shrinks as devices are added has no part that does not") {
  CHECK(clues(swept({}, devices, {1, 2, 4, 8}, [](double n) { return 8e-3 / n; })).empty());
}

TEST_CASE("What more devices added is what devices do for each other") {
  // 10 ms alone, 20 ms on four: half of it at least, less the doubt of the fit.
  const auto found =
      clues(swept({}, devices, {1, 2, 4}, [](double n) { return n > 3 ? 20e-3 : 10e-3; }));
  REQUIRE(found.size() == 1);
  CHECK(found[0].causes == Causes(Cause::communication));
  CHECK(found[0].value.best == Approx(0.5));
  CHECK(found[0].share.low == Approx(0.85 * 0.5));
  CHECK(found[0].statement.find("4 devices take 2.00x the time of 1") == 0);
}

TEST_CASE("Rates alone show what share does not shrink") {
  // Times in proportion to 3/4 + 1/4 N: 1 and 0.8125 at four, 0.75 / 0.8125 of it fixed.
  const Evidence e = tests::typed(
      "sweep:\n- {devices: 1, requests_per_second: 10 /s}\n- {devices: 2, requests_per_second: "
      "11.4285714 /s}\n- {devices: 4, requests_per_second: 12.3076923 /s}\n");
  const auto found = clues(e);
  REQUIRE(found.size() == 1);
  CHECK(found[0].value.best == Approx(0.75 / 0.8125).epsilon(1e-3));
}

TEST_CASE("What a step takes beyond its roofs is paid once, or by each of its sequences") {
  // No roof is known: 5 ms + 0.1 ms each, 10 ms at 50. Half is paid once, half grows.
  const auto found =
      clues(swept({}, sequences, {1, 10, 50}, [](double n) { return 5e-3 + 0.1e-3 * n; }));
  const Clue* once = clue_with(found, "paid once a step");
  REQUIRE(once != nullptr);
  CHECK(once->causes == kPerStep);
  CHECK(once->value.best == Approx(0.5));
  CHECK(once->share.low == Approx(0.5 * 0.7));
  CHECK(once->share.high == Approx(0.5 + 0.15 * 0.5));
  const Clue* each = clue_with(found, "grows with them");
  REQUIRE(each != nullptr);
  CHECK(each->value.best == Approx(0.5));
  CHECK(each->causes == Causes{Cause::kernels, Cause::host});
}

TEST_CASE("A step that does not grow is paid once and by nobody in particular") {
  const auto found = clues(swept({}, sequences, {1, 10, 50}, [](double) { return 5e-3; }));
  REQUIRE(found.size() == 1);
  CHECK(found[0].value.best == Approx(1.0));
}

TEST_CASE("A slope over contexts is the rate at which attention reads") {
  Evidence server;
  server.machine.hbm_bandwidth = fact(2e12);
  server.model.layers = fact(32);
  server.model.kv_heads = fact(8);
  server.model.head_dim = fact(128);
  server.serving.concurrency = fact(1);
  // 2 x 32 x 8 x 128 x 2 = 131,072 bytes a token: 65.5 ns at 2 TB/s.
  const auto at_peak = clues(swept(server, contexts, {1000, 10000, 100000},
                                   [](double n) { return 5e-3 + 131072.0 / 2e12 * n; }));
  const Clue* fast = clue_with(at_peak, "bound by bandwidth");
  REQUIRE(fast != nullptr);
  CHECK(fast->causes == Causes(Cause::bandwidth));
  const double share = 6.5536e-3 / (5e-3 + 6.5536e-3);
  CHECK(fast->value.best == Approx(share).epsilon(1e-6));
  // Ten times as long: a tenth of peak, and nine tenths of the slope are the kernel's own.
  const auto slow = clues(swept(server, contexts, {1000, 10000, 100000},
                                [](double n) { return 5e-3 + 10.0 * 131072.0 / 2e12 * n; }));
  const Clue* kernel = clue_with(slow, "far from its bytes");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->causes == Causes(Cause::kernels));
  CHECK(kernel->value.best == Approx(0.9 * 65.536e-3 / (5e-3 + 65.536e-3)).epsilon(1e-6));
}

TEST_CASE("Offered against finished says whether the server keeps up, and nothing of a cause") {
  const auto found = clues(tests::typed(
      "sweep:\n- {request_rate: 5 /s, requests_per_second: 5 /s}\n- {request_rate: 20 /s, "
      "requests_per_second: 10 /s}\n"));
  const Clue* saturated = clue_with(found, "saturated");
  REQUIRE(saturated != nullptr);
  CHECK(saturated->causes.empty());
  CHECK(saturated->value.best == Approx(0.5));
}

TEST_CASE("Points that differ in nothing that is known say nothing") {
  CHECK(clues(swept({}, devices, {4, 4}, [](double) { return 1e-3; })).empty());
  Evidence one = swept({}, devices, {1, 4}, [](double n) { return n; });
  one.sweep.pop_back();
  CHECK(clues(one).empty());
  CHECK_THROWS_AS(tests::typed("sweep: [{devices: 1, itl: 3 ms}]"), core::ConfigError);
}

TEST_CASE("The unit in which times are typed does not matter") {
  const auto of = [](const char* one, const char* two, const char* eight) {
    return diagnosis::diagnose(tests::typed(
        std::string("machine: a100\nmodel: {parameters: 7e9, weight_dtype: bf16, layers: "
                    "32}\nserving: {concurrency: 1}\nsweep:\n- {devices: 1, itl: ") +
        one + "}\n- {devices: 2, itl: " + two + "}\n- {devices: 8, itl: " + eight + "}\n"));
  };
  const auto a = of("10.00 ms", "6.000 ms", "3.000 ms");
  const auto b = of("10000 us", "6.000e-3 s", "3000 us");
  CHECK(a.regime == b.regime);
  CHECK(a.confidence == Approx(b.confidence).epsilon(1e-9));
  CHECK(a.time_budget->share(Cause::communication).best ==
        Approx(b.time_budget->share(Cause::communication).best).epsilon(1e-9));
}
