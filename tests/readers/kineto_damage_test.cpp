// Does a Chrome trace that is cut, damaged or odd give all that can be had of it, and say what was
// lost?

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "tests/readers/kineto_text.hpp"
#include "timeline/readers/kineto.hpp"

namespace ridgeline::timeline {
namespace {

using namespace tests;

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const core::ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("An event without a possible time is dropped and counted", "[kineto]") {
  for (const std::string bad :
       {R"("ts":NaN,"dur":1)", R"("ts":1)", R"("ts":1e30,"dur":1)", R"("ts":"soon","dur":1)",
        R"("ts":1,"dur":1e999999999999)", R"("ts":99999999999999999999999999,"dur":1)"}) {
    INFO(bad);
    const Recording r = read(trace(kernel(bad) + "," + kernel(R"("ts":1,"dur":1)")));
    CHECK(r.device_events.size() == 1);
    CHECK(says(r, "1 event without a time, left out"));
  }
  const Recording r =
      read(trace(kernel(R"("ts":1,"dur":-1)") + "," + kernel(R"("ts":1,"dur":-0.5)") + "," +
                 kernel(R"("ts":1,"dur":0)")));
  CHECK(r.device_events.size() == 1);
  CHECK(says(r, "2 events with a negative duration, left out"));
}

TEST_CASE("A truncated file is read up to its last whole event", "[kineto]") {
  const std::string first = kernel(R"("ts":1,"dur":1)");
  const std::string text = R"({"baseTimeNanoseconds":1,"traceEvents":[)" + first + "," + first;
  const std::size_t second = text.size() - first.size();
  for (std::size_t cut = second + 1; cut < text.size(); ++cut) {
    const Recording r = read(text.substr(0, cut));
    REQUIRE(r.device_events.size() == 1);
    REQUIRE(says(r, "the file is damaged after event 1 (byte " + std::to_string(second) +
                        "); the rest is lost"));
  }
  CHECK(says(read(text), "the file is damaged after event 2 (byte " + std::to_string(text.size()) +
                             "); the rest is lost"));
}

TEST_CASE("A file that is damaged before anything of use is an error that says where", "[kineto]") {
  // {"schemaVersion":1,"traceEvents":[ is 34 bytes long.
  CHECK(error_of(R"({"schemaVersion":1,"traceEvents":[)") ==
        "t.json: the JSON is damaged before its first event (byte 34)");
  CHECK(error_of(R"({"schemaVersion":1,"traceEv)") ==
        "t.json: the JSON is damaged before its first event (byte 19)");
  CHECK(error_of(R"({"schemaVersion" 1})") ==
        "t.json: the JSON is damaged before its first event (byte 17)");
  CHECK(error_of(R"({"traceEvents":[{"ph":"M"},{"ph)") ==
        "t.json: the file is damaged after event 1 (byte 27); the rest is lost, and what came "
        "before holds neither device events nor runtime calls");
  CHECK(error_of(R"({"traceEvents":[]})") ==
        "t.json: read as kineto, it holds neither device events nor runtime calls");
}

TEST_CASE("One event that is not JSON costs that event only", "[kineto]") {
  const Recording r =
      read(trace(R"({"ph":"X","cat" "kernel"},{"a":[}],17,null,)" + kernel(R"("ts":1,"dur":1)")));
  CHECK(r.device_events.size() == 1);
  CHECK(says(r, "4 events are not JSON, left out"));
}

TEST_CASE(
    "Depth, duplicate keys, bytes that are not UTF-8 and bare control characters are let pass",
    "[kineto]") {
  const std::string deep(100000, '[');
  const std::string wide(100000, ']');
  const Recording nested =
      read(trace(kernel(R"("ts":1,"dur":1)", R"("correlation":7,"Input Dims":)" + deep + wide) +
                 R"(,{"ph":"X","x":)" + deep + wide + "}"));
  CHECK(nested.device_events.size() == 1);

  const Recording twice = read(trace(
      R"({"ph":"X","cat":"cpu_op","cat":"kernel","name":"a","name":"b","ts":9,"ts":1,"dur":1,"args":{"correlation":1,"correlation":2}})"));
  CHECK(twice.name(twice.device_events.at(0).name) == "b");
  CHECK(twice.device_events[0].start.ns == 1000);
  CHECK(twice.device_events[0].correlation == 2);

  const Recording bytes = read(trace(
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\xFF\n\xC3\xA9\\u00e9\",\"ts\":1,\"dur\":1}"));
  CHECK(bytes.name(bytes.device_events.at(0).name) == "a? \xC3\xA9\xC3\xA9");

  const Recording escape = read(trace(R"({"ph":"X","cat":"kernel","name":"a\qb","ts":1,"dur":1})"));
  CHECK(escape.name(escape.device_events.at(0).name) == R"(a\qb)");
}

TEST_CASE("Keys may come in any order", "[kineto]") {
  const Recording r = read(trace(
      R"({"args":{"correlation":7,"device":1},"dur":2,"tid":4,"name":"k","ts":1,"cat":"kernel","pid":1,"ph":"X"})"));
  CHECK(r.device_events.at(0).correlation == 7);
  CHECK(r.device_events[0].stream == 4);
}

TEST_CASE("Other JSON is not taken for a trace", "[kineto]") {
  for (const std::string_view text :
       {"{}", "[]", "", "   ", "[1,2]", R"({"rocprofiler-sdk-tool":[]})", R"({"a":1})", "a,b\n",
        "\"traceEvents\""}) {
    INFO(text);
    CHECK_FALSE(recognizes_kineto({"x", "x", text}));
  }
}

}  // namespace ridgeline::timeline
