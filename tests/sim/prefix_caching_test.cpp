// Requests that begin alike: what is found is not computed again, and stands in memory once.

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "core/random.hpp"
#include "sim/kv_cache.hpp"
#include "sim/metrics.hpp"
#include "tests/sim/fixtures.hpp"
#include "tests/sim/same.hpp"

using namespace ridgeline;
using sim::KvCache;
using tests::tiny;
using Names = std::vector<std::uint64_t>;

namespace {

// Blocks of 4 tokens: a prefix of 18 fills four of them and half of a fifth.
sim::RunResult run_with(const std::vector<sim::Override>& changes) {
  std::vector<sim::Override> o{{"workload.requests", "4"},
                               {"workload.arrivals.constant.rate", "10 /s"},
                               {"workload.prompt_tokens", "6"},
                               {"workload.shared_prefix", "{groups: 1, tokens: 18}"}};
  o.insert(o.end(), changes.begin(), changes.end());
  return sim::run(tiny(o));
}

std::int64_t prefilled(const sim::RunResult& run) {
  std::int64_t tokens = 0;
  for (const auto& step : run.steps) tokens += step.prefill_tokens;
  return tokens;
}

std::uint32_t most_blocks(const sim::RunResult& run) {
  std::uint32_t most = 0;
  for (const auto& c : run.counters) most = std::max(most, c.kv_blocks_used);
  return most;
}

}  // namespace

TEST_CASE("Named blocks are found from the first on, and a gap ends the search", "[sim][kv]") {
  KvCache kv(8, 4);
  std::int64_t held = 0;
  REQUIRE(kv.grow(held, 12));
  kv.call(Names{1, 2, 3});
  CHECK(kv.find(Names{1, 2, 3, 4}).blocks == 3);
  CHECK(kv.find(Names{1, 2, 3}).in_use == 3);
  CHECK(kv.find(Names{9, 2, 3}).blocks == 0);
  CHECK(kv.used_blocks() == 3);
}

TEST_CASE("A shared block takes room once, until its last user leaves", "[sim][kv]") {
  KvCache kv(8, 4);
  std::int64_t first = 0;
  REQUIRE(kv.grow(first, 8));
  kv.call(Names{1, 2});
  kv.share(Names{1, 2});
  CHECK(kv.used_blocks() == 2);
  kv.leave(Names{1, 2});
  CHECK(kv.used_blocks() == 2);
  kv.leave(Names{1, 2});
  CHECK(kv.used_blocks() == 0);
  CHECK(kv.find(Names{1, 2}).blocks == 2);  // nobody has taken them yet
  CHECK(kv.find(Names{1, 2}).in_use == 0);
  CHECK_THROWS_AS(kv.leave(Names{1}), core::InvariantError);
  CHECK_THROWS_AS(kv.share(Names{3}), core::InvariantError);
  kv.share(Names{1});  // out of the middle of the free ones
  CHECK(kv.used_blocks() == 1);
}

TEST_CASE("What was freed first goes first, of a prefix the tail", "[sim][kv]") {
  KvCache kv(4, 4);
  std::int64_t held = 0;
  REQUIRE(kv.grow(held, 16));
  kv.call(Names{1, 2, 3});
  held -= 3;
  kv.release(held);          // the one without a name
  kv.leave(Names{1, 2, 3});  // then 3, 2, 1
  std::int64_t other = 0;
  REQUIRE(kv.grow(other, 4));
  CHECK(kv.find(Names{1, 2, 3}).blocks == 3);
  REQUIRE(kv.grow(other, 8));
  CHECK(kv.find(Names{1, 2, 3}).blocks == 2);
  kv.share(Names{1, 2});
  CHECK_FALSE(kv.grow(other, 12));
  kv.leave(Names{1, 2});
  REQUIRE(kv.grow(other, 16));
  CHECK(kv.find(Names{1}).blocks == 0);
}

TEST_CASE("A block that two computed at once is kept once", "[sim][kv]") {
  KvCache kv(8, 4);
  std::int64_t a = 0;
  std::int64_t b = 0;
  REQUIRE(kv.grow(a, 8));
  REQUIRE(kv.grow(b, 8));
  kv.call(Names{1, 2});
  CHECK(kv.used_blocks() == 4);
  kv.call(Names{1, 2});
  CHECK(kv.used_blocks() == 2);
}

