#include "hw/hbm.hpp"

#include <catch2/catch.hpp>

#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Bytes;
using ridgeline::core::BytesPerSecond;
using ridgeline::core::Seconds;
using ridgeline::tests::easy_gpu;

TEST_CASE("A read of n bytes takes ramp + n / (peak x sustained x efficiency x fill)",
          "[hw][hbm]") {
  const HbmSpec hbm{Bytes{192e9}, BytesPerSecond{5e12}, 0.8, Seconds{7e-6}};
  CHECK(time_to_move(Bytes{4e6}, hbm, 1.0, 1.0).value() == Approx(8e-6));  // 7 us + 4 MB / 4 TB/s
  CHECK(time_to_move(Bytes{4e6}, hbm, 0.5, 1.0).value() == Approx(9e-6));  // 7 us + 4 MB / 2 TB/s
  CHECK(time_to_move(Bytes{4e6}, hbm, 0.5, 0.25).value() ==
        Approx(15e-6));  // 7 us + 4 MB / 0.5 TB/s
  CHECK(time_to_move(Bytes{4e9}, hbm, 1.0, 1.0).value() == Approx(1.007e-3));
}

TEST_CASE("No bytes take no time, not even the ramp", "[hw][hbm]") {
  const HbmSpec hbm{Bytes{192e9}, BytesPerSecond{5e12}, 0.8, Seconds{7e-6}};
  CHECK(time_to_move(Bytes{0.0}, hbm, 1.0, 1.0) == Seconds{0.0});
}

TEST_CASE("One workgroup on each compute unit fills the memory system, and fewer a share of it",
          "[hw][hbm]") {
  const GpuSpec gpu = easy_gpu();
  CHECK(filled(1, gpu) == Approx(0.1));
  CHECK(filled(5, gpu) == Approx(0.5));
  CHECK(filled(10, gpu) == 1.0);
  CHECK(filled(1000, gpu) == 1.0);
  CHECK(filled(0, gpu) == 1.0);  // not said: more than enough
}

TEST_CASE("A tensor stays in the cache up to its resident share", "[hw][hbm]") {
  const CacheSpec cache{Bytes{1e6}, BytesPerSecond{1e13}, 0.5};
  CHECK(stays_in_cache(Bytes{5e5}, cache));
  CHECK_FALSE(stays_in_cache(Bytes{5e5 + 1}, cache));
  CHECK(stays_in_cache(Bytes{0.0}, cache));
}

TEST_CASE("The HBM ledger names every line and what it adds up to", "[hw][hbm]") {
  HbmLedger ledger(Bytes{192e9});
  CHECK(ledger.free() == Bytes{192e9});
  ledger.reserve("weights", Bytes{16.06e9});
  ledger.reserve("activations", Bytes{0.5e9});
  CHECK(ledger.reserved().value() == Approx(16.56e9));
  CHECK(ledger.free().value() == Approx(175.44e9));
  CHECK(ledger.text() == "weights 16.06 GB + activations 0.50 GB = 16.56 of 192.00 GB");
  REQUIRE(ledger.lines().size() == 2);
  CHECK(ledger.lines()[1].what == "activations");
}

TEST_CASE("More reserved than there is leaves less than nothing", "[hw][hbm]") {
  HbmLedger ledger(Bytes{80e9});
  ledger.reserve("weights", Bytes{141e9});
  CHECK(ledger.free() == Bytes{-61e9});
}

}  // namespace
