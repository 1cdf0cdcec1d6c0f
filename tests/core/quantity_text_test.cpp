#include "core/quantity_text.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace ridgeline::core;  // NOLINT: a test of this one folder

double quantity(std::string_view text, Dimension dimension) {
  const auto value = parse_quantity(text, dimension);
  INFO(text);
  REQUIRE(value.has_value());
  return *value;
}

void check_interval(std::string_view text, Dimension dimension, double low, double high) {
  const auto interval = parse_interval(text, dimension);
  INFO(text);
  REQUIRE(interval.has_value());
  CHECK(interval->low == Approx(low).epsilon(1e-12).margin(1e-15));
  CHECK(interval->high == Approx(high).epsilon(1e-12).margin(1e-15));
}

TEST_CASE("A quantity is a number and a unit of its dimension", "[core][quantity]") {
  CHECK(quantity("5.3 TB/s", Dimension::bytes_per_second) == Approx(5.3e12));
  CHECK(quantity("192 GB", Dimension::bytes) == Approx(192e9));
  CHECK(quantity("1 GiB", Dimension::bytes) == 1073741824.0);  // 2^30
  CHECK(quantity("2 kB", Dimension::bytes) == 2000.0);
  CHECK(quantity("2 KiB", Dimension::bytes) == 2048.0);
  CHECK(quantity("15 us", Dimension::time) == Approx(15e-6));
  CHECK(quantity("2 min", Dimension::time) == 120.0);
  CHECK(quantity("1 h", Dimension::time) == 3600.0);
  CHECK(quantity("1307.4 TFLOP/s", Dimension::flop_per_second) == Approx(1307.4e12));
  CHECK(quantity("2614.9 TOP/s", Dimension::flop_per_second) == Approx(2614.9e12));
  CHECK(quantity("68 GFLOP", Dimension::flop) == Approx(68e9));
  CHECK(quantity("78 %", Dimension::fraction) == Approx(0.78));
  CHECK(quantity("0.78", Dimension::fraction) == 0.78);
  CHECK(quantity("5.5 /s", Dimension::rate) == 5.5);
  CHECK(quantity("30 /min", Dimension::rate) == 0.5);
  CHECK(quantity("5.5", Dimension::rate) == 5.5);
  CHECK(quantity("42", Dimension::none) == 42.0);
}

TEST_CASE("Every unit of a dimension is read as its factor, with or without a space",
          "[core][quantity]") {
  for (const Dimension dimension :
       {Dimension::fraction, Dimension::time, Dimension::bytes, Dimension::bytes_per_second,
        Dimension::flop, Dimension::flop_per_second, Dimension::rate}) {
    for (const UnitScale& unit : units_of(dimension)) {
      CHECK(quantity("2 " + std::string(unit.name), dimension) == Approx(2.0 * unit.factor));
      CHECK(quantity("2" + std::string(unit.name), dimension) == Approx(2.0 * unit.factor));
      CHECK_FALSE(parse_quantity("2 " + std::string(unit.name), Dimension::none).has_value());
    }
  }
}

TEST_CASE("Numbers are written as people write them", "[core][quantity]") {
  CHECK(quantity("6,100", Dimension::none) == 6100.0);
  CHECK(quantity("1,234,567.5", Dimension::none) == 1234567.5);
  CHECK(quantity("1e3", Dimension::none) == 1000.0);
  CHECK(quantity("13e9", Dimension::none) == 13e9);
  CHECK(quantity("1.5E-3", Dimension::none) == 1.5e-3);
  CHECK(quantity("1e+3", Dimension::none) == 1000.0);
  CHECK(quantity("010", Dimension::none) == 10.0);  // no octal
  CHECK(quantity(".5", Dimension::none) == 0.5);
  CHECK(quantity("5.", Dimension::none) == 5.0);
  CHECK(quantity("-3", Dimension::none) == -3.0);
  CHECK(quantity("+3", Dimension::none) == 3.0);
  CHECK(quantity("  42\t", Dimension::none) == 42.0);
}

