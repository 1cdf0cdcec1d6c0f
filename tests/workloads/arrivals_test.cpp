#include "workloads/arrivals.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/workloads/fixtures.hpp"

namespace {

using namespace ridgeline::workloads;  // NOLINT: a test of this one folder
using ridgeline::core::Instant;
using ridgeline::tests::error_of;

struct Gaps {
  double mean = 0.0;
  double cv = 0.0;
};

Gaps gaps_of(const std::vector<Instant>& times) {
  double sum = 0.0;
  double squares = 0.0;
  Instant before{};
  for (const Instant time : times) {
    const double gap = (time - before).seconds().value();
    sum += gap;
    squares += gap * gap;
    before = time;
  }
  const auto n = static_cast<double>(times.size());
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean) / mean};
}

ArrivalProcess read(const std::string& yaml) {
  const ridgeline::core::Node node = ridgeline::core::parse_yaml("arrivals: " + yaml, "w.yaml");
  const ridgeline::core::Reader in(node);
  ArrivalProcess process = read_arrivals(in);
  in.finish();
  return process;
}

TEST_CASE("Constant gaps put the n-th of N requests at n / rate", "[workloads][arrivals]") {
  CHECK(arrival_times(ConstantArrivals{4.0}, 3, 1) ==
        std::vector<Instant>{{250'000'000}, {500'000'000}, {750'000'000}});
}

