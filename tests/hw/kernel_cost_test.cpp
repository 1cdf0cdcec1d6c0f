#include "hw/kernel_cost.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/random.hpp"
#include "hw/compute_units.hpp"
#include "hw/hbm.hpp"
#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Bytes;
using ridgeline::core::Flop;
using ridgeline::core::Nanoseconds;
using ridgeline::core::RandomStream;
using ridgeline::core::Seconds;
using ridgeline::tests::easy_gpu;
using ridgeline::tests::product_of;
using ridgeline::tests::stream_of;

KernelCost cost(const KernelWork& work, double floor_us = 0.0,
                const EfficiencySpec& efficiency = {}) {
  return cost_of(work, easy_gpu(), efficiency,
                 ridgeline::core::round_to_ns(Seconds{floor_us * 1e-6}));
}

TEST_CASE("A kernel takes the longest of compute, memory and floor, and says which",
          "[hw][kernel_cost]") {
  KernelWork work = product_of(10);     // 1 us of compute
  work.stream_read = Bytes{0.25e6};     // 0.25 us of HBM
  work.stream_written = Bytes{0.25e6};  // and 0.25 us more
  const KernelCost compute = cost(work, 0.7);
  CHECK(compute.compute.value() == Approx(1e-6));
  CHECK(compute.memory.value() == Approx(0.5e-6));
  CHECK(compute.floor.value() == Approx(0.7e-6));
  CHECK(compute.binds == Binding::compute);
  CHECK(std::abs(compute.duration.count - 1000) <= 1);

  work.stream_read = Bytes{2.75e6};
  const KernelCost memory = cost(work, 0.7);
  CHECK(memory.binds == Binding::memory);
  CHECK(std::abs(memory.duration.count - 3000) <= 1);
  CHECK(memory.hbm() == Bytes{3e6});
  CHECK((memory.hbm_read == Bytes{2.75e6} && memory.hbm_written == Bytes{0.25e6}));

  const KernelCost floor = cost(work, 5.5);
  CHECK(floor.binds == Binding::floor);
  CHECK(std::abs(floor.duration.count - 5500) <= 1);
}

TEST_CASE("A duration is rounded up, so that no bound is beaten by rounding", "[hw][kernel_cost]") {
  CHECK(cost(stream_of(Bytes{1001.0})).duration == Nanoseconds{2});  // 1.001 ns
  CHECK(cost(stream_of(Bytes{1.0})).duration == Nanoseconds{1});
  CHECK(cost(stream_of(Bytes{0.0})).duration == Nanoseconds{0});
}

TEST_CASE("A kernel that does nothing lasts its floor to the nanosecond", "[hw][kernel_cost]") {
  for (const std::int64_t ns : {1, 3, 2000, 4000, 5000, 6000, 7000}) {
    CHECK(cost_of({}, easy_gpu(), {}, Nanoseconds{ns}).duration == Nanoseconds{ns});
  }
}

TEST_CASE("A tensor that fits the cache does not go to HBM, and a byte more does",
          "[hw][kernel_cost]") {
  KernelWork work;
  work.activation_read = {Bytes{5e5}, Bytes{4e5}};  // each within half of the 1 MB
  work.activation_written = Bytes{1e5};
  const KernelCost cached = cost(work);
  CHECK(cached.hbm() == Bytes{0.0});
  CHECK(cached.memory.value() == Approx(1e-7));  // 1 MB at the cache's 10 TB/s

  work.activation_read[0] = Bytes{5e5 + 1};
  const KernelCost spilled = cost(work);
  CHECK(spilled.hbm_read == Bytes{5e5 + 1});
  CHECK(spilled.hbm_written == Bytes{0.0});
  CHECK(spilled.memory.value() ==
        Approx(0.500001e-6));  // at HBM's 1 TB/s; the cached half a MB meanwhile
}

TEST_CASE("What streams goes to HBM however small it is", "[hw][kernel_cost]") {
  CHECK(cost(stream_of(Bytes{64.0})).hbm_read == Bytes{64.0});
}

TEST_CASE("A kernel of few workgroups pulls a share of the bandwidth", "[hw][kernel_cost]") {
  KernelWork work = stream_of(Bytes{1e6});
  CHECK(cost(work).memory.value() == Approx(1e-6));
  work.workgroups = 5;  // of ten units
  CHECK(cost(work).memory.value() == Approx(2e-6));
  work.workgroups = 1;
  CHECK(cost(work).memory.value() == Approx(10e-6));
}

