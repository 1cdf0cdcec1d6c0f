#include "core/reader.hpp"

#include <catch2/catch.hpp>
#include <functional>

#include "tests/core/fixtures.hpp"

namespace {

using namespace ridgeline::core;  // NOLINT: a test of this one folder
using ridgeline::tests::error_of;

/// What reading `text` with `read` and then accounting for every key complains of; "" when it does
/// not.
std::string error_in(std::string_view text, const std::function<void(const Reader&)>& read) {
  const Node node = parse_yaml(text, "f.yaml");
  return error_of([&] {
    const Reader in(node);
    read(in);
    in.finish();
  });
}

template <class T>
std::string error_getting(std::string_view text) {
  return error_in(text, [](const Reader& in) { static_cast<void>(in.get<T>("x")); });
}

enum class Color { red, green };
const std::vector<Choice<Color>> kColors{{"red", Color::red}, {"green", Color::green}};

TEST_CASE("Values read as what they are asked for", "[core][reader]") {
  const Node node = parse_yaml(
      "{t: 15 us, b: 192 GB, w: 5.3 TB/s, f: 68 GFLOP, r: 1307.4 TFLOP/s, n: '6,100', i: 010, s: "
      "no, y: true, c: green, p: 78 %}",
      "f.yaml");
  const Reader in(node);
  CHECK(in.get<Seconds>("t").value() == Approx(15e-6));
  CHECK(in.get<Bytes>("b").value() == Approx(192e9));
  CHECK(in.get<BytesPerSecond>("w").value() == Approx(5.3e12));
  CHECK(in.get<Flop>("f").value() == Approx(68e9));
  CHECK(in.get<FlopPerSecond>("r").value() == Approx(1307.4e12));
  CHECK(in.get<double>("n") == 6100.0);
  CHECK(in.get<std::int64_t>("i") == 10);   // not the octal eight
  CHECK(in.get<std::string>("s") == "no");  // not false
  CHECK(in.get<bool>("y"));
  CHECK(in.choice("c", kColors) == Color::green);
  CHECK(in.fraction("p") == Approx(0.78));
  CHECK(in.interval("p", Dimension::fraction).low == Approx(0.775));
  in.finish();
}

TEST_CASE("A key that is absent or holds nothing gives the fallback", "[core][reader]") {
  const Node node = parse_yaml("{a: , b: 3}", "f.yaml");
  const Reader in(node);
  CHECK_FALSE(in.has("a"));
  CHECK_FALSE(in.has("z"));
  CHECK(in.get<double>("a", 5.0) == 5.0);
  CHECK(in.get<double>("z", 6.0) == 6.0);
  CHECK(in.get<double>("b", 7.0) == 3.0);
  CHECK_FALSE(in.maybe<double>("z").has_value());
  CHECK(in.maybe<double>("b") == 3.0);
  in.finish();
}

TEST_CASE("A bandwidth without unit is shown one with unit", "[core][reader]") {
  const Node node = parse_yaml("hbm:\n  peak_bandwidth: 5.3\n", "mi300x.yaml");
  CHECK(error_of([&] {
          static_cast<void>(Reader(node).child("hbm").get<BytesPerSecond>("peak_bandwidth"));
        }) ==
        "mi300x.yaml:2:19: hbm.peak_bandwidth: expected a number with unit like '5.3 TB/s', got "
        "'5.3'");
}

TEST_CASE("A value of the wrong sort says what was expected and what is there", "[core][reader]") {
  CHECK(error_getting<Seconds>("x: 15") ==
        "f.yaml:1:4: x: expected a number with unit like '15 us', got '15'");
  CHECK(error_getting<Seconds>("x: 15 GB") ==
        "f.yaml:1:4: x: expected a number with unit like '15 us', got '15 GB'");
  CHECK(error_getting<Bytes>("x: 192") ==
        "f.yaml:1:4: x: expected a number with unit like '192 GB', got '192'");
  CHECK(error_getting<Bytes>("x: 1e999 GB") ==
        "f.yaml:1:4: x: expected a number with unit like '192 GB', got '1e999 GB'");
  CHECK(error_getting<Flop>("x: 5 TFLOP/s") ==
        "f.yaml:1:4: x: expected a number with unit like '68 GFLOP', got '5 TFLOP/s'");
  CHECK(error_getting<FlopPerSecond>("x: 5 TFLOP") ==
        "f.yaml:1:4: x: expected a number with unit like '1307.4 TFLOP/s', got '5 TFLOP'");
  CHECK(error_getting<double>("x: 5 us") ==
        "f.yaml:1:4: x: expected a number without unit, got '5 us'");
  CHECK(error_getting<double>("x: .nan") ==
        "f.yaml:1:4: x: expected a number without unit, got '.nan'");
  CHECK(error_getting<double>("x: nan") ==
        "f.yaml:1:4: x: expected a number without unit, got 'nan'");
  CHECK(error_getting<double>("x: .inf") ==
        "f.yaml:1:4: x: expected a number without unit, got '.inf'");
  CHECK(error_getting<double>("x: inf") ==
        "f.yaml:1:4: x: expected a number without unit, got 'inf'");
  CHECK(error_getting<double>("x: [1]") ==
        "f.yaml:1:4: x: expected a number without unit, got a list");
  CHECK(error_getting<double>("x: {a: 1}") ==
        "f.yaml:1:4: x: expected a number without unit, got a map");
  CHECK(error_getting<double>("x: ~") ==
        "f.yaml:1:1: x: expected a number without unit, got nothing");
  CHECK(error_getting<double>("y: 1") ==
        "f.yaml:1:1: x: expected a number without unit, got nothing (the key is missing)");
  CHECK(error_getting<std::string>("x: [a]") == "f.yaml:1:4: x: expected a word, got a list");
  CHECK(error_getting<bool>("x: yes") == "f.yaml:1:4: x: expected true or false, got 'yes'");
  CHECK(error_getting<bool>("x: True") == "f.yaml:1:4: x: expected true or false, got 'True'");
}

TEST_CASE("Physical amounts are not negative, and rates not zero", "[core][reader]") {
  CHECK(error_getting<Seconds>("x: -1 us") ==
        "f.yaml:1:4: x: expected a time of zero or more, got '-1 us'");
  CHECK(error_getting<Bytes>("x: -1 GB") ==
        "f.yaml:1:4: x: expected zero or more bytes, got '-1 GB'");
  CHECK(error_getting<Flop>("x: -1 FLOP") ==
        "f.yaml:1:4: x: expected zero or more FLOP, got '-1 FLOP'");
  CHECK(error_getting<BytesPerSecond>("x: 0 GB/s") ==
        "f.yaml:1:4: x: expected a bandwidth above zero, got '0 GB/s'");
  CHECK(error_getting<BytesPerSecond>("x: -5.3 TB/s") ==
        "f.yaml:1:4: x: expected a bandwidth above zero, got '-5.3 TB/s'");
  CHECK(error_getting<FlopPerSecond>("x: 0 TFLOP/s") ==
        "f.yaml:1:4: x: expected a rate above zero, got '0 TFLOP/s'");
  CHECK(error_getting<Seconds>("x: 0 us").empty());
  CHECK(error_getting<Bytes>("x: 0 B").empty());
}

TEST_CASE("Whole numbers are whole, in range, and decimal", "[core][reader]") {
  const auto integer = [](std::string_view text, std::int64_t low, std::int64_t high) {
    return error_in(text, [&](const Reader& in) { static_cast<void>(in.integer("x", low, high)); });
  };
  CHECK(integer("x: 0", 1, 8) == "f.yaml:1:4: x: expected a whole number from 1 to 8, got '0'");
  CHECK(integer("x: 9", 1, 8) == "f.yaml:1:4: x: expected a whole number from 1 to 8, got '9'");
  CHECK(integer("x: -1", 0, INT64_MAX) ==
        "f.yaml:1:4: x: expected a whole number of at least 0, got '-1'");
  CHECK(integer("x: 1.5", 1, 8) == "f.yaml:1:4: x: expected a whole number from 1 to 8, got '1.5'");
  CHECK(error_getting<std::int64_t>("x: 9223372036854775808") ==
        "f.yaml:1:4: x: expected a whole number, got '9223372036854775808'");
  for (const char* text :
       {"x: 1e3", "x: 0x10", "x: 1 us", "x: ''", "x: '+'", "x: --1", "x: 1_000", "x: 1,000"}) {
    INFO(text);
    CHECK_THAT(error_getting<std::int64_t>(text),
               Catch::StartsWith("f.yaml:1:4: x: expected a whole number, got '"));
  }
  CHECK(integer("x: 010", 10, 10).empty());
  CHECK(integer("x: +5", 5, 5).empty());
}

TEST_CASE("A whole number has one sign", "[core][reader]") {
  CHECK(error_getting<std::int64_t>("x: +-5") ==
        "f.yaml:1:4: x: expected a whole number, got '+-5'");
}

TEST_CASE("Fractions lie in their range, with % or without", "[core][reader]") {
  const auto fraction = [](std::string_view text, double low, double high) {
    return error_in(text,
                    [&](const Reader& in) { static_cast<void>(in.fraction("x", low, high)); });
  };
  CHECK(fraction("x: 101 %", 0.0, 1.0) ==
        "f.yaml:1:4: x: expected a fraction between 0 and 1, got '101 %'");
  CHECK(fraction("x: -0.1", 0.0, 1.0) ==
        "f.yaml:1:4: x: expected a fraction between 0 and 1, got '-0.1'");
  CHECK(fraction("x: 0.001", 0.01, 0.95) ==
        "f.yaml:1:4: x: expected a fraction between 0.01 and 0.95, got '0.001'");
  CHECK(fraction("x: most", 0.0, 1.0) ==
        "f.yaml:1:4: x: expected a fraction like '0.78' or '78 %', got 'most'");
  CHECK(fraction("x: 100 %", 0.0, 1.0).empty());
}

TEST_CASE("A typed interval that cannot be read says how one is written", "[core][reader]") {
  const auto interval = [](std::string_view text) {
    return error_in(
        text, [&](const Reader& in) { static_cast<void>(in.interval("x", Dimension::time)); });
  };
  CHECK(interval("x: 6-30") ==
        "f.yaml:1:4: x: expected a number with unit like '15 us' (a range 'a-b', '~a' and '=a' are "
        "understood), got '6-30'");
  CHECK(interval("x: 6-30 us").empty());
}

TEST_CASE("A word outside a closed set gets the set, and the nearest one", "[core][reader]") {
  const auto color = [](std::string_view text) {
    return error_in(text, [&](const Reader& in) { static_cast<void>(in.choice("x", kColors)); });
  };
  CHECK(color("x: gren") ==
        "f.yaml:1:4: x: expected one of red, green, got 'gren'; did you mean 'green'?");
  CHECK(color("x: ultraviolet") == "f.yaml:1:4: x: expected one of red, green, got 'ultraviolet'");
  CHECK(color("x: {a: 1}") == "f.yaml:1:4: x: expected a word, got a map");
}

TEST_CASE("A key nobody asked for is an error with the nearest that somebody did",
          "[core][reader]") {
  const auto read = [](const Reader& in) {
    static_cast<void>(in.get<BytesPerSecond>("bandwidth", BytesPerSecond{1.0}));
    if (in.has("child")) static_cast<void>(in.child("child").get<double>("depth", 0.0));
    if (in.has("list")) {
      for (const Reader& item : in.list("list")) static_cast<void>(item.get<double>("a"));
    }
  };
  CHECK(error_in("bandwith: 5.3 TB/s", read) ==
        "f.yaml:1:1: bandwith: unknown key; did you mean 'bandwidth'?");
  CHECK(error_in("bandwidth: 1 B/s\nzzz: 1", read) ==
        "f.yaml:2:1: zzz: unknown key; known: bandwidth, child, list");
  CHECK(error_in("child: {dept: 1}", read) ==
        "f.yaml:1:9: child.dept: unknown key; did you mean 'depth'?");
  CHECK(error_in("list: [{a: 1}, {a: 1, zzz: 2}]", read) ==
        "f.yaml:1:23: list[1].zzz: unknown key; known: a");
  CHECK(error_in("child: {depth: 1}\nlist: [{a: 1}]", read).empty());
  CHECK(error_in("a: 1", [](const Reader&) {}) == "f.yaml:1:1: a: unknown key");
}

TEST_CASE("A key of the wrong kind says what kind was expected", "[core][reader]") {
  CHECK(error_in("x: 3", [](const Reader& in) { static_cast<void>(in.child("x")); }) ==
        "f.yaml:1:4: x: expected a map, got '3'");
  CHECK(error_in("y: 3", [](const Reader& in) { static_cast<void>(in.child("x")); }) ==
        "f.yaml:1:1: x: expected a map, got nothing (the key is missing)");
  CHECK(error_in("x: {a: 1}", [](const Reader& in) { static_cast<void>(in.list("x")); }) ==
        "f.yaml:1:4: x: expected a list of maps, got a map");
  CHECK(error_in("x: [1]", [](const Reader& in) { static_cast<void>(in.list("x")); }) ==
        "f.yaml:1:5: x[0]: expected a map, got '1'");
  CHECK(error_in("x: a", [](const Reader& in) { static_cast<void>(in.words("x")); }) ==
        "f.yaml:1:4: x: expected a list of words, got 'a'");
  CHECK(error_in("x: [1, +2, 2.5]", [](const Reader& in) {
          static_cast<void>(in.integers("x", 1, 9));
        }) == "f.yaml:1:4: x: expected whole numbers from 1 to 9, got '2.5'");
  CHECK(error_in("x: [1, 10]", [](const Reader& in) {
          static_cast<void>(in.integers("x", 1, 9));
        }) == "f.yaml:1:4: x: expected whole numbers from 1 to 9, got '10'");
  CHECK(error_in("x: [a, [b]]", [](const Reader& in) { static_cast<void>(in.words("x")); }) ==
        "f.yaml:1:8: x: expected a word, got a list");
  CHECK(error_in("[1, 2]", [](const Reader&) {}) ==
        "f.yaml:1:1: document: expected a map, got a list");
  CHECK(error_in("word", [](const Reader&) {}) ==
        "f.yaml:1:1: document: expected a map, got 'word'");
}

TEST_CASE("Errors carry the whole dotted path", "[core][reader]") {
  CHECK(error_in("a: {b: [{c: 5}]}", [](const Reader& in) {
          static_cast<void>(in.child("a").list("b")[0].get<Seconds>("c"));
        }) == "f.yaml:1:13: a.b[0].c: expected a number with unit like '15 us', got '5'");
  CHECK(error_in("a: {b: 1}", [](const Reader& in) {
          in.child("a").reject("b", "is not for you");
        }) == "f.yaml:1:8: a.b: is not for you");
  CHECK(error_in("a: {b: 1}", [](const Reader& in) { in.child("a").require(false, "b", "two"); }) ==
        "f.yaml:1:8: a.b: expected two, got '1'");
}

TEST_CASE("Words, raw values and data keys are accounted for", "[core][reader]") {
  CHECK(error_in("{x: [a, b], y: {deep: [1, {z: 2}]}, k: {fp8: 1, fp16: 2}}", [](const Reader& in) {
          CHECK(in.words("x") == std::vector<std::string>{"a", "b"});
          CHECK(in.raw("y").find("deep")->items.size() == 2);
          const Reader data = in.child("k");
          CHECK(data.keys() == std::vector<std::string>{"fp8", "fp16"});  // in file order
          for (const std::string& key : data.keys()) static_cast<void>(data.get<double>(key));
        }).empty());
}

TEST_CASE("The nearest name forgives case and a slip in three letters, and no more",
          "[core][error]") {
  const std::vector<std::string> known{"bandwidth", "capacity", "peak_flops"};
  CHECK(nearest_name("bandwith", known) == "bandwidth");
  CHECK(nearest_name("BANDWIDTH", known) == "bandwidth");
  CHECK(nearest_name("flops", known) == "peak_flops");  // held whole
  CHECK(nearest_name("latency", known).empty());
  CHECK(nearest_name("rnu", {"run", "list"}) == "run");  // two neighbours swapped are one slip
  CHECK(nearest_name("rm", {"run", "list"}).empty());    // and a short word has no more
  CHECK(nearest_name("", known).empty());
  CHECK(nearest_name(std::string(201, 'b'), known).empty());
  CHECK(nearest_name("ramp", {}).empty());
  CHECK(suggestion("capcity", known) == "; did you mean 'capacity'?");
  CHECK(suggestion("xyz", known) == "; known: bandwidth, capacity, peak_flops");
  CHECK(suggestion("xyz", {}).empty());
}

}  // namespace