TEST_CASE("What is not one number with one unit is nothing", "[core][quantity]") {
  for (const char* text : {"",
                           " ",
                           "GB",
                           "192",
                           "192 gb",
                           "192 GB/s",
                           "192 G B",
                           "192 GB 1",
                           "1.2.3 GB",
                           "--1 GB",
                           "+-1 GB",
                           "1e GB",
                           "0x10 GB",
                           "nan GB",
                           "NaN",
                           "inf GB",
                           "infinity",
                           "1e999 GB",
                           "1e308 TB",
                           ".",
                           "-",
                           "1_000 GB",
                           "1,00 GB,",
                           ",100 GB",
                           "192 GB # note",
                           "1 - 2 GB",
                           "~1 GB",
                           "1e99999999999 GB"}) {
    INFO(text);
    CHECK_FALSE(parse_quantity(text, Dimension::bytes).has_value());
  }
  CHECK_FALSE(parse_quantity("5 us", Dimension::none).has_value());
  CHECK_FALSE(parse_quantity("5 /s", Dimension::time).has_value());
  CHECK_FALSE(parse_quantity("78 percent", Dimension::fraction).has_value());
}

TEST_CASE("A comma groups three digits and nothing else", "[core][quantity]") {
  for (const char* text : {"6,1 GB", "6,10 GB", "12,34 GB", "1,2345 GB",
                           "1,2,3 GB"}) {  // 6,1 is six and a tenth to half of Europe
    INFO(text);
    CHECK_FALSE(parse_quantity(text, Dimension::bytes).has_value());
  }
}

TEST_CASE("An exponent has one sign", "[core][quantity]") {
  CHECK_FALSE(parse_quantity("1e+-3", Dimension::none).has_value());
}

TEST_CASE("A typed number leaves half of its last digit open", "[core][quantity]") {
  check_interval("78 %", Dimension::fraction, 0.775, 0.785);
  check_interval("78.0 %", Dimension::fraction, 0.7795, 0.7805);
  check_interval("0.78", Dimension::fraction, 0.775, 0.785);
  check_interval("6,100", Dimension::none, 6099.5, 6100.5);
  check_interval("6100", Dimension::none, 6099.5, 6100.5);
  check_interval("26 GB", Dimension::bytes, 25.5e9, 26.5e9);
  check_interval("1e3", Dimension::none, 500.0, 1500.0);  // its last digit is the 1, worth 1000
  check_interval("1.0e3", Dimension::none, 950.0, 1050.0);
  check_interval("-2 %", Dimension::fraction, -0.025, -0.015);
}

TEST_CASE("A typed range has its ends, the unit written once", "[core][quantity]") {
  check_interval("6-30 us", Dimension::time, 6e-6, 30e-6);
  check_interval("6..30 us", Dimension::time, 6e-6, 30e-6);
  check_interval("6 - 30 us", Dimension::time, 6e-6, 30e-6);
  check_interval("6 to 30 us", Dimension::time, 6e-6, 30e-6);
  check_interval("6–30 us", Dimension::time, 6e-6, 30e-6);  // an en dash
  check_interval("1.5..2.5 GB", Dimension::bytes, 1.5e9, 2.5e9);
  check_interval("70-80 %", Dimension::fraction, 0.7, 0.8);
  check_interval("5-5", Dimension::none, 5, 5);
  check_interval("-5--3", Dimension::none, -5, -3);
}

TEST_CASE("About is an eighth either way, and equals is exact", "[core][quantity]") {
  check_interval("~40 GB", Dimension::bytes, 35e9, 45e9);
  check_interval("about 40 GB", Dimension::bytes, 35e9, 45e9);
  check_interval("around 40 GB", Dimension::bytes, 35e9, 45e9);
  check_interval("=26 GB", Dimension::bytes, 26e9, 26e9);
  check_interval("= 26 GB", Dimension::bytes, 26e9, 26e9);
}

TEST_CASE("A malformed interval is nothing", "[core][quantity]") {
  for (const char* text :
       {"", "~", "=", "about", "30-6 us", "6 us-30 us", "6-us", "-", "6-30", "6-30 GB", "6 us 30",
        "nan-1 us", "1...3 us", "<6 us", "~~6 us", "1e400 us"}) {
    INFO(text);
    CHECK_FALSE(parse_interval(text, Dimension::time).has_value());
  }
}

TEST_CASE("Both ends of a range are finite", "[core][quantity]") {
  CHECK_FALSE(parse_interval("1-1e308 TB", Dimension::bytes).has_value());
}

TEST_CASE("Each dimension says how it is written, and its own example reads", "[core][quantity]") {
  for (const Dimension dimension :
       {Dimension::fraction, Dimension::time, Dimension::bytes, Dimension::bytes_per_second,
        Dimension::flop, Dimension::flop_per_second, Dimension::rate}) {
    const std::string expected = expected_text(dimension);
    const std::size_t open = expected.find('\'');
    REQUIRE(open != std::string::npos);
    CHECK(parse_quantity(expected.substr(open + 1, expected.find('\'', open + 1) - open - 1),
                         dimension)
              .has_value());
  }
}

}  // namespace
