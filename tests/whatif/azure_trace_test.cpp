// A day's hour of a real chat service, every request of it.

#include <catch2/catch.hpp>

#include <fstream>

#include "sim/metrics.hpp"
#include "tests/corpus.hpp"
#include "tests/sim/fixtures.hpp"

using namespace ridgeline;

TEST_CASE("All 19,366 requests of Azure's conversation trace are answered, and no token is lost",
          "[whatif][corpus]") {
  const auto file = tests::corpus("workloads/AzureLLMInferenceTrace_conv.csv");
  if (!file) return;
  // Added up here, line by line: TIMESTAMP,ContextTokens,GeneratedTokens.
  std::int64_t requests = 0;
  std::int64_t prompts = 0;
  std::int64_t answers = 0;
  std::ifstream in(*file);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::size_t second = line.rfind(',');
    const std::size_t first = line.rfind(',', second - 1);
    ++requests;
    prompts += std::stoll(line.substr(first + 1));
    answers += std::stoll(line.substr(second + 1));
  }
  REQUIRE(requests == 19'366);

  const sim::RunResult run =
      sim::run(tests::scenario("chat_8b", {{"workload.trace", file->string()}}));
  const sim::Metrics m = sim::measure(run);
  CHECK(m.requests == requests);
  CHECK(m.completed == requests);
  CHECK(m.input_tokens == prompts);
  CHECK(m.output_tokens == answers);
  std::int64_t sampled = 0;
  std::int64_t prefilled = 0;
  std::int64_t decoded = 0;
  for (const auto& step : run.steps) {
    sampled += step.sampled;
    prefilled += step.prefill_tokens;
    decoded += step.decode_sequences;
  }
  CHECK(sampled == answers);
  CHECK(m.preemptions == 0);
  CHECK(prefilled == prompts);  // each computed once
  CHECK(decoded == answers - requests);
  std::int64_t unbalanced = 0;
  for (const auto& r : run.requests) {
    const auto parts =
        r.queue() + r.preempted + r.until_first_token.total() + r.after_first_token.total();
    if (parts != r.e2e()) ++unbalanced;
  }
  CHECK(unbalanced == 0);
  // It keeps up: the hour's last answer comes within a minute of its last request.
  CHECK((run.end() - run.requests.back().arrival).seconds().value() < 60.0);
}
