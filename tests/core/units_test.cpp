#include "core/units.hpp"

#include <catch2/catch.hpp>
#include <type_traits>

#include "core/instant.hpp"

namespace {

using namespace ridgeline::core;  // NOLINT: a test of this one folder

template <class A, class B>
concept CanAdd = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept CanMultiply = requires(A a, B b) {
  a* b;
};

TEST_CASE("Amounts and rates give times, and times and rates give amounts", "[core][units]") {
  CHECK((10.0_GB / 5.0_TBps) == Seconds{0.002});       // 10e9 / 5e12
  CHECK((3.0_GFLOP / 1.5_TFLOPps) == Seconds{0.002});  // 3e9 / 1.5e12
  CHECK((BytesPerSecond{4.0} * Seconds{3.0}) == Bytes{12.0});
  CHECK((FlopPerSecond{4.0} * Seconds{3.0}) == Flop{12.0});
  CHECK((Bytes{12.0} / Seconds{3.0}) == BytesPerSecond{4.0});
  CHECK((Flop{12.0} / Seconds{3.0}) == FlopPerSecond{4.0});
  CHECK(Bytes{12.0} / Bytes{3.0} == 4.0);  // a plain ratio
}

TEST_CASE("Literals are in SI units", "[core][units]") {
  CHECK((1.0_s).value() == 1.0);
  CHECK((4.0_ms).value() == Approx(0.004));
  CHECK((7.0_us).value() == Approx(7e-6));
  CHECK((2.0_MB).value() == 2e6);
  CHECK((5.3_TBps).value() == Approx(5.3e12));
}

TEST_CASE("Quantities add, scale and compare within their unit", "[core][units]") {
  Bytes bytes{5.0};
  bytes += Bytes{3.0};
  bytes -= Bytes{2.0};
  bytes *= 2.0;
  CHECK(bytes == Bytes{12.0});  // (5 + 3 - 2) * 2
  CHECK(0.5 * bytes == Bytes{6.0});
  CHECK(bytes / 4.0 == Bytes{3.0});
  CHECK(Bytes{1.0} < Bytes{2.0});
  CHECK(Seconds{} == Seconds{0.0});
}

TEST_CASE("What means nothing does not compile", "[core][units]") {
  STATIC_REQUIRE_FALSE(CanAdd<Bytes, Seconds>);
  STATIC_REQUIRE_FALSE(CanAdd<Bytes, double>);
  STATIC_REQUIRE_FALSE(CanMultiply<Bytes, Bytes>);
  STATIC_REQUIRE_FALSE(CanMultiply<Bytes, FlopPerSecond>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<double, Bytes>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<Bytes, double>);
  STATIC_REQUIRE_FALSE(CanAdd<Instant, Instant>);  // two points in time have a difference, no sum
  STATIC_REQUIRE_FALSE(CanAdd<Instant, Seconds>);
  STATIC_REQUIRE(sizeof(Bytes) == sizeof(double));
}

TEST_CASE("Two instants differ by whole nanoseconds", "[core][instant]") {
  const Instant start{1'000};
  const Instant later = start + Nanoseconds{250};
  CHECK(later == Instant{1'250});
  CHECK(later - start == Nanoseconds{250});
  CHECK(later - Nanoseconds{1'250} == Instant{});
  CHECK(start < later);
  CHECK(later < kNever);
}

TEST_CASE("Nanoseconds add up exactly however many there are", "[core][instant]") {
  Nanoseconds sum{};
  for (int i = 0; i < 1'000'000; ++i) sum += Nanoseconds{3};
  CHECK(sum == Nanoseconds{3} * 1'000'000);
  CHECK(sum - Nanoseconds{3'000'000} == Nanoseconds{});
  CHECK(sum.seconds().value() == Approx(0.003));
}

TEST_CASE("Seconds become the nearest nanosecond, halves away from zero", "[core][instant]") {
  CHECK(round_to_ns(Seconds{1.4e-9}) == Nanoseconds{1});
  CHECK(round_to_ns(Seconds{0.5e-9}) == Nanoseconds{1});
  CHECK(round_to_ns(Seconds{-0.5e-9}) == Nanoseconds{-1});
  CHECK(round_to_ns(7.0_us) == Nanoseconds{7'000});
  CHECK(round_to_ns(Seconds{3600.0}) == Nanoseconds{3'600'000'000'000});
}

TEST_CASE("Nanoseconds survive the way through seconds and back", "[core][instant]") {
  for (std::int64_t n = 1; n < 4'000'000'000'000'000; n = n * 3 + 1) {  // up to 46 days
    REQUIRE(round_to_ns(Nanoseconds{n}.seconds()) == Nanoseconds{n});
    REQUIRE(round_to_ns(Instant{n}.since_start()) == Nanoseconds{n});
  }
}

}  // namespace
