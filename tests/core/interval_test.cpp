#include "core/interval.hpp"

#include <catch2/catch.hpp>

#include "core/random.hpp"

namespace {

using namespace ridgeline::core;  // NOLINT: a test of this one folder

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Random intervals and members of them.
class Draws {
 public:
  explicit Draws(std::string_view name) : stream_(1, name) {}

  double number(double low, double high) { return low + (high - low) * stream_.uniform(n_++); }
  Interval interval(double low, double high) {
    const double a = number(low, high);
    const double b = number(low, high);
    return {std::min(a, b), std::max(a, b)};
  }
  /// Its ends as often as something between.
  double member(Interval of) {
    switch (stream_.uniform_int(n_++, 0, 3)) {
      case 0:
        return of.low;
      case 1:
        return of.high;
      default:
        return std::clamp(number(of.low, of.high), of.low, of.high);
    }
  }

 private:
  RandomStream stream_;
  std::uint64_t n_ = 0;
};

TEST_CASE("Interval arithmetic holds whatever its members give", "[core][interval]") {
  Draws draw("interval");
  for (int i = 0; i < 20'000; ++i) {
    const Interval a = draw.interval(-10.0, 10.0);
    const Interval b = draw.interval(-10.0, 10.0);
    const Interval positive = draw.interval(0.1, 10.0);
    const double x = draw.member(a);
    const double y = draw.member(b);
    const double z = draw.member(positive);
    INFO("[" << a.low << ", " << a.high << "] and [" << b.low << ", " << b.high << "], members "
             << x << " and " << y);
    REQUIRE((a + b).contains(x + y));
    REQUIRE((a - b).contains(x - y));
    REQUIRE((a * b).contains(x * y));
    REQUIRE((a / positive).contains(x / z));
    REQUIRE((a / (Interval{0.0} - positive)).contains(x / -z));
    REQUIRE(max(a, b).contains(std::max(x, y)));
    REQUIRE(min(a, b).contains(std::min(x, y)));
    REQUIRE((hull(a, b).contains(x) && hull(a, b).contains(y)));
    REQUIRE(clamp(a, -1.0, 1.0).contains(std::clamp(x, -1.0, 1.0)));
  }
}

TEST_CASE("Interval arithmetic is no wider than its corners", "[core][interval]") {
  CHECK(Interval{1, 2} + Interval{10, 20} == Interval{11, 22});
  CHECK(Interval{1, 2} - Interval{10, 20} == Interval{-19, -8});
  CHECK(Interval{-1, 2} * Interval{-3, 5} == Interval{-6, 10});  // 2 * -3 and 2 * 5
  CHECK(Interval{1, 2} / Interval{4, 8} == Interval{0.125, 0.5});
  CHECK(Interval{3} * Interval{4} == Interval{12});
}

TEST_CASE("Two intervals either meet in an intersection or contradict each other",
          "[core][interval]") {
  Draws draw("meets");
  for (int i = 0; i < 10'000; ++i) {
    const Interval a = draw.interval(0.0, 10.0);
    const Interval b = draw.interval(0.0, 10.0);
    const auto both = intersect(a, b);
    REQUIRE(both.has_value() == a.meets(b));
    REQUIRE(a.meets(b) == b.meets(a));
    if (both) {
      const double x = draw.member(*both);
      REQUIRE((a.contains(x) && b.contains(x)));
    }
  }
  CHECK(intersect(Interval{1, 2}, Interval{2, 3}) == Interval{2});  // a shared end is enough
  CHECK_FALSE(intersect(Interval{1, 2}, Interval{3, 4}).has_value());
}

TEST_CASE("A value within a fraction of itself has its ends that far away, whatever its sign",
          "[core][interval]") {
  CHECK(Interval::within(40.0, 0.125) == Interval{35, 45});
  CHECK(Interval::within(-40.0, 0.125) == Interval{-45, -35});
  CHECK(Interval{35, 45}.middle() == 40.0);
  CHECK(Interval{35, 45}.width() == 10.0);
}

TEST_CASE("Nothing known but the sign stays nothing known but the sign", "[core][interval]") {
  const Interval unknown = Interval::unknown_positive();
  CHECK(unknown * Interval{2, 3} == unknown);
  CHECK(unknown * unknown == unknown);
  CHECK(unknown + Interval{1} == Interval{1, kInfinity});
  CHECK(unknown * Interval{0, 1} == unknown);
  CHECK(Interval{1} / unknown == unknown);  // 1 / infinity to 1 / 0
  CHECK(unknown / Interval{2, 4} == unknown);
  CHECK(unknown.contains(kInfinity));
}

TEST_CASE("Unknown over unknown is unknown, not a NaN", "[core][interval]") {
  const Interval unknown = Interval::unknown_positive();
  CHECK(unknown / unknown == unknown);
  CHECK(Interval{0, 2} / Interval{0, 4} == unknown);
}

TEST_CASE("What is left of something unknown is unbounded below, also when scaled",
          "[core][interval]") {
  const Interval rest = Interval{5} - Interval::unknown_positive();
  CHECK(rest == Interval{-kInfinity, 5});
  CHECK(rest * Interval{0, 1} == Interval{-kInfinity, 5});
}

}  // namespace
