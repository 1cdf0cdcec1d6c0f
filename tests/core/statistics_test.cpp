#include "core/statistics.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/random.hpp"

namespace {

using namespace ridgeline::core;  // NOLINT: a test of this one folder

TEST_CASE("Percentiles are NumPy's linear ones", "[core][statistics]") {
  const Summary s = summarize({5, 1, 4, 2, 3});  // sorted 1 2 3 4 5; rank of p is p * 4
  CHECK(s.count == 5);
  CHECK(s.mean == 3.0);
  CHECK(s.std == Approx(std::sqrt(2.0)));  // (4 + 1 + 0 + 1 + 4) / 5
  CHECK(s.min == 1.0);
  CHECK(s.p50 == 3.0);
  CHECK(s.p90 == Approx(4.6));   // rank 3.6: 4 + 0.6 of the way to 5
  CHECK(s.p95 == Approx(4.8));   // rank 3.8
  CHECK(s.p99 == Approx(4.96));  // rank 3.96
  CHECK(s.max == 5.0);
}

TEST_CASE("The median of an even number of samples is halfway between the middle two",
          "[core][statistics]") {
  CHECK(summarize({10, 40, 20, 30}).p50 == 25.0);
  CHECK(summarize({0, 10}).p99 == Approx(9.9));
}

TEST_CASE("Percentiles of 0 to 100 are themselves", "[core][statistics]") {
  std::vector<double> samples;
  for (int i = 100; i >= 0; --i) samples.push_back(i);
  const Summary s = summarize(samples);
  CHECK(s.p50 == Approx(50));
  CHECK(s.p90 == Approx(90));
  CHECK(s.p95 == Approx(95));
  CHECK(s.p99 == Approx(99));
  CHECK(s.std == Approx(std::sqrt(850.0)));  // (n^2 - 1) / 12 with n = 101
}

TEST_CASE("One sample is every statistic of itself", "[core][statistics]") {
  const Summary s = summarize({7});
  CHECK(s.count == 1);
  CHECK((s.mean == 7 && s.min == 7 && s.p50 == 7 && s.p90 == 7 && s.p95 == 7 && s.p99 == 7 &&
         s.max == 7));
  CHECK(s.std == 0.0);
}

TEST_CASE("No samples summarize to zeros", "[core][statistics]") {
  CHECK(summarize(std::vector<double>{}).count == 0);
  std::vector<WeightedSample> never{{5.0, 0}, {6.0, 0}};
  const Summary s = summarize(never);
  CHECK((s.count == 0 && s.mean == 0 && s.max == 0 && s.p99 == 0));
}

TEST_CASE("A sample that never occurred counts for nothing", "[core][statistics]") {
  std::vector<WeightedSample> samples{{1.0, 1}, {1000.0, 0}, {3.0, 1}};
  const Summary s = summarize(samples);
  CHECK((s.count == 2 && s.mean == 2.0 && s.max == 3.0));
}

TEST_CASE("A sample with a count is that many samples", "[core][statistics]") {
  const RandomStream random(1, "statistics");
  std::uint64_t n = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<WeightedSample> weighted;
    std::vector<double> plain;
    const std::int64_t values = random.uniform_int(n++, 1, 12);
    for (std::int64_t i = 0; i < values; ++i) {
      const double value =
          static_cast<double>(random.uniform_int(n++, -5, 5));  // repeats among values too
      const auto count = static_cast<std::uint64_t>(random.uniform_int(n++, 1, 6));
      weighted.push_back({value, count});
      plain.insert(plain.end(), count, value);
    }
    const Summary a = summarize(weighted);
    const Summary b = summarize(plain);
    REQUIRE(a.count == b.count);
    REQUIRE(a.mean == Approx(b.mean).margin(1e-12));
    REQUIRE(a.std == Approx(b.std).margin(1e-12));
    REQUIRE((a.min == b.min && a.p50 == b.p50 && a.p90 == b.p90 && a.p95 == b.p95 &&
             a.p99 == b.p99 && a.max == b.max));
    REQUIRE(
        (a.min <= a.p50 && a.p50 <= a.p90 && a.p90 <= a.p95 && a.p95 <= a.p99 && a.p99 <= a.max));
  }
}

TEST_CASE("A billion equal samples take one line", "[core][statistics]") {
  std::vector<WeightedSample> samples{{1.0, 1'000'000'000}, {2.0, 1'000'000'000}};
  const Summary s = summarize(samples);
  CHECK(s.count == 2'000'000'000);
  CHECK(s.mean == 1.5);
  CHECK(s.p50 == 1.5);  // rank 999,999,999.5, halfway between the last 1 and the first 2
  CHECK(s.p90 == 2.0);
}

}  // namespace
