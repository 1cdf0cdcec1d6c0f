// Ramp and bandwidth fitted to measurements, and the shipped constants held against the fit.

#include "hw/stream_fit.hpp"

#include <catch2/catch.hpp>

#include "core/config_library.hpp"
#include "core/error.hpp"
#include "hw/gpu_spec.hpp"
#include "workloads/stack_spec.hpp"

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

TEST_CASE(
    "The shipped MI300X and vLLM stack lie within two standard errors of the decode GEMMs measured",
    "[hw][stream_fit]") {
  // SGLang decoding Qwen3-8B in bf16 at batch 32 on MI300X: bytes of weights, and microseconds a
  // call, of o, qkv, down, gate_up and lm_head. torch.profiler trace, AMD-AGI/TraceLens
  // tests/traces/inference/sglang_decode at 171dd747.
  const auto fit = hw::fit_stream({{Bytes{33.6e6}, Seconds{16.7e-6}},
                                   {Bytes{50.3e6}, Seconds{25.0e-6}},
                                   {Bytes{100.7e6}, Seconds{40.6e-6}},
                                   {Bytes{201.3e6}, Seconds{67.0e-6}},
                                   {Bytes{1244.7e6}, Seconds{397.0e-6}}});
  INFO("ramp " << fit.ramp.value() * 1e6 << " +- " << fit.ramp_error.value() * 1e6
               << " us, bandwidth " << fit.bandwidth.value() * 1e-12 << " +- "
               << fit.bandwidth_error.value() * 1e-12 << " TB/s, residual " << fit.residual);
  CHECK(fit.residual < 0.10);

  const auto library = core::ConfigLibrary::standard();
  const auto gpu_node = library.load("hw", library.root() / "hw" / "mi300x.yaml");
  const auto gpu = hw::read_gpu_spec(core::Reader(gpu_node));
  const auto stack_node = library.load("stacks", library.root() / "stacks" / "vllm_v1.yaml");
  const auto stack = workloads::read_stack_spec(core::Reader(stack_node));
  const double shipped = gpu.hbm.bandwidth.value() * gpu.hbm.sustained *
                         stack.efficiency.of_bandwidth(hw::KernelKind::gemm);
  CHECK(std::abs(gpu.hbm.ramp.value() - fit.ramp.value()) < 2.0 * fit.ramp_error.value());
  CHECK(std::abs(shipped - fit.bandwidth.value()) < 2.0 * fit.bandwidth_error.value());
}

}  // namespace
