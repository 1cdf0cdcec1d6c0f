// efficiency.time: kernels so many times as long as everything else says.

#include <catch2/catch.hpp>

#include <cstdlib>

#include "hw/kernel_cost.hpp"
#include "tests/hw/fixtures.hpp"

using namespace ridgeline;

namespace {

/// In ns, of a kernel that moves 3 MB at 1 TB/s, 3 us at best.
std::int64_t stream(double factor, double bandwidth = 1.0, std::int64_t floor_ns = 0) {
  const hw::KernelWork work = tests::stream_of(core::Bytes{3e6});
  hw::EfficiencySpec efficiency;
  efficiency.time.fill(factor);
  efficiency.bandwidth.fill(bandwidth);
  return hw::cost_of(work, tests::easy_gpu(), efficiency, core::Nanoseconds{floor_ns})
      .duration.count;
}

bool near(std::int64_t a, std::int64_t b) { return std::abs(a - b) <= 1; }

}  // namespace

TEST_CASE("A factor of time makes a kernel that much longer, its floor too", "[hw][time_factor]") {
  CHECK(near(stream(1.0), 3000));
  CHECK(near(stream(2.0), 6000));
  CHECK(near(stream(1.5, 0.5), 9000));         // 3 us / 0.5 = 6, times 1.5
  CHECK(near(stream(2.0, 1.0, 5000), 10000));  // a floor of 5 us, twice
}

TEST_CASE("A factor of time below one stops at what bytes take at peak", "[hw][time_factor]") {
  CHECK(near(stream(0.75, 0.5), 4500));  // 6 us at half the bandwidth, times 0.75
  CHECK(near(stream(0.25, 0.5), 3000));  // 1.5 us would beat 3 MB at 1 TB/s
  CHECK(near(stream(0.25), 3000));
}

TEST_CASE("A factor of time changes the kernels of its kind alone", "[hw][time_factor]") {
  hw::EfficiencySpec gemms;
  gemms.time[static_cast<std::size_t>(hw::KernelKind::gemm)] = 2.0;
  const auto took = [](const hw::KernelWork& work, const hw::EfficiencySpec& e) {
    return hw::cost_of(work, tests::easy_gpu(), e, {}).duration.count;
  };
  const hw::KernelWork product = tests::product_of(10);  // 1 us
  CHECK(near(took(product, gemms), 2 * took(product, {})));
  const hw::KernelWork other = tests::stream_of(core::Bytes{3e6});
  REQUIRE(other.kind != hw::KernelKind::gemm);
  CHECK(took(other, gemms) == took(other, {}));
}