TEST_CASE("Poisson gaps left as drawn average to 1 / rate with a coefficient of variation of 1",
          "[workloads][arrivals]") {
  const Gaps gaps =
      gaps_of(arrival_times(PoissonArrivals{.rate = 5.0, .rescale = false}, 100'000, 1));
  // Standard errors: of the mean cv / sqrt(n) = 0.32 %; of the cv 1 / sqrt(n) = 0.32 % (kurtosis
  // 9).
  CHECK(gaps.mean == Approx(0.2).epsilon(4 * 0.0032));
  CHECK(gaps.cv == Approx(1.0).epsilon(4 * 0.0032));
}

TEST_CASE("Two thirds less a bit of Poisson gaps are below the mean", "[workloads][arrivals]") {
  const auto times = arrival_times(PoissonArrivals{.rate = 1.0, .rescale = false}, 100'000, 3);
  std::int64_t below = 0;
  Instant before{};
  for (const Instant time : times) {
    if ((time - before).count < 1'000'000'000) ++below;
    before = time;
  }
  // P(gap < mean) = 1 - 1/e = 0.63212; standard error sqrt(0.632 * 0.368 / 100,000) = 0.0015.
  CHECK(static_cast<double>(below) / 100'000 == Approx(0.63212).margin(4 * 0.0015));
}

TEST_CASE("Gamma gaps average to 1 / rate with the coefficient of variation asked for",
          "[workloads][arrivals]") {
  for (const double cv : {0.25, 1.0, 2.0}) {
    const Gaps gaps =
        gaps_of(arrival_times(GammaArrivals{.rate = 10.0, .cv = cv, .rescale = false}, 100'000, 1));
    INFO("cv " << cv);
    CHECK(gaps.mean == Approx(0.1).epsilon(4 * cv / std::sqrt(1e5)));
    // The relative variance of a sample's cv is (cv^2 - skew * cv + (kurtosis - 1) / 4) / n; a
    // gamma law has skew 2 cv and kurtosis 3 + 6 cv^2, which leaves (1 + cv^2) / 2n: a standard
    // error of 0.5 % for cv = 2.
    CHECK(gaps.cv == Approx(cv).epsilon(4 * std::sqrt((1 + cv * cv) / 2e5)));
  }
}

TEST_CASE("Gamma with a coefficient of variation of 1 is Poisson", "[workloads][arrivals]") {
  const auto poisson = arrival_times(PoissonArrivals{.rate = 3.0}, 1000, 5);
  const auto gamma = arrival_times(GammaArrivals{.rate = 3.0, .cv = 1.0}, 1000, 5);
  std::int64_t apart = 0;
  for (std::size_t i = 0; i < poisson.size(); ++i)
    apart = std::max(apart, std::abs(poisson[i].ns - gamma[i].ns));
  CHECK(apart <= 1);  // the same quantiles by two formulas
}

TEST_CASE("Rescaled, the last of N requests arrives at N / rate exactly", "[workloads][arrivals]") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    // 1000 / 8 = 125 s
    CHECK(arrival_times(PoissonArrivals{.rate = 8.0}, 1000, seed).back() ==
          Instant{125'000'000'000});
    CHECK(arrival_times(GammaArrivals{.rate = 8.0, .cv = 13.0}, 1000, seed).back() ==
          Instant{125'000'000'000});
  }
  CHECK(arrival_times(PoissonArrivals{.rate = 4.0}, 1, 9) == std::vector<Instant>{{250'000'000}});
}

TEST_CASE("Rescaling stretches all gaps alike", "[workloads][arrivals]") {
  const auto drawn = arrival_times(PoissonArrivals{.rate = 2.0, .rescale = false}, 50, 4);
  const auto rescaled = arrival_times(PoissonArrivals{.rate = 2.0, .rescale = true}, 50, 4);
  const double factor = 25e9 / static_cast<double>(drawn.back().ns);  // 50 / 2 = 25 s
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    CHECK(static_cast<double>(rescaled[i].ns) ==
          Approx(static_cast<double>(drawn[i].ns) * factor).margin(2.0));
  }
}

TEST_CASE("Arrivals are in order and repeat bit for bit; another seed gives others",
          "[workloads][arrivals]") {
  const ArrivalProcess process = GammaArrivals{.rate = 2.0, .cv = 3.0};
  const auto times = arrival_times(process, 1000, 11);
  CHECK(std::is_sorted(times.begin(), times.end()));
  CHECK(times == arrival_times(process, 1000, 11));
  CHECK(times != arrival_times(process, 1000, 12));
}

TEST_CASE("Unrescaled arrivals of a short run begin those of a longer one",
          "[workloads][arrivals]") {
  const ArrivalProcess process = PoissonArrivals{.rate = 2.0, .rescale = false};
  auto longer = arrival_times(process, 100, 1);
  longer.resize(40);
  CHECK(longer == arrival_times(process, 40, 1));
}

TEST_CASE("The burstiest and the steadiest gamma law allowed stay within the clock",
          "[workloads][arrivals]") {
  for (const double cv : {0.001, 100.0}) {
    for (const bool rescale : {true, false}) {
      const auto times =
          arrival_times(GammaArrivals{.rate = 1.0, .cv = cv, .rescale = rescale}, 1000, 1);
      CHECK(std::is_sorted(times.begin(), times.end()));
      CHECK(times.front().ns >= 0);
      CHECK(times.back().since_start().value() <= 1e9);
    }
  }
}

TEST_CASE("A closed loop has no arrivals of its own", "[workloads][arrivals]") {
  CHECK_FALSE(rate_of(ClosedLoop{}));
  CHECK_THROWS_AS(arrival_times(ClosedLoop{}, 1, 1), ridgeline::core::InvariantError);
}

TEST_CASE("An arrival process reads as it is written", "[workloads][arrivals]") {
  CHECK(read("{poisson: {rate: 5.5 /s}}") == ArrivalProcess{PoissonArrivals{5.5, true}});
  CHECK(read("{poisson: {rate: 5.5, rescale: false}}") ==
        ArrivalProcess{PoissonArrivals{5.5, false}});
  CHECK(read("{gamma: {rate: 120 /min, cv: 2}}") == ArrivalProcess{GammaArrivals{2.0, 2.0, true}});
  CHECK(read("{constant: {rate: 1}}") == ArrivalProcess{ConstantArrivals{1.0}});
  CHECK(read("{closed_loop: {concurrency: 8}}") == ArrivalProcess{ClosedLoop{8, {0}}});
  CHECK(read("{closed_loop: {concurrency: 8, think_time: 20 ms}}") ==
        ArrivalProcess{ClosedLoop{8, {20'000'000}}});
}

TEST_CASE("A wrong arrival process says what was expected and where", "[workloads][arrivals]") {
  const auto error_for = [](const std::string& yaml) {
    return error_of([&] { static_cast<void>(read(yaml)); });
  };
  const std::string rate =
      "expected a rate like '5.5' or '5.5 /s', above 0 and at most 1e9 /s, got ";
  CHECK(error_for("{poisson: {}}") ==
        "w.yaml:1:21: arrivals.poisson.rate: " + rate + "nothing (the key is missing)");
  for (const std::string bad : {"0", "-1", "inf", "nan", "1e400", "5 s", "2e9"}) {
    CHECK(error_for("{poisson: {rate: " + bad + "}}") ==
          "w.yaml:1:28: arrivals.poisson.rate: " + rate + "'" + bad + "'");
  }
  CHECK(error_for("{poisson: {rate: 1, rescale: maybe}}") ==
        "w.yaml:1:40: arrivals.poisson.rescale: expected true or false, got 'maybe'");
  CHECK(error_for("{gamma: {rate: 1, cv: 0}}") ==
        "w.yaml:1:33: arrivals.gamma.cv: expected a coefficient of variation from 0.001 to 100, "
        "got '0'");
  CHECK(error_for("{closed_loop: {concurrency: 0}}") ==
        "w.yaml:1:39: arrivals.closed_loop.concurrency: expected a whole number from 1 to "
        "100000000, got '0'");
  CHECK(error_for("{closed_loop: {concurrency: 1, think_time: 2e6 s}}") ==
        "w.yaml:1:54: arrivals.closed_loop.think_time: expected a time of at most 1e6 s, got '2e6 "
        "s'");
  CHECK(error_for("{poison: {rate: 1}}") ==
        "w.yaml:1:12: arrivals.poison: unknown law; did you mean 'poisson'?");
  CHECK(error_for("poisson") ==
        "w.yaml:1:11: arrivals: expected a map with one of poisson, gamma, constant, closed_loop, "
        "got 'poisson'");
}

}  // namespace
