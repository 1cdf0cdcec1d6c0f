#include "sim/kv_cache.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "core/random.hpp"

using ridgeline::sim::KvCache;

TEST_CASE("A sequence holds whole blocks", "[sim][kv]") {
  const KvCache kv(10, 16);
  CHECK(kv.blocks_for(0) == 0);
  CHECK(kv.blocks_for(1) == 1);
  CHECK(kv.blocks_for(16) == 1);
  CHECK(kv.blocks_for(17) == 2);
}

TEST_CASE("A sequence takes one more block when it outgrows those it has", "[sim][kv]") {
  KvCache kv(10, 16);
  std::int64_t held = 0;
  CHECK(kv.grow(held, 16));
  CHECK(held == 1);
  CHECK(kv.grow(held, 16));  // still fits
  CHECK(held == 1);
  CHECK(kv.grow(held, 17));
  CHECK(held == 2);
  CHECK(kv.used_blocks() == 2);
  CHECK(kv.free_blocks() == 8);
}

TEST_CASE("Without room nothing changes", "[sim][kv]") {
  KvCache kv(3, 16);
  std::int64_t a = 0;
  std::int64_t b = 0;
  REQUIRE(kv.grow(a, 32));
  CHECK_FALSE(kv.grow(b, 17));  // 2 blocks, and 1 is left
  CHECK(b == 0);
  CHECK(kv.free_blocks() == 1);
  CHECK(kv.grow(b, 16));
  CHECK_FALSE(kv.grow(a, 33));
  CHECK(a == 2);
  CHECK(kv.free_blocks() == 0);
}

TEST_CASE("A sequence that needs no more than it has grows even when the cache is full",
          "[sim][kv]") {
  KvCache kv(2, 16);
  std::int64_t held = 0;
  REQUIRE(kv.grow(held, 32));
  CHECK(kv.grow(held, 20));  // fewer tokens give nothing back
  CHECK(held == 2);
}

TEST_CASE("A release gives everything back", "[sim][kv]") {
  KvCache kv(4, 16);
  std::int64_t held = 0;
  REQUIRE(kv.grow(held, 64));
  kv.release(held);
  CHECK(held == 0);
  CHECK(kv.free_blocks() == 4);
  kv.release(held);  // nothing held, nothing returned
  CHECK(kv.free_blocks() == 4);
}

TEST_CASE("Blocks that were never taken cannot be returned", "[sim][kv]") {
  KvCache kv(4, 16);
  std::int64_t held = 1;
  CHECK_THROWS_AS(kv.release(held), ridgeline::core::InvariantError);
}

TEST_CASE("Free and held blocks always add up to all blocks", "[sim][kv]") {
  KvCache kv(50, 4);
  const ridgeline::core::RandomStream random(1, "kv_cache_test");
  std::vector<std::int64_t> held(10, 0);
  std::uint64_t n = 0;
  int wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    std::int64_t& one = held[static_cast<std::size_t>(random.uniform_int(n++, 0, 9))];
    if (random.uniform(n++) < 0.3) {
      kv.release(one);
    } else {
      static_cast<void>(kv.grow(one, random.uniform_int(n++, 1, 60)));
    }
    std::int64_t sum = kv.free_blocks();
    for (const std::int64_t h : held) sum += h;
    if (sum != 50 || kv.free_blocks() < 0) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("A preempted sequence finds its prefix until others have taken it", "[sim][kv]") {
  KvCache kv(10, 16);
  std::int64_t other = 0;
  std::int64_t held = 0;
  REQUIRE(kv.grow(other, 96));  // 6 blocks
  REQUIRE(kv.grow(held, 60));   // the other 4, the last of them not full
  kv.release_preempted(7, held, 60 / 16);
  CHECK(held == 0);
  CHECK(kv.free_blocks() == 4);
  CHECK(kv.left_by(7) == 3);
  CHECK(kv.left_by(8) == 0);
  REQUIRE(kv.grow(other, 97));  // the one that was not full goes first
  CHECK(kv.left_by(7) == 3);
  REQUIRE(kv.grow(other, 113));  // then its own from the tail
  CHECK(kv.left_by(7) == 2);
  SECTION("it takes back what is left") {
    kv.take_back(7, held, 2);
    CHECK(held == 2);
    CHECK(kv.free_blocks() == 0);
    CHECK(kv.left_by(7) == 0);
  }
  SECTION("or less, and the rest is forgotten") {
    kv.take_back(7, held, 1);
    CHECK(kv.free_blocks() == 1);
    CHECK(kv.left_by(7) == 0);
    CHECK(kv.grow(held, 32));
  }
  SECTION("or nothing, once others have all of it") {
    REQUIRE(kv.grow(other, 160));
    CHECK(kv.left_by(7) == 0);
    kv.take_back(7, held, 0);
    CHECK(held == 0);
    CHECK_THROWS_AS(kv.take_back(7, held, 1), ridgeline::core::InvariantError);
  }
}

TEST_CASE("What was freed first is handed out first", "[sim][kv]") {
  KvCache kv(6, 16);
  std::int64_t a = 0;
  std::int64_t b = 0;
  REQUIRE(kv.grow(a, 48));
  REQUIRE(kv.grow(b, 48));
  kv.release(a);
  kv.release_preempted(1, b, 3);
  REQUIRE(kv.grow(a, 48));  // the three that it freed itself
  CHECK(kv.left_by(1) == 3);
}
