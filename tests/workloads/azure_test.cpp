#include "workloads/readers/azure.hpp"

#include <catch2/catch.hpp>

#include "tests/workloads/fixtures.hpp"

namespace {

using ridgeline::tests::error_of;
using ridgeline::workloads::read_azure;
using ridgeline::workloads::TraceFile;
using ridgeline::workloads::wall_clock_ns;

TraceFile azure(std::string_view rows) {
  const std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + std::string(rows);
  return read_azure({"azure.csv", text});
}

TEST_CASE("A wall clock becomes whole nanoseconds since 1970", "[workloads][azure]") {
  constexpr std::int64_t kSecond = 1'000'000'000;
  CHECK(wall_clock_ns("1970-01-01 00:00:00") == 0);
  CHECK(wall_clock_ns("1970-01-02 00:00:01") == 86'401 * kSecond);
  CHECK(wall_clock_ns("1970-01-01 00:00:00.1") == kSecond / 10);
  CHECK(wall_clock_ns("1970-01-01 00:00:00.0000001") == 100);
  CHECK(wall_clock_ns("1970-01-01 00:00:00.000000001") == 1);
  CHECK(wall_clock_ns("2001-09-09 01:46:40") ==
        1'000'000'000 * kSecond);  // Unix time 10^9, a well-known date
  CHECK(wall_clock_ns("2000-03-01 00:00:00").value() -
            wall_clock_ns("2000-02-28 00:00:00").value() ==
        2 * 86'400 * kSecond);
}

TEST_CASE("An offset is taken off the clock", "[workloads][azure]") {
  const auto utc = wall_clock_ns("2024-05-10 12:00:00");
  CHECK(wall_clock_ns("2024-05-10 12:00:00+00:00") == utc);
  CHECK(wall_clock_ns("2024-05-10T12:00:00Z") == utc);
  CHECK(wall_clock_ns("2024-05-10 13:30:00+01:30") == utc);
  CHECK(wall_clock_ns("2024-05-10 04:00:00-08:00") == utc);
}

TEST_CASE("What is not a wall clock is not read as one", "[workloads][azure]") {
  for (const char* text :
       {"", "12", "2023-11-16", "2023-11-16 18:15", "2023-13-01 00:00:00", "2023-02-30 00:00:00",
        "2023-11-16 24:00:00", "2023-11-16 18:60:00", "2023-11-16 18:15:46.",
        "2023-11-16 18:15:46.0000000001", "2023-11-16 18:15:46+", "2023-11-16 18:15:46+0100",
        "2023-11-16 18:15:46 x", "1969-12-31 00:00:00", "2262-01-01 00:00:00",
        "+023-11-16 18:15:46", "2023/11/16 18:15:46"}) {
    INFO(text);
    CHECK_FALSE(wall_clock_ns(text));
  }
}

TEST_CASE("Rows of 2023 start at zero and keep their 100 ns", "[workloads][azure]") {
  const TraceFile trace = azure(
      "2023-11-16 18:15:46.6805900,374,44\r\n"
      "2023-11-16 18:15:50.9951690,396,109");
  REQUIRE(trace.requests.size() == 2);
  CHECK(trace.requests[0] == ridgeline::workloads::Request{0, {0}, 374, 44});
  // 50.9951690 s - 46.6805900 s = 4.3145790 s
  CHECK(trace.requests[1] == ridgeline::workloads::Request{1, {4'314'579'000}, 396, 109});
  CHECK(trace.notes("azure.csv").empty());
}

TEST_CASE("Rows of 2024 have an offset, rows of 2025 a further column", "[workloads][azure]") {
  const TraceFile trace = read_azure({"azure.csv",
                                      "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n"
                                      "2024-05-10 00:00:00.009930+00:00,1,2162,5\n"
                                      "2024-05-10 00:00:00.010000+00:00,0,7,6\n"});
  REQUIRE(trace.requests.size() == 2);
  CHECK(trace.requests[0].prompt_tokens == 2162);
  CHECK(trace.requests[1].arrival.ns == 70'000);  // 10.000 ms - 9.930 ms
  CHECK(trace.requests[1].output_tokens == 6);
}

TEST_CASE("Rows without tokens are left out, counted, and do not move the origin",
          "[workloads][azure]") {
  const TraceFile trace = azure(
      "2023-11-16 00:00:00,10,0\n"
      "2023-11-16 00:00:01,0,10\n"
      "2023-11-16 00:00:02,0,0\n"
      "2023-11-16 00:00:03,10,1\n");
  REQUIRE(trace.requests.size() == 1);
  CHECK(trace.requests[0].arrival.ns == 0);
  CHECK(trace.rows == 4);
  CHECK(trace.without_output == 2);
  CHECK(trace.without_prompt == 1);
  CHECK(trace.notes("t") == std::vector<std::string>{"t: 2 of 4 rows left out: no output tokens",
                                                     "t: 1 of 4 rows left out: no prompt tokens"});
}

TEST_CASE("Time that goes backwards is sorted, ties in file order, and counted",
          "[workloads][azure]") {
  const TraceFile trace = azure(
      "2023-11-16 00:00:05,1,1\n"
      "2023-11-16 00:00:03,2,1\n"
      "2023-11-16 00:00:05,3,1\n"
      "2023-11-16 00:00:03,4,1\n");
  REQUIRE(trace.requests.size() == 4);
  std::vector<std::int64_t> order;
  for (const auto& request : trace.requests) order.push_back(request.prompt_tokens);
  CHECK(order == std::vector<std::int64_t>{2, 4, 1, 3});
  CHECK(trace.requests[3].id == 3);
  CHECK(trace.requests[0].arrival.ns == 0);
  CHECK(trace.requests[3].arrival.ns == 2'000'000'000);
  CHECK(trace.out_of_order == 2);  // 5 -> 3 and 5 -> 3
  CHECK(trace.notes("t") ==
        std::vector<std::string>{"t: 2 of 4 rows earlier than the row before; sorted by time"});
}

TEST_CASE("A field that is not what its column holds is named with its place",
          "[workloads][azure]") {
  const auto error_for = [](std::string_view row) {
    return error_of([&] { static_cast<void>(azure(row)); });
  };
  CHECK(error_for("2023-11-16 18:15:46,abc,44") ==
        "azure.csv:2:21: ContextTokens: expected a whole number, got 'abc'");
  CHECK(error_for("2023-11-16 18:15:46,374,") ==
        "azure.csv:2:25: GeneratedTokens: expected a whole number, got ''");
  CHECK(error_for("2023-11-16 18:15:46,374,-1") ==
        "azure.csv:2:25: GeneratedTokens: expected a whole number from 0 to 10000000, got '-1'");
  CHECK(
      error_for("2023-11-16 18:15:46,10000001,1") ==
      "azure.csv:2:21: ContextTokens: expected a whole number from 0 to 10000000, got '10000001'");
  CHECK(error_for("yesterday,374,44") ==
        "azure.csv:2:1: TIMESTAMP: expected a time like '2023-11-16 18:15:46.6805900', got "
        "'yesterday'");
  CHECK(error_for("2023-11-16 18:15:46,374,44\n2023-11-16 18:1") ==
        "azure.csv:3:1: expected 3 fields as in the header, got 1: '2023-11-16 18:1'");
}

TEST_CASE("A trace in which no request is left is an error", "[workloads][azure]") {
  CHECK(error_of([] { static_cast<void>(azure("")); }) ==
        "azure.csv: expected requests, got a header and no rows");
  CHECK(error_of([] { static_cast<void>(azure("2023-11-16 18:15:46,374,0\n")); }) ==
        "azure.csv: expected requests, got 1 rows, each without prompt tokens or without output "
        "tokens");
}

}  // namespace
