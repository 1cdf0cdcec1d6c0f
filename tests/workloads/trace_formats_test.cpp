#include "workloads/trace_formats.hpp"

#include <catch2/catch.hpp>

#include "tests/corpus.hpp"
#include "tests/workloads/fixtures.hpp"

namespace {

using ridgeline::tests::error_of;
using ridgeline::tests::TemporaryFolder;
using ridgeline::workloads::read_trace;
using ridgeline::workloads::TraceFile;

std::string error_for(std::string_view text) {
  const TemporaryFolder folder;
  const auto file = folder.write("t.csv", text);
  std::string error = error_of([&] { static_cast<void>(read_trace(file)); });
  if (error.starts_with(folder.path().string() + "/"))
    error.erase(0, folder.path().string().size() + 1);
  return error;
}

TEST_CASE("The header chooses the format, a byte order mark before it or not",
          "[workloads][trace]") {
  const TemporaryFolder folder;
  const auto azure = folder.write("azure.csv",
                                  "\xef\xbb\xbfTIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-"
                                  "16 18:15:46.6805900,374,44\r\n");
  const auto vidur =
      folder.write("vidur.csv", "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,374,44\n");
  CHECK(read_trace(azure).requests == read_trace(vidur).requests);
}

TEST_CASE("An unknown format is an error that lists the known ones", "[workloads][trace]") {
  CHECK(error_for("time,in,out\n1,2,3\n") ==
        "t.csv:1:1: expected the header of a known trace format, got 'time,in,out'; known: "
        "azure (TIMESTAMP,ContextTokens,GeneratedTokens); vidur "
        "(arrived_at,num_prefill_tokens,num_decode_tokens); jsonl (one object a line: "
        "arrival_time,input_toks,output_toks)");
}

TEST_CASE("A header that lacks one of the columns is an error that names it",
          "[workloads][trace]") {
  CHECK(error_for("Time,ContextTokens,GeneratedTokens\n") ==
        "t.csv:1:1: TIMESTAMP: expected a column of this name, got the columns 'Time, "
        "ContextTokens, GeneratedTokens'");
  CHECK(error_for("arrived_at,num_prefill_tokens\n") ==
        "t.csv:1:1: num_decode_tokens: expected a column of this name, got the columns "
        "'arrived_at, num_prefill_tokens'");
}

TEST_CASE("A file that is not a trace says what it is instead", "[workloads][trace]") {
  CHECK(error_for("") == "t.csv: expected a trace, got an empty file");
  CHECK(error_for("\r\n  \n") == "t.csv: expected a trace, got an empty file");
  CHECK(error_for("\xef\xbb\xbf") == "t.csv: expected a trace, got an empty file");
  CHECK(error_for(std::string_view("TIMESTAMP\0,x", 12)) ==
        "t.csv: expected a trace as text, got binary data");
  CHECK(error_for("\x1f\x8b\x08") ==
        "t.csv: expected a trace as text, got gzip data; unpack it first");
  CHECK(error_for("TIMESTAMP,ContextTokens,GeneratedTokens\n") ==
        "t.csv: expected requests, got a header and no rows");
}

TEST_CASE("A trace that is not there, or is a folder, is an error", "[workloads][trace]") {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  CHECK(error_of([&] { static_cast<void>(read_trace(path + "/none.csv")); }) ==
        path + "/none.csv: no such file");
  CHECK(error_of([&] { static_cast<void>(read_trace(path)); }) ==
        path + ": expected a file, got a directory");
}

struct Means {
  double prompt = 0.0;
  double output = 0.0;
};

Means means_of(const TraceFile& trace) {
  Means sum;
  for (const auto& request : trace.requests) {
    sum.prompt += static_cast<double>(request.prompt_tokens);
    sum.output += static_cast<double>(request.output_tokens);
  }
  const auto n = static_cast<double>(trace.requests.size());
  return {sum.prompt / n, sum.output / n};
}

// What is published of the two traces: 19,366 and 8,819 requests over 3,502 and 3,436 s, of
// 1155/211 and 2048/28 tokens.
TEST_CASE("Azure's conversation trace reads as published", "[workloads][trace][corpus]") {
  const auto file = ridgeline::tests::corpus("workloads/AzureLLMInferenceTrace_conv.csv");
  if (!file) return;
  const TraceFile trace = read_trace(*file);
  CHECK(trace.rows == 19'366);
  CHECK(trace.requests.size() == 19'366);
  CHECK(trace.out_of_order == 0);
  CHECK(means_of(trace).prompt == Approx(1155).margin(0.5));
  CHECK(means_of(trace).output == Approx(211).margin(0.5));
  // From 18:15:46.6805900 to 19:14:08.4025270: 3502 s less 0.2780630 s.
  CHECK(trace.requests.back().arrival.ns == 3'501'721'937'000);
  CHECK(trace.requests.back().id == 19'365);
}

TEST_CASE("Azure's code trace reads as published", "[workloads][trace][corpus]") {
  const auto file = ridgeline::tests::corpus("workloads/AzureLLMInferenceTrace_code.csv");
  if (!file) return;
  const TraceFile trace = read_trace(*file);
  CHECK(trace.rows == 8'819);
  CHECK(trace.requests.size() + trace.without_output + trace.without_prompt == 8'819);
  CHECK(means_of(trace).prompt == Approx(2048).margin(0.5));
  CHECK(means_of(trace).output == Approx(28).margin(0.5));
  CHECK(trace.requests.back().arrival.since_start().value() == Approx(3436).margin(0.5));
}

TEST_CASE("Vidur's copies of Azure's traces give the same requests to the microsecond",
          "[workloads][trace][corpus]") {
  for (const std::string name : {"conv", "code"}) {
    const auto azure =
        ridgeline::tests::corpus("workloads/AzureLLMInferenceTrace_" + name + ".csv");
    const auto vidur = ridgeline::tests::corpus("workloads/vidur_splitwise_" + name + ".csv");
    if (!azure || !vidur) return;
    const auto expected = read_trace(*azure).requests;
    const auto got = read_trace(*vidur).requests;
    REQUIRE(got.size() == expected.size());
    std::size_t unlike = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool lengths = got[i].prompt_tokens == expected[i].prompt_tokens &&
                           got[i].output_tokens == expected[i].output_tokens;
      const auto apart = got[i].arrival - expected[i].arrival;
      if (!lengths || apart.count < -1000 || apart.count > 1000) ++unlike;
    }
    CHECK(unlike == 0);
  }
}

}  // namespace
