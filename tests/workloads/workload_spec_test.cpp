#include "workloads/workload_spec.hpp"

#include <catch2/catch.hpp>

#include "tests/corpus.hpp"
#include "tests/workloads/fixtures.hpp"

namespace {

using namespace ridgeline::workloads;  // NOLINT: a test of this one folder
using ridgeline::core::Instant;
using ridgeline::tests::drain;
using ridgeline::tests::error_of;
using ridgeline::tests::TemporaryFolder;
using ridgeline::tests::workload;

constexpr const char* kTrace =
    "arrived_at,num_prefill_tokens,num_decode_tokens\n"
    "0,10,1\n1,20,0\n2,30,3\n4,40,4\n";

std::string error_for(const std::string& yaml) {
  return error_of([&] { static_cast<void>(workload(yaml)); });
}

TEST_CASE("A generated workload reads as it is written", "[workloads][spec]") {
  const WorkloadSpec spec = workload(
      "{requests: 100, arrivals: {poisson: {rate: 5.5 /s}}, prompt_tokens: 50, output_tokens: "
      "{uniform: {low: 1, high: 9}}}");
  CHECK(spec == WorkloadSpec{GeneratedWorkload{100, PoissonArrivals{5.5}, FixedLength{50},
                                               UniformLength{1, 9}}});
}

TEST_CASE("A training workload reads as it is written and has no requests", "[workloads][spec]") {
  const WorkloadSpec spec = workload("{training: {microbatch: 8, sequence: 4096}}");
  CHECK(spec == WorkloadSpec{TrainingWorkload{8, 4096}});
  CHECK_THROWS_AS(make_request_source(spec, 1), ridgeline::core::InvariantError);
}

TEST_CASE("A trace's path is relative to the document that names it", "[workloads][spec]") {
  const TemporaryFolder folder;
  const auto file = folder.write("t.csv", kTrace);
  const WorkloadSpec spec = workload("{trace: t.csv, requests: 2, time_scale: 0.5}",
                                     (folder.path() / "scenario.yaml").string());
  CHECK(spec == WorkloadSpec{TraceWorkload{file, 2, 0.5}});
}

TEST_CASE("A trace's requests are limited after rows are left out, and scaled in time",
          "[workloads][spec]") {
  const TemporaryFolder folder;
  const auto file = folder.write("t.csv", kTrace);
  std::vector<std::string> notes;
  const auto source = make_request_source(TraceWorkload{file, 2, 0.5}, 1, &notes);
  CHECK(drain(*source) ==
        std::vector<Request>{{0, {0}, 10, 1}, {1, {1'000'000'000}, 30, 3}});  // 2 s * 0.5
  CHECK(notes ==
        std::vector<std::string>{file.string() + ": 1 of 4 rows left out: no output tokens"});
}

TEST_CASE("A trace shorter than asked for is replayed whole, with a note", "[workloads][spec]") {
  const TemporaryFolder folder;
  const auto file = folder.write("t.csv", kTrace);
  std::vector<std::string> notes;
  const auto source = make_request_source(TraceWorkload{file, 9, 1.0}, 1, &notes);
  CHECK(drain(*source).size() == 3);
  REQUIRE(notes.size() == 2);
  CHECK(notes[1] == file.string() + ": has 3 requests, fewer than the 9 asked for");
}

TEST_CASE("A trace stretched beyond the clock is an error", "[workloads][spec]") {
  const TemporaryFolder folder;
  const auto file =
      folder.write("t.csv", "arrived_at,num_prefill_tokens,num_decode_tokens\n0,1,1\n2000,1,1\n");
  CHECK(error_of([&] {
          static_cast<void>(make_request_source(TraceWorkload{file, std::nullopt, 1e6}, 1));
        }) == file.string() +
                  ": expected a trace of at most 1e9 s, got 2000000000.000000 s after time_scale");
}

TEST_CASE("Generated requests are numbered in order and repeat bit for bit", "[workloads][spec]") {
  const GeneratedWorkload spec{1000, GammaArrivals{2.0, 2.0}, LognormalLength{100, 1.0, 1, 4096},
                               UniformLength{1, 99}};
  const auto requests = drain(*make_request_source(spec, 5));
  REQUIRE(requests.size() == 1000);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    REQUIRE(requests[i].id == i);
    if (i > 0) REQUIRE(requests[i - 1].arrival <= requests[i].arrival);
  }
  CHECK(requests.back().arrival == Instant{500'000'000'000});  // 1000 / (2 /s)
  CHECK(requests == drain(*make_request_source(spec, 5)));
  CHECK(requests != drain(*make_request_source(spec, 6)));
}

TEST_CASE("Changing one law leaves the numbers of the others alone", "[workloads][spec]") {
  GeneratedWorkload spec{100, PoissonArrivals{2.0}, UniformLength{1, 1000}, UniformLength{1, 1000}};
  const auto before = drain(*make_request_source(spec, 5));
  spec.output_tokens = FixedLength{7};
  const auto after = drain(*make_request_source(spec, 5));
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(before[i].arrival == after[i].arrival);
    CHECK(before[i].prompt_tokens == after[i].prompt_tokens);
  }
  spec.arrivals = ClosedLoop{100};
  CHECK(drain(*make_request_source(spec, 5)).back().prompt_tokens == before.back().prompt_tokens);
}

TEST_CASE("What an empirical law leaves out of its trace is noted once for both columns",
          "[workloads][spec]") {
  const TemporaryFolder folder;
  const auto file = folder.write("t.csv", kTrace);
  std::vector<std::string> notes;
  const GeneratedWorkload spec{5, ConstantArrivals{1.0}, EmpiricalLength{file},
                               EmpiricalLength{file}};
  CHECK(drain(*make_request_source(spec, 1, &notes)).size() == 5);
  CHECK(notes.size() == 1);
}

TEST_CASE("A workload of no kind or of two kinds is an error that shows the kinds",
          "[workloads][spec]") {
  const std::string kinds =
      "expected 'trace', or 'arrivals' with 'requests', 'prompt_tokens' and 'output_tokens', or "
      "'training'";
  CHECK(error_for("{requests: 5}") == "w.yaml:1:1: workload: " + kinds + ", got only requests");
  CHECK(error_for("{}") == "w.yaml:1:1: workload: " + kinds + ", got an empty map");
  const TemporaryFolder folder;
  const std::string trace = folder.write("t.csv", kTrace).string();
  CHECK(error_for("trace: " + trace + "\narrivals: {constant: {rate: 1}}") ==
        "w.yaml:2:11: arrivals: cannot stand beside 'trace': " + kinds);
  CHECK(error_for("trace: " + trace + "\ntraining: {microbatch: 1, sequence: 1}") ==
        "w.yaml:2:11: training: cannot stand beside 'trace': " + kinds);
  CHECK(error_for("training: {microbatch: 1, sequence: 1}\nprompt_tokens: 5") ==
        "w.yaml:2:16: prompt_tokens: cannot stand beside 'training': " + kinds);
}

TEST_CASE("A trace is missed when its requests are wanted, and the error says who named it",
          "[workloads][spec]") {
  const TemporaryFolder folder;
  const auto error = [](const std::string& path) {
    const ridgeline::core::Node node = ridgeline::core::parse_yaml("trace: " + path, "w.yaml");
    const WorkloadSpec spec = read_workload_spec(
        ridgeline::core::Reader(node));  // a finished run is read without its trace
    return error_of([&] { static_cast<void>(make_request_source(spec, 1)); });
  };
  CHECK(error("/nowhere/t.csv") == "w.yaml:1:8: trace: no such file: /nowhere/t.csv");
  const std::string directory = folder.path().string();
  CHECK(error(directory) ==
        "w.yaml:1:8: trace: expected the path of a trace file, got '" + directory + "'");
}

TEST_CASE("A wrong value in a workload says what was expected and where", "[workloads][spec]") {
  const TemporaryFolder folder;
  const std::string trace = folder.write("t.csv", kTrace).string();
  const std::string laws =
      "prompt_tokens: 1\noutput_tokens: 1\narrivals: {constant: {rate: 1e-9}}\n";
  CHECK(error_for("trace: [a]") ==
        "w.yaml:1:8: trace: expected the path of a trace file, got a list");
  CHECK(error_for("trace: ''") == "w.yaml:1:8: trace: expected the path of a trace file, got ''");
  CHECK(error_for("trace: " + trace + "\nrequests: 0") ==
        "w.yaml:2:11: requests: expected a whole number from 1 to 100000000, got '0'");
  CHECK(error_for("trace: " + trace + "\ntime_scale: 0") ==
        "w.yaml:2:13: time_scale: expected a factor above 0 and at most 1e6, got '0'");
  CHECK(error_for(laws) ==
        "w.yaml:1:1: requests: expected a whole number from 1 to 100000000, got nothing (the key "
        "is missing)");
  CHECK(error_for(laws + "requests: 100000001") ==
        "w.yaml:4:11: requests: expected a whole number from 1 to 100000000, got '100000001'");
  CHECK(error_for(laws + "requests: 2") ==
        "w.yaml:3:11: arrivals: 2 requests at this rate would take longer than 1e9 s");
  CHECK(error_for("requests: 1\nprompt_tokens: 1\narrivals: {constant: {rate: 1}}")
            .starts_with("w.yaml:1:1: output_tokens: expected a map with one of fixed"));
  CHECK(error_for("training: {microbatch: 0, sequence: 1}") ==
        "w.yaml:1:24: training.microbatch: expected a whole number from 1 to 1000000, got '0'");
  CHECK(error_for("training: {microbatch: 1000, sequence: 1000001}") ==
        "w.yaml:1:24: training.microbatch: expected at most 1e9 tokens a step (microbatch x "
        "sequence of 1000001), got '1000'");
  CHECK(error_for("training: {microbatch: 1, sequence: 1, layers: 2}") ==
        "w.yaml:1:40: training.layers: unknown key; known: microbatch, sequence");
}

TEST_CASE("A workload drawn from Azure's lengths has Azure's means", "[workloads][spec][corpus]") {
  const auto file = ridgeline::tests::corpus("workloads/AzureLLMInferenceTrace_conv.csv");
  if (!file) return;
  const GeneratedWorkload spec{100'000, PoissonArrivals{30.0}, EmpiricalLength{*file},
                               EmpiricalLength{*file}};
  double prompts = 0.0;
  double outputs = 0.0;
  for (const Request& request : drain(*make_request_source(spec, 1))) {
    prompts += static_cast<double>(request.prompt_tokens);
    outputs += static_cast<double>(request.output_tokens);
  }
  // Standard deviations near 1,100 and 160 tokens give standard errors of 3.5 and 0.5 for 100,000
  // draws.
  CHECK(prompts / 1e5 == Approx(1155).margin(4 * 3.5));
  CHECK(outputs / 1e5 == Approx(211).margin(4 * 0.5));
}

}  // namespace