TEST_CASE("Arithmetic outside of tiles runs at the rate, and padding is issued",
          "[hw][kernel_cost]") {
  KernelWork work;
  work.kind = KernelKind::attention_decode;
  work.useful = Flop{5.12e6};   // 1 us
  work.issued = Flop{20.48e6};  // padded to four times that
  CHECK(cost(work).compute.value() == Approx(4e-6));
  CHECK(cost(work).issued == Flop{20.48e6});
  CHECK(cost(work).useful == Flop{5.12e6});
  work.issued = Flop{};
  CHECK(cost(work).issued == Flop{5.12e6});  // never less than useful
}

TEST_CASE("Efficiency slows the kind it is given for and no other", "[hw][kernel_cost]") {
  EfficiencySpec half;
  half.compute[static_cast<std::size_t>(KernelKind::gemm)] = 0.5;
  half.bandwidth[static_cast<std::size_t>(KernelKind::norm)] = 0.25;
  CHECK(cost(product_of(10), 0.0, half).compute.value() == Approx(2e-6));
  KernelWork norm = stream_of(Bytes{1e6});
  norm.kind = KernelKind::norm;
  CHECK(cost(norm, 0.0, half).memory.value() == Approx(4e-6));
  CHECK(cost(stream_of(Bytes{1e6}), 0.0, half).memory.value() == Approx(1e-6));
}

TEST_CASE("Efficiency slows experts and the links of a collective", "[hw][kernel_cost]") {
  const GpuSpec gpu = ridgeline::tests::shipped_gpu("mi300x");
  const auto longer = [&](const KernelWork& work, KernelKind kind, bool arithmetic) {
    EfficiencySpec half;
    (arithmetic ? half.compute : half.bandwidth)[static_cast<std::size_t>(kind)] = 0.5;
    const KernelCost plain = cost_of(work, gpu, {}, Nanoseconds{0});
    const KernelCost slow = cost_of(work, gpu, half, Nanoseconds{0});
    const auto working = [](const KernelCost& c) {
      return (std::max({c.compute, c.memory, c.link}) - c.fixed).value();
    };
    return working(slow) / working(plain);
  };
  KernelWork experts;
  experts.kind = KernelKind::experts;
  ExpertStage stage;
  stage.query.tokens = 8;
  stage.query.model_dim = 4096;
  stage.query.inter_dim = 14336;
  stage.query.experts = 8;
  stage.query.topk = 2;
  stage.query.math = Dtype::bf16;
  stage.query.weight_element = stage.query.activation_element = Bytes{2};
  experts.operation = stage;
  CHECK(longer(experts, KernelKind::experts, false) == Approx(2.0));  // weights bind at 8 tokens
  stage.query.tokens = 16384;
  experts.operation = stage;
  CHECK(longer(experts, KernelKind::experts, true) == Approx(2.0));

  KernelWork collective;
  collective.kind = KernelKind::collective;
  CollectiveCall call;
  call.query.gpus = 8;
  call.query.bytes = Bytes{1e6};
  call.collectives = "rccl";
  collective.operation = call;
  CHECK(longer(collective, KernelKind::collective, false) == Approx(2.0));
}

