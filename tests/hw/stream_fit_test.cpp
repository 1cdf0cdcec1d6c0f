// Ramp and bandwidth fitted to measurements, and the shipped machine held against them.

#include "hw/stream_fit.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/config_library.hpp"
#include "core/error.hpp"
#include "hw/gpu_spec.hpp"
#include "hw/kernel_cost.hpp"
#include "workloads/linear.hpp"

namespace {

using namespace ridgeline;
using core::Bytes;
using core::Seconds;
using hw::StreamPoint;

TEST_CASE("A fit to points on a line finds the line", "[hw][stream_fit]") {
  // 5 us + bytes / (4 TB/s): 4 MB take 1 us more, 40 MB 10, 400 MB 100.
  const auto fit = hw::fit_stream({{Bytes{4e6}, Seconds{6e-6}},
                                   {Bytes{40e6}, Seconds{15e-6}},
                                   {Bytes{400e6}, Seconds{105e-6}}});
  CHECK(fit.ramp.value() == Approx(5e-6));
  CHECK(fit.bandwidth.value() == Approx(4e12));
  CHECK(fit.residual < 1e-9);
}

TEST_CASE("A fit needs three points of different sizes", "[hw][stream_fit]") {
  const StreamPoint point{Bytes{1e6}, Seconds{1e-6}};
  CHECK_THROWS_AS(hw::fit_stream({point, point}), core::InvariantError);
  CHECK_THROWS_AS(hw::fit_stream({point, point, point}), core::InvariantError);
}

// SGLang decoding Qwen3-8B in bf16 at batch 32 on MI300X: rows and columns of o, qkv, down, gate_up
// and lm_head, and microseconds a call. torch.profiler trace, AMD-AGI/TraceLens
// tests/traces/inference/sglang_decode at 171dd747.
struct Measured {
  std::int64_t in;
  std::int64_t out;
  double us;
  [[nodiscard]] Bytes weights() const { return Bytes{2.0 * static_cast<double>(in * out)}; }
};
const std::vector<Measured> kDecodeProducts{{4096, 4096, 16.7},
                                            {4096, 6144, 25.0},
                                            {12288, 4096, 40.6},
                                            {4096, 24576, 67.0},
                                            {4096, 151936, 397.0}};

hw::GpuSpec mi300x() {
  const auto library = core::ConfigLibrary::standard();
  const auto node = library.load("hw", library.root() / "hw" / "mi300x.yaml");
  return hw::read_gpu_spec(core::Reader(node));
}

TEST_CASE("The MI300X's plain ramp lies within two standard errors of the decode GEMMs measured",
          "[hw][stream_fit]") {
  std::vector<StreamPoint> points;
  for (const Measured& product : kDecodeProducts)
    points.push_back({product.weights(), Seconds{product.us * 1e-6}});
  const auto fit = hw::fit_stream(points);
  INFO("ramp " << fit.ramp.value() * 1e6 << " +- " << fit.ramp_error.value() * 1e6
               << " us, bandwidth " << fit.bandwidth.value() * 1e-12 << " +- "
               << fit.bandwidth_error.value() * 1e-12 << " TB/s, residual " << fit.residual);
  CHECK(fit.residual < 0.10);
  const hw::GpuSpec gpu = mi300x();
  CHECK(std::abs(gpu.hbm.ramp.value() - fit.ramp.value()) < 2.0 * fit.ramp_error.value());
  // No library that was measured streams faster than the machine is said to sustain.
  CHECK(gpu.hbm.bandwidth.value() * gpu.hbm.sustained > fit.bandwidth.value());
}

TEST_CASE("The MI300X's measured bf16 products meet those decode GEMMs, each within two spreads",
          "[hw][stream_fit]") {
  const hw::GpuSpec gpu = mi300x();
  for (const Measured& product : kDecodeProducts) {
    hw::KernelWork work = workloads::linear_work("product", 32, product.in, product.out,
                                                 hw::Dtype::bf16, Bytes{2.0}, Bytes{2.0});
    const hw::KernelCost cost = hw::cost_of(work, gpu, {}, {});
    const double us = cost.duration.seconds().value() * 1e6;
    INFO(product.in << " x " << product.out << ": " << us << " us, measured " << product.us);
    CHECK(std::abs(std::log(us / product.us)) < 2.0 * cost.spread);
  }
}

}  // namespace
