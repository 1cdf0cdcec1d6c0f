#include "workloads/readers/vidur.hpp"

#include <catch2/catch.hpp>

#include "tests/workloads/fixtures.hpp"

namespace {

using ridgeline::workloads::decimal_seconds_ns;
using ridgeline::workloads::read_vidur;

TEST_CASE("Seconds become the nearest nanosecond", "[workloads][vidur]") {
  CHECK(decimal_seconds_ns("0.0") == 0);
  CHECK(decimal_seconds_ns("4.314579") == 4'314'579'000);
  CHECK(decimal_seconds_ns("5e-05") == 50'000);
  CHECK(decimal_seconds_ns("3501.7219369999998") == 3'501'721'937'000);  // a double printed in full
  CHECK(decimal_seconds_ns("604799.999999999") == 604'799'999'999'999);  // a week less a nanosecond
  for (const char* text : {"", "x", "1s", "-1", "nan", "inf", "1e10"}) {
    INFO(text);
    CHECK_FALSE(decimal_seconds_ns(text));
  }
}

TEST_CASE("Rows are requests, the first at zero", "[workloads][vidur]") {
  const auto trace = read_vidur(
      {"v.csv", "arrived_at,num_prefill_tokens,num_decode_tokens\n1.5,374,44\n2.0,396,109\n"});
  REQUIRE(trace.requests.size() == 2);
  CHECK(trace.requests[0] == ridgeline::workloads::Request{0, {0}, 374, 44});
  CHECK(trace.requests[1] == ridgeline::workloads::Request{1, {500'000'000}, 396, 109});
}

TEST_CASE("An arrival that is not in seconds is named with its place", "[workloads][vidur]") {
  const auto read = [] {
    static_cast<void>(
        read_vidur({"v.csv", "arrived_at,num_prefill_tokens,num_decode_tokens\n-1.0,374,44\n"}));
  };
  CHECK(ridgeline::tests::error_of(read) ==
        "v.csv:2:1: arrived_at: expected seconds from 0 to 1e9, like '4.314579', got '-1.0'");
}

}  // namespace
