// Better parts never make one client wait longer. One client at a time, so that nothing but the
// work itself is compared: with many, other batches form, and a faster machine may well answer one
// of them later.

#include <catch2/catch.hpp>

#include "tests/sim/fixtures.hpp"

using namespace ridgeline;
using sim::Override;

namespace {

std::int64_t end_of(std::vector<Override> overrides, const Override& change) {
  overrides.push_back({"workload.arrivals", "{closed_loop: {concurrency: 1}}"});
  if (!change.first.empty()) overrides.push_back(change);
  return sim::run(tests::scenario("chat_8b", overrides)).end().ns;
}

}  // namespace

TEST_CASE("A faster part never makes one client wait longer", "[sim][physics]") {
  for (const char* stack : {"vllm_v1", "pytorch_eager", "reference"}) {
    for (const char* async : {"true", "false"}) {
      const std::vector<Override> base{
          {"stack", stack}, {"engine.async_scheduling", async}, {"workload.requests", "10"}};
      const std::int64_t before = end_of(base, {});
      INFO(stack << ", async " << async);
      for (const Override& change : std::vector<Override>{{"hw.peak.bf16", "1500 TFLOP/s"},
                                                          {"hw.peak.bf16", "13000 TFLOP/s"},
                                                          {"hw.hbm.bandwidth", "5.8 TB/s"},
                                                          {"hw.hbm.bandwidth", "53 TB/s"},
                                                          {"hw.hbm.sustained", "1"},
                                                          {"hw.hbm.ramp", "1 us"},
                                                          {"hw.cache.bandwidth", "30 TB/s"},
                                                          {"hw.sustained.bf16", "1"},
                                                          {"stack.launch.issue", "2 us"},
                                                          {"stack.launch.doorbell", "1 us"},
                                                          {"stack.launch.dispatch", "0 us"},
                                                          {"stack.launch.floor", "1 us"},
                                                          {"stack.launch.graph_floor", "1 us"},
                                                          {"stack.host.step", "1 us"},
                                                          {"stack.host.per_sequence", "0 us"},
                                                          {"engine.async_scheduling", "true"}}) {
        INFO(change.first << " = " << change.second);
        CHECK(end_of(base, change) <= before);
      }
    }
  }
}

TEST_CASE("A slower part makes one client wait longer where that part is what it waits for",
          "[sim][physics]") {
  const std::vector<Override> base{{"workload.requests", "5"}};
  const std::int64_t before = end_of(base, {});
  for (const Override& change : std::vector<Override>{{"hw.hbm.bandwidth", "2.65 TB/s"},
                                                      {"hw.peak.bf16", "400 TFLOP/s"},
                                                      {"stack.launch.graph_floor", "50 us"}}) {
    INFO(change.first);
    CHECK(end_of(base, change) > before);
  }
}