TEST_CASE("The first of a group computes the prefix, the others their own tokens",
          "[sim][prefix]") {
  const auto run = run_with({});
  // 18 + 6 tokens once; then 16 of them are found in whole blocks.
  CHECK(prefilled(run) == 24 + 3 * 8);
  CHECK(run.requests[0].cached_tokens == 0);
  for (std::size_t i = 1; i < 4; ++i) CHECK(run.requests[i].cached_tokens == 16);
  const auto m = sim::measure(run);
  CHECK(m.prefix_cache_hit_tokens == 48);
  CHECK(m.prefix_cache_hit_rate() == 48.0 / 96.0);

  CHECK(prefilled(run_with({{"engine.enable_prefix_caching", "false"}})) == 4 * 24);
  CHECK(prefilled(run_with({{"workload.shared_prefix.groups", "1000000"}})) == 4 * 24);
}

TEST_CASE("A prompt of nothing but a known prefix still computes its last block", "[sim][prefix]") {
  const auto run = run_with({{"workload.shared_prefix.tokens", "20"},
                             {"workload.prompt_tokens", "{uniform: {low: 1, high: 1}}"}});
  // 21 tokens: (21 - 1) / 4 = 5 blocks are found, and one token is computed.
  for (std::size_t i = 1; i < 4; ++i) CHECK(run.requests[i].cached_tokens == 20);
}

TEST_CASE("Requests that come together share what the first is about to compute", "[sim][prefix]") {
  const auto run = run_with({{"workload.arrivals", "{closed_loop: {concurrency: 4}}"},
                             {"engine.async_scheduling", "false"}});
  CHECK(run.steps.front().prefill_sequences == 4);
  CHECK(prefilled(run) == 24 + 3 * 8);
  // 24 tokens each and 5 more to come, 28 at most in the cache: 7 blocks, 4 of them shared.
  CHECK(most_blocks(run) == 4 + 4 * 3);
  const auto apart = run_with({{"workload.arrivals", "{closed_loop: {concurrency: 4}}"},
                               {"engine.async_scheduling", "false"},
                               {"engine.max_num_batched_tokens", "128"},
                               {"engine.enable_prefix_caching", "false"}});
  CHECK(most_blocks(apart) == 4 * 7);
}

TEST_CASE("Where nothing is shared, prefix caching changes nothing but a preempted request's work",
          "[sim][prefix]") {
  const std::vector<sim::Override> nothing{{"workload.requests", "30"}};
  auto off = nothing;
  off.emplace_back("engine.enable_prefix_caching", "false");
  CHECK(sim::run(tiny(nothing)).steps == sim::run(tiny(off)).steps);
}

TEST_CASE("Tight caches with shared prefixes lose no block and no request", "[sim][prefix]") {
  std::int64_t preemptions = 0;
  std::int64_t hits = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const auto run =
        sim::run(tiny({{"seed", std::to_string(seed)},
                       {"workload.requests", "60"},
                       {"workload.shared_prefix", "{groups: 3, tokens: 14, zipf: 1}"},
                       {"workload.arrivals", "{poisson: {rate: 3000 /s}}"},
                       {"workload.prompt_tokens", "{uniform: {low: 1, high: 30}}"},
                       {"workload.output_tokens", "{uniform: {low: 1, high: 20}}"},
                       {"engine.num_gpu_blocks_override", "20"},
                       {"engine.scheduler_reserve_full_isl", seed % 2 == 0 ? "true" : "false"},
                       {"engine.async_scheduling", seed % 3 == 0 ? "true" : "false"},
                       {"engine.long_prefill_token_threshold", seed % 5 == 0 ? "5" : "0"}}));
    for (const auto& r : run.requests) {
      CHECK(r.output_tokens == r.asked_tokens);
      CHECK(r.cached_tokens <= 12);
      CHECK(r.cached_tokens % 4 == 0);
      hits += r.cached_tokens;
    }
    CHECK(most_blocks(run) <= 20);
    preemptions += run.preemptions;
  }
  CHECK(preemptions > 20);  // tight enough to show something
  CHECK(hits > 0);
}

TEST_CASE("A faster prefill is what a found prefix brings", "[sim][prefix]") {
  const std::vector<sim::Override> chat{{"workload.requests", "60"},
                                        {"workload.shared_prefix", "{groups: 2, tokens: 4096}"}};
  auto off = chat;
  off.emplace_back("engine.enable_prefix_caching", "false");
  const auto with = sim::measure(sim::run(tests::scenario("chat_8b", chat)));
  const auto without = sim::measure(sim::run(tests::scenario("chat_8b", off)));
  CHECK(with.prefix_cache_hit_rate() > 0.5);
  CHECK(without.prefix_cache_hit_rate() == 0.0);
  CHECK(with.ttft.mean < 0.7 * without.ttft.mean);
}
