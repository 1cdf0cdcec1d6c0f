#include "diagnosis/value.hpp"

#include <catch2/catch.hpp>

#include "diagnosis/words.hpp"

using namespace ridgeline;
using diagnosis::Maybe;
using diagnosis::Origin;
using diagnosis::Value;

TEST_CASE("A quotient keeps its bounds and the quotient of the numbers written down") {
  // 160 tokens/s (159.5 to 160.5) over 26 GB (25.5 to 26.5).
  const Value rate({159.5, 160.5}, Origin::given);
  const Value bytes({25.5, 26.5}, Origin::given);
  const Value q = rate / bytes;
  CHECK(q.best == Approx(160.0 / 26.0));
  CHECK(q.low() == Approx(159.5 / 26.5));
  CHECK(q.high() == Approx(160.5 / 25.5));
}

TEST_CASE(
    "What is computed from an assumption is an assumption, anything else computed is derived") {
  const Value given({1, 2}, Origin::given);
  const Value read({1, 2}, Origin::read);
  const Value assumed({1, 2}, Origin::assumed);
  CHECK((given * read).origin == Origin::derived);
  CHECK((given + assumed).origin == Origin::assumed);
  CHECK((assumed / Value(2.0)).origin == Origin::assumed);
}

TEST_CASE("What is computed from an absent value is absent") {
  const Maybe there = Value(2.0);
  const Maybe absent;
  CHECK_FALSE((there * absent).has_value());
  CHECK_FALSE((absent / there).has_value());
  CHECK((there * there)->best == 4.0);
}

TEST_CASE("A divisor that may be zero leaves a quotient without NaN") {
  const Value q = Value(1.0) / Value({0.0, 2.0}, Origin::given);
  CHECK(q.low() == 0.5);
  CHECK(q.high() > 1e100);
  CHECK_FALSE(std::isnan(q.best));
}

TEST_CASE("Numbers are written with three digits that matter, absurd ones with an exponent") {
  CHECK(diagnosis::time_text(0.02778) == "27.8 ms");
  CHECK(diagnosis::time_text(0.0) == "0 s");
  CHECK(diagnosis::bytes_text(24.64e9) == "24.6 GB");
  CHECK(diagnosis::flop_text(400e12) == "400 TFLOP");
  CHECK(diagnosis::percent_text(0.0032) == "0.32 %");
  CHECK(diagnosis::percent_text(0.785) == "78.5 %");
  CHECK(diagnosis::number_text(6100) == "6,100");
  CHECK(diagnosis::number_text(1234567) == "1,234,567");
  CHECK(diagnosis::time_text(3e9) == "3.0e+09 s");
  CHECK(diagnosis::time_range_text({3.6e-3, 6.75e-3}) == "3.60 to 6.75 ms");
  CHECK(diagnosis::time_range_text({0.9e-3, 2.0}) == "900 us to 2.00 s");
}
