// Kernels that pass tensors through: their arithmetic by hand, and that HBM is told of what the
// time says it moved.

#include "hw/pass_cost.hpp"

#include <catch2/catch.hpp>

#include "hw/kernel_cost.hpp"
#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Bytes;
using ridgeline::core::BytesPerSecond;
using ridgeline::core::Seconds;
using ridgeline::tests::easy_gpu;

/// The easy machine (HBM 1 MB in 1 us, the cache 10 MB, a tensor up to 0.5 MB stays) with kernels
/// that start and end in 2 us and reach half of HBM.
GpuSpec passing() {
  GpuSpec gpu = easy_gpu();
  PassSpec passes;
  passes.fixed = Seconds{2e-6};
  passes.any.hbm = 0.5;
  gpu.passes = passes;
  return gpu;
}

KernelWork pass_of(double read, double written, double rows = 0.0) {
  KernelWork work;
  work.kind = KernelKind::sampling;
  work.activation_read = {Bytes{read}};
  work.activation_written = Bytes{written};
  work.rows = rows;
  return work;
}
KernelCost cost(const KernelWork& work, const GpuSpec& gpu) { return cost_of(work, gpu, {}, {}); }

TEST_CASE("What fits the cache comes from there, the rest from HBM, after the fixed time",
          "[hw][pass_cost]") {
  const GpuSpec gpu = passing();
  const KernelCost small = cost(pass_of(2e5, 2e5), gpu);
  CHECK(small.memory.value() == Approx(2e-6 + 0.04e-6));  // 0.4 MB at 10 TB/s
  CHECK(small.hbm() == Bytes{0.0});
  CHECK(small.binds == Binding::floor);  // start and end, for the most part
  const KernelCost large = cost(pass_of(3e6, 2e6), gpu);
  CHECK(large.memory.value() == Approx(2e-6 + 0.05e-6 + 9e-6));  // 0.5 MB; 4.5 MB at 0.5 TB/s
  CHECK(large.binds == Binding::memory);
  CHECK(large.fixed.value() == 2e-6);
}

TEST_CASE("HBM is said to have moved what the time has it move", "[hw][pass_cost]") {
  const GpuSpec gpu = passing();
  KernelWork work = pass_of(3e6, 2e6);  // of 5 MB a tenth lies in the cache
  work.stream_written = Bytes{1e6};
  const KernelCost partly = cost(work, gpu);
  CHECK(partly.hbm_read.value() == Approx(2.7e6));
  CHECK(partly.hbm_written.value() == Approx(1.8e6 + 1e6));
  // On every machine that has constants, at any size: no faster than HBM's peak for those bytes.
  for (const std::string& name : ridgeline::tests::shipped().names("hw")) {
    const GpuSpec shipped = ridgeline::tests::shipped_gpu(name);
    if (!shipped.passes) continue;
    for (double bytes = 1e3; bytes < 1e10; bytes *= 1.7) {
      for (const auto& kind : kernel_kind_names()) {
        if (kind.value == KernelKind::gemm || kind.value == KernelKind::attention_scores ||
            kind.value == KernelKind::attention_values)
          continue;
        KernelWork pass = pass_of(bytes, 0.3 * bytes);
        pass.kind = kind.value;
        const KernelCost there = cost(pass, shipped);
        INFO(name << ", " << kind.name << " of " << bytes << " B");
        REQUIRE(there.duration.seconds() >= there.hbm() / shipped.hbm.bandwidth);
      }
    }
  }
}

TEST_CASE("Rows start one after another, and each pulls what a workgroup can", "[hw][pass_cost]") {
  GpuSpec gpu = passing();
  gpu.passes->workgroup_start = Seconds{1e-9};
  // 100,000 rows of a byte: 100 us of starting.
  CHECK(cost(pass_of(1e5, 0.0, 1e5), gpu).memory.value() == Approx(2e-6 + 100e-6));
  gpu.passes->any.workgroup_bandwidth = BytesPerSecond{1e10};
  // 10 rows pull 0.1 TB/s together: 0.4 MB in 4 us.
  CHECK(cost(pass_of(4e5, 0.0, 10.0), gpu).memory.value() == Approx(2e-6 + 4e-6));
}

TEST_CASE("A larger cache slows no kernel, whatever the shares of the bandwidths",
          "[hw][pass_cost]") {
  GpuSpec gpu = passing();
  gpu.passes->any.cache = 0.01;  // 0.1 TB/s, against 0.5 TB/s of HBM
  const KernelCost before = cost(pass_of(2e6, 0.0), gpu);
  CHECK(before.memory.value() == Approx(2e-6 + 4e-6));  // all of it as from HBM
  gpu.cache.capacity = Bytes{1e9};
  CHECK(cost(pass_of(2e6, 0.0), gpu).memory <= before.memory);
}

}  // namespace
