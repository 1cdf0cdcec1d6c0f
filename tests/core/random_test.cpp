#include "core/random.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace {

using namespace ridgeline::core;  // NOLINT: a test of this one folder

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
};

/// Of a quantile function, over n equal slices of (0, 1).
Moments moments(const std::function<double(double)>& quantile) {
  constexpr int kSlices = 20'000;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kSlices; ++i) {
    const double x = quantile((i + 0.5) / kSlices);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kSlices;
  return {mean, std::sqrt(squares / kSlices - mean * mean)};
}

TEST_CASE("The n-th number of a stream does not depend on what was asked before",
          "[core][random]") {
  const RandomStream a(7, "arrivals");
  std::vector<std::uint64_t> forward;
  for (std::uint64_t n = 0; n < 100; ++n) forward.push_back(a.bits(n));
  const RandomStream b(7, "arrivals");
  for (std::uint64_t n = 100; n-- > 0;) REQUIRE(b.bits(n) == forward[n]);
  CHECK(a.uniform(3) == b.uniform(3));
  CHECK(a.uniform_int(3, 0, 1000) == b.uniform_int(3, 0, 1000));
}

TEST_CASE("Streams of another name or another seed have other numbers", "[core][random]") {
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    for (const char* name : {"a", "b", "ab", "ba", "aa"}) {
      for (std::uint64_t n = 0; n < 1000; ++n) seen.insert(RandomStream(seed, name).bits(n));
    }
  }
  CHECK(seen.size() == 3 * 5 * 1000);  // of 2^64: a repeat would be no accident
}

TEST_CASE("Streams are not correlated, nor are neighbours in a stream", "[core][random]") {
  constexpr int kDraws = 100'000;
  const RandomStream a(1, "prompt");
  const RandomStream b(1, "output");
  const RandomStream c(2, "prompt");
  double names = 0.0;
  double seeds = 0.0;
  double neighbours = 0.0;
  for (std::uint64_t n = 0; n < kDraws; ++n) {
    const double x = a.uniform(n) - 0.5;
    names += x * (b.uniform(n) - 0.5);
    seeds += x * (c.uniform(n) - 0.5);
    neighbours += x * (a.uniform(n + 1) - 0.5);
  }
  // A product of two independent ones has mean 0 and deviation 1/12; five deviations of its mean.
  const double bound = 5.0 / 12.0 / std::sqrt(kDraws);
  CHECK(std::abs(names / kDraws) < bound);
  CHECK(std::abs(seeds / kDraws) < bound);
  CHECK(std::abs(neighbours / kDraws) < bound);
}

TEST_CASE("Uniform numbers fill (0, 1) evenly", "[core][random]") {
  constexpr int kDraws = 160'000;
  constexpr int kBins = 16;
  const RandomStream random(1, "uniform");
  std::vector<double> bins(kBins);
  for (std::uint64_t n = 0; n < kDraws; ++n) {
    const double u = random.uniform(n);
    REQUIRE((u > 0.0 && u < 1.0));
    ++bins[static_cast<std::size_t>(u * kBins)];
  }
  double chi_squared = 0.0;
  for (const double count : bins) chi_squared += (count - 10'000.0) * (count - 10'000.0) / 10'000.0;
  CHECK(chi_squared < 45.0);  // 15 degrees of freedom: exceeded once in ten thousand seeds
}

TEST_CASE("Uniform integers take every value from low to high and no other", "[core][random]") {
  const RandomStream random(1, "integers");
  std::set<std::int64_t> seen;
  for (std::uint64_t n = 0; n < 1000; ++n) seen.insert(random.uniform_int(n, -2, 3));
  CHECK(seen == std::set<std::int64_t>{-2, -1, 0, 1, 2, 3});
  CHECK(random.uniform_int(5, 9, 9) == 9);
}

/// SplitMix64's finalizer backwards, to find the counter whose bits are the ones we want.
std::uint64_t unmix(std::uint64_t z) {
  z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3ULL;
  z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089ULL;
  return (z ^ (z >> 30) ^ (z >> 60)) - 0x9e3779b97f4a7c15ULL;
}

TEST_CASE("A uniform number is below one even where all its bits are set", "[core][random]") {
  constexpr std::uint64_t kOnes = ~0ULL;
  constexpr std::uint64_t kStreams = 0x5249444745ULL;  // what a stream mixes into its seed
  constexpr std::uint64_t kFirst =
      0x910a2dec89025cc1ULL;  // SplitMix64's published first output for seed 1
  const std::uint64_t key = kFirst;
  const RandomStream random(1 ^ kStreams, "");
  const std::uint64_t n = unmix(key ^ unmix(kOnes));
  REQUIRE(random.bits(n) == kOnes);
  CHECK(random.uniform(n) < 1.0);
  CHECK(random.uniform_int(n, 0, 9) == 9);
}

TEST_CASE("The exponential law has the mean it is given, and the deviation of its mean",
          "[core][random]") {
  const Moments m = moments([](double u) { return exponential_quantile(u, 3.0); });
  CHECK(m.mean == Approx(3.0).epsilon(0.001));
  CHECK(m.deviation == Approx(3.0).epsilon(0.005));
  CHECK(exponential_quantile(0.5, 3.0) == Approx(3.0 * std::log(2.0)));
}

TEST_CASE("The gamma law has mean shape times scale and variation 1 / sqrt(shape)",
          "[core][random]") {
  for (const double shape : {0.25, 1.0, 4.0}) {
    const Moments m = moments([&](double u) { return gamma_quantile(u, shape, 2.0); });
    CHECK(m.mean == Approx(2.0 * shape).epsilon(0.002));
    CHECK(m.deviation / m.mean == Approx(1.0 / std::sqrt(shape)).epsilon(0.01));
  }
  CHECK(gamma_quantile(0.3, 1.0, 2.0) ==
        Approx(exponential_quantile(0.3, 2.0)));  // shape 1 is exponential
}

TEST_CASE("The lognormal law has the median it is given and mean median times exp(sigma^2 / 2)",
          "[core][random]") {
  const Moments m = moments([](double u) { return lognormal_quantile(u, 100.0, 0.5); });
  CHECK(m.mean == Approx(100.0 * std::exp(0.125)).epsilon(0.002));
  CHECK(lognormal_quantile(0.5, 100.0, 0.5) == Approx(100.0));
  CHECK(lognormal_quantile(0.8413447460685429, 100.0, 0.5) ==
        Approx(100.0 * std::exp(0.5)));  // one deviation up
}

TEST_CASE("Quantiles rise with their argument and stay finite at the ends of what uniform gives",
          "[core][random]") {
  const double lowest = 0x1.0p-54;
  const double highest = 1.0 - 0x1.0p-53;
  for (const auto& quantile : std::vector<std::function<double(double)>>{
           [](double u) { return exponential_quantile(u, 1.0); },
           [](double u) { return gamma_quantile(u, 0.5, 1.0); },
           [](double u) { return lognormal_quantile(u, 1.0, 2.0); }}) {
    double before = quantile(lowest);
    CHECK(before >= 0.0);
    for (const double u : {1e-6, 0.1, 0.5, 0.9, 1.0 - 1e-6, highest}) {
      const double x = quantile(u);
      CHECK(x > before);
      CHECK(std::isfinite(x));
      before = x;
    }
  }
}

}  // namespace