TEST_CASE(
    "A tuned product is no slower than any tile and split there is, and an untuned one no faster",
    "[hw][kernel_cost]") {
  // The plain formula, term by term; for kernels fitted to measurements see gemm_cost_test.
  const GpuSpec gpu = ridgeline::tests::shipped_gpu("mi300x_datasheet");
  const GpuSpec fitted = ridgeline::tests::shipped_gpu("mi300x");
  EfficiencySpec untuned;
  untuned.tuned_gemms = false;
  const RandomStream random(1, "products");
  std::uint64_t n = 0;
  for (int i = 0; i < 300; ++i) {
    KernelWork work;
    work.kind = KernelKind::gemm;
    work.gemm = {random.uniform_int(n, 1, 3'000), random.uniform_int(n + 1, 1, 30'000),
                 random.uniform_int(n + 2, 1, 30'000), 1};
    work.useful = work.gemm.flop();
    work.stream_read = Bytes{2.0 * static_cast<double>(work.gemm.n * work.gemm.k)};
    n += 3;
    const KernelCost tuned = cost_of(work, gpu, {}, Nanoseconds{0});
    for (const GemmSpec::Tile tile : gpu.gemm.tiles) {
      for (const std::int64_t splits : {1, 2, 4, 8}) {
        const TilePlan plan =
            plan_with(work.gemm, gpu, tile, splits, gpu.peak[work.math] * gpu.sustained[work.math]);
        const Seconds memory =
            time_to_move(work.stream_read, gpu.hbm, 1.0, filled(plan.workgroups, gpu));
        REQUIRE(std::max(tuned.compute, tuned.memory) <= std::max(plan.compute, memory));
      }
    }
    REQUIRE(tuned.duration <= cost_of(work, gpu, untuned, Nanoseconds{0}).duration);
    REQUIRE(tuned.issued >= tuned.useful);
    REQUIRE(cost_of(work, fitted, {}, Nanoseconds{0}).duration <=
            cost_of(work, fitted, untuned, Nanoseconds{0}).duration);
  }
}

TEST_CASE("Kernels can be taken part of the way to what their bytes and arithmetic need",
          "[hw][kernel_cost]") {
  EfficiencySpec stack;
  stack.bandwidth.fill(0.5);
  const auto us = [&](double left, double floor_us) {
    stack.beyond_floor = left;
    return static_cast<double>(cost(stream_of(Bytes{2e6}), floor_us, stack).duration.count) * 1e-3;
  };
  CHECK(us(1.0, 0.0) == Approx(4.0));  // 2 MB at half of 1 TB/s
  CHECK(us(0.5, 0.0) == Approx(3.0));  // 2 us of bytes, and half of 2 us beyond
  CHECK(us(0.0, 0.0) == Approx(2.0));
  CHECK(us(0.5, 6.0) == Approx(4.0));  // half of the 4 us that its fixed cost is beyond
  CHECK(us(0.0, 6.0) == Approx(2.0));
}

TEST_CASE("Efficiencies read by the kind of kernel they are for", "[hw][kernel_cost]") {
  const auto read = [](const char* text) {
    const ridgeline::core::Node node = ridgeline::core::parse_yaml(text, "s.yaml");
    const ridgeline::core::Reader in(node);
    const EfficiencySpec spec = read_efficiency(in);
    in.finish();
    return spec;
  };
  const EfficiencySpec spec = read(
      "{compute: {gemm: 0.8}, bandwidth: {norm: 50 %}, tuned_gemms: false, "
      "beyond_floor: 0.25}");
  CHECK(spec.of_compute(KernelKind::gemm) == 0.8);
  CHECK(spec.beyond_floor == 0.25);
  CHECK(spec.of_compute(KernelKind::attention_prefill) == 1.0);
  CHECK(spec.of_bandwidth(KernelKind::norm) == 0.5);
  CHECK_FALSE(spec.tuned_gemms);
  CHECK(read("{}") == EfficiencySpec{});
  const auto error = [&](const char* text) {
    return ridgeline::tests::error_of([&] { static_cast<void>(read(text)); });
  };
  CHECK(error("{compute: {gem: 0.8}}") ==
        "s.yaml:1:12: compute.gem: unknown key; did you mean 'gemm'?");
  CHECK(error("{compute: {gemm: 1.2}}") ==
        "s.yaml:1:18: compute.gemm: expected a fraction between 0.001 and 1, got '1.2'");
  CHECK(error("{compute: {collective: 0.5}}") ==
        "s.yaml:1:24: compute.collective: a collective computes nothing; bandwidth.collective is "
        "its links'");
  CHECK(error("{bandwidth: {gemm: 0}}") ==
        "s.yaml:1:20: bandwidth.gemm: expected a fraction between 0.001 and 1, got '0'");
}

TEST_CASE("Every kind of kernel has its own name, in the order of the enum", "[hw][kernel_cost]") {
  REQUIRE(kernel_kind_names().size() == kKernelKinds);
  for (std::size_t i = 0; i < kKernelKinds; ++i)
    CHECK(static_cast<std::size_t>(kernel_kind_names()[i].value) == i);
  REQUIRE(dtype_names().size() == kDtypes);
  for (std::size_t i = 0; i < kDtypes; ++i)
    CHECK(static_cast<std::size_t>(dtype_names()[i].value) == i);
  CHECK(name_of(KernelKind::loss) == "loss");
  CHECK(name_of(Dtype::int4) == "int4");
}

}  // namespace
