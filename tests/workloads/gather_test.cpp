#include "workloads/gather.hpp"

#include <catch2/catch.hpp>

#include <set>

#include "tests/workloads/fixtures.hpp"
#include "workloads/sources/trace_source.hpp"
#include "workloads/workload_spec.hpp"

namespace {

using namespace ridgeline::workloads;  // NOLINT: a test of this one folder
using ridgeline::core::Instant;
using ridgeline::core::InvariantError;
using ridgeline::tests::error_of;

std::unique_ptr<RequestSource> requests_at(const std::vector<std::int64_t>& arrivals) {
  std::vector<Request> requests;
  for (const std::int64_t ns : arrivals) requests.push_back({requests.size(), {ns}, 10, 1});
  return std::make_unique<TraceSource>(std::move(requests), 1.0);
}

/// When each request is handed on, and when it had been sent: "100: 0 40 100 | 250: 130".
std::string handed_on(const std::vector<std::int64_t>& arrivals, const Gather& gather,
                      Turn turn = {}) {
  const auto source = gathered(requests_at(arrivals), gather, turn);
  std::string out;
  std::optional<Instant> batch;
  std::uint64_t id = 0;
  while (const auto when = source->next_arrival()) {
    if (batch != when) {
      out += (out.empty() ? "" : " | ") + std::to_string(when->ns) + ":";
      batch = when;
    }
    const Request request = source->take();
    CHECK(request.id == id++);
    out += " " + std::to_string(request.arrival.ns);
  }
  CHECK_THROWS_AS(source->take(), InvariantError);
  return out;
}

// Worked out by hand on AMD's loop: the clock starts with the first request and again with every
// batch; whoever arrives when it has run out takes all that wait along.
TEST_CASE("A batch goes with the first request after the interval", "[workloads][gather]") {
  CHECK(handed_on({0, 40, 110, 120, 215}, {{100}, 9}) == "110: 0 40 110 | 215: 120 215");
  SECTION("and at once when the interval is long over") {
    CHECK(handed_on({0, 90, 110, 500}, {{100}, 9}) == "110: 0 90 110 | 500: 500");
  }
}

TEST_CASE("A batch goes when nobody has arrived for the interval", "[workloads][gather]") {
  CHECK(handed_on({0, 40, 1000}, {{100}, 9}) == "140: 0 40 | 1000: 1000");
  SECTION("the last of all too") {
    CHECK(handed_on({0}, {{100}, 9}) == "100: 0");
    CHECK(handed_on({0, 110, 130}, {{100}, 9}) == "100: 0 | 230: 110 130");
  }
}

TEST_CASE("A full batch goes at once", "[workloads][gather]") {
  CHECK(handed_on({0, 10, 20, 30, 40}, {{100}, 2}) == "10: 0 10 | 30: 20 30 | 140: 40");
  CHECK(handed_on({0, 0, 0}, {{100}, 1}) == "0: 0 0 0");
}

TEST_CASE("Equal servers get the batches in turn", "[workloads][gather]") {
  const std::vector<std::int64_t> arrivals{0, 100, 150, 200, 290, 300, 350, 400};
  REQUIRE(handed_on(arrivals, {{100}, 9}) ==
          "100: 0 100 | 200: 150 200 | 300: 290 300 | 400: 350 400");
  CHECK(handed_on(arrivals, {{100}, 9}, {0, 3}) == "100: 0 100 | 400: 350 400");
  CHECK(handed_on(arrivals, {{100}, 9}, {1, 3}) == "200: 150 200");
  CHECK(handed_on(arrivals, {{100}, 9}, {2, 3}) == "300: 290 300");
  CHECK(handed_on({0}, {{100}, 9}, {1, 3}).empty());
}

WorkloadSpec read(const std::string& yaml) {
  const ridgeline::core::Node node = ridgeline::core::parse_yaml(yaml, "w.yaml");
  const ridgeline::core::Reader in(node);
  WorkloadSpec spec = read_workload_spec(in);
  in.finish();
  return spec;
}

TEST_CASE("Requests of a rate are gathered, those of a closed loop not", "[workloads][gather]") {
  const auto yaml = [](const std::string& arrivals) {
    return "{requests: 9, arrivals: " + arrivals +
           ", prompt_tokens: 5, output_tokens: 5, gather: {interval: 300 ms, at_most: 96}}";
  };
  const auto spec = std::get<GeneratedWorkload>(read(yaml("{poisson: {rate: 8 /s}}")));
  CHECK(spec.gather == Gather{{300'000'000}, 96});
  CHECK(error_of([&] {
          static_cast<void>(read(yaml("{closed_loop: {concurrency: 8}}")));
        }).find("gather: clients of a closed loop are not gathered; give arrivals with a rate") !=
        std::string::npos);
  CHECK(error_of([&] {
          static_cast<void>(read("{trace: t.csv, gather: {interval: 0 s, at_most: 96}}"));
        }).find("gather.interval: expected a time above 0 and at most 1 h") != std::string::npos);
}

TEST_CASE("Every request reaches exactly one of the servers", "[workloads][gather]") {
  const WorkloadSpec spec = read(
      "{requests: 500, arrivals: {poisson: {rate: 80 /s}}, prompt_tokens: {uniform: {low: 1, high: "
      "100000}}, output_tokens: 5, gather: {interval: 100 ms, at_most: 12}}");
  std::multiset<std::int64_t> dealt;
  for (std::int64_t server = 0; server < 3; ++server) {
    const auto source = make_request_source(spec, 1, nullptr, {server, 3});
    while (source->next_arrival()) dealt.insert(source->take().prompt_tokens);
  }
  auto plain = std::get<GeneratedWorkload>(spec);
  plain.gather.reset();
  std::multiset<std::int64_t> all;
  const auto source = make_request_source(plain, 1);
  while (source->next_arrival()) all.insert(source->take().prompt_tokens);
  CHECK(all.size() == 500);
  CHECK(dealt == all);
}

}  // namespace
