#include "workloads/readers/jsonl.hpp"

#include <catch2/catch.hpp>

#include "tests/workloads/fixtures.hpp"
#include "workloads/trace_formats.hpp"

namespace {

using ridgeline::tests::error_of;
using ridgeline::workloads::clock_ns;
using ridgeline::workloads::read_jsonl;
using ridgeline::workloads::Request;

std::string error_for(std::string_view text) {
  return error_of([text] { static_cast<void>(read_jsonl({"t.jsonl", text})); });
}

TEST_CASE("A clock keeps all its digits down to the nanosecond", "[workloads][jsonl]") {
  constexpr std::int64_t kSecond = 1'000'000'000;
  CHECK(clock_ns("0", kSecond) == 0);
  CHECK(clock_ns("1.5", kSecond) == 1'500'000'000);
  CHECK(clock_ns("1787267980.0827403", kSecond) == 1'787'267'980'082'740'300);
  CHECK(clock_ns("0.0000000019", kSecond) == 1);  // 1.9 ns
  CHECK(clock_ns("5e-05", kSecond) == 50'000);
  CHECK(clock_ns("27482", 1'000'000) == 27'482'000'000);
  CHECK(clock_ns("52000000", 1) == 52'000'000);
  for (const char* text : {"x", "-1", "-0.5", "1s", "1.", "1.x", "\"1\"", "9223372037", "null"}) {
    INFO(text);
    CHECK_FALSE(clock_ns(text, kSecond));
  }
}

TEST_CASE("Lines are requests, in each of the dialects", "[workloads][jsonl]") {
  const std::vector<Request> expected{{0, {0}, 374, 44}, {1, {500'000'000}, 396, 109}};
  const auto read = [](std::string_view text) { return read_jsonl({"t.jsonl", text}).requests; };
  CHECK(read("{\"request_id\": \"a, {b}\", \"input_toks\": 374, \"output_toks\": 44, "
             "\"arrival_time\": 1787267980.25, \"queued_ts\": 1.0}\n"
             "{\"arrival_time\": 1787267980.75, \"output_toks\": 109, \"input_toks\": 396}\n") ==
        expected);
  CHECK(read("{\"input_toks\": 374, \"output_toks\": 44, \"arrival_time_ns\": 0}\r\n\r\n"
             "{\"input_toks\":396,\"output_toks\":109,\"arrival_time_ns\":500000000}") == expected);
  CHECK(read("{\"timestamp\": 27000, \"input_length\": 374, \"output_length\": 44, "
             "\"hash_ids\": []}\n"
             "{\"timestamp\": 27500, \"input_length\": 396, \"output_length\": 109, "
             "\"hash_ids\": []}\n") == expected);
}

TEST_CASE("Hashes say where a prompt begins as others do, 512 tokens each and the rest",
          "[workloads][jsonl]") {
  const auto requests = read_jsonl({"t.jsonl",
                                    "{\"timestamp\": 0, \"input_length\": 1100, "
                                    "\"output_length\": 4, \"hash_ids\": [0, 7, 12]}\n"
                                    "{\"timestamp\": 0, \"input_length\": 512, "
                                    "\"output_length\": 4, \"hash_ids\": [ 0 ]}\n"})
                            .requests;
  using Pieces = std::vector<ridgeline::workloads::PromptPiece>;
  CHECK(requests[0].shared == Pieces{{0, 512}, {7, 512}, {12, 76}});  // 1100 - 1024
  CHECK(requests[1].shared == Pieces{{0, 512}});

  const auto error_with = [](const std::string& hashes) {
    return error_for(
        "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 4, "
        "\"hash_ids\": " +
        hashes + "}\n");
  };
  CHECK(error_with("[1]") ==
        "t.jsonl:1:71: hash_ids: expected 2 of them, one for every 512 tokens of the prompt, got "
        "'[1]'");
  for (const char* list : {"[1, x]", "[1,]", "[1 2]", "[[1], 2]", "12", "[-1, 2]"}) {
    INFO(list);
    CHECK(error_with(list).find("hash_ids: expected a list of whole numbers, got ") !=
          std::string::npos);
  }
}

TEST_CASE("A file that begins with an object is taken for this format", "[workloads][jsonl]") {
  const ridgeline::tests::TemporaryFolder folder;
  const auto file = folder.write(
      "t.jsonl", "{\"timestamp\": 27000, \"input_length\": 374, \"output_length\": 44}\n");
  CHECK(ridgeline::workloads::read_trace(file).requests.size() == 1);
}

TEST_CASE("What is wrong with a line is said with its place", "[workloads][jsonl]") {
  CHECK(error_for("{\"time\": 1, \"in\": 2}\n") ==
        "t.jsonl:1:1: expected one of the keys 'arrival_time', 'arrival_time_ns', 'timestamp', "
        "got the keys 'time, in'");
  CHECK(error_for("{\"timestamp\": 1, \"input_length\": 2}\n") ==
        "t.jsonl:1:1: expected the key 'output_length', got 'an object without it'");
  CHECK(error_for("{\"timestamp\": 1, \"input_length\": -2, \"output_length\": 3}\n") ==
        "t.jsonl:1:34: input_length: expected a whole number from 0 to 10000000, got '-2'");
  CHECK(error_for("{\"timestamp\": soon, \"input_length\": 2, \"output_length\": 3}\n") ==
        "t.jsonl:1:15: timestamp: expected milliseconds, like 27482, got 'soon'");
  CHECK(error_for("{\"timestamp\": 1, \"timestamp\": 2, \"input_length\": 2}\n") ==
        "t.jsonl:1:31: timestamp: expected a key that stands once, got '2'");
  CHECK(error_for("{\"timestamp\": 1\n") == "t.jsonl:1:16: expected '}', got the end of the line");
  CHECK(error_for("{\"timestamp\": \n") ==
        "t.jsonl:1:15: expected a value, got the end of the line");
  CHECK(error_for("{\"timestamp\n") ==
        "t.jsonl:1:2: expected a string that ends, got '\"timestamp'");
  CHECK(error_for("{} {}\n") == "t.jsonl:1:4: expected the end of the line, got '{}'");
  CHECK(error_for("{}\n").starts_with("t.jsonl:1:1: expected one of the keys"));
}

}  // namespace
