#include "hw/gpu.hpp"

#include <catch2/catch.hpp>

#include "tests/hw/fixtures.hpp"
#include "tests/hw/scenarios.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::core::Bytes;
using ridgeline::core::Flop;
using ridgeline::core::Nanoseconds;
using ridgeline::tests::easy_gpu;
using ridgeline::tests::launch_in_us;
using ridgeline::tests::product_of;
using ridgeline::tests::RandomScenarios;
using ridgeline::tests::stream_of;

bool same(const Execution& a, const Execution& b) {
  return a.ledger == b.ledger && a.device_end == b.device_end && a.host_free == b.host_free &&
         a.kernels == b.kernels && a.issued == b.issued && a.useful == b.useful && a.hbm == b.hbm &&
         a.transient == b.transient;
}

bool same_cost(const KernelCost& a, const KernelCost& b) {
  return a.compute == b.compute && a.memory == b.memory && a.floor == b.floor &&
         a.binds == b.binds && a.duration == b.duration && a.issued == b.issued &&
         a.hbm_read == b.hbm_read && a.hbm_written == b.hbm_written && a.tile_m == b.tile_m &&
         a.tile_n == b.tile_n && a.splits == b.splits && a.workgroups == b.workgroups;
}

TEST_CASE("A step's ledger says what each of its nanoseconds went to", "[hw][gpu]") {
  KernelProgram program;
  program.begin_segment(1);
  program.add(stream_of(Bytes{2.0005e6}));  // memory: 2,001 ns
  program.begin_segment(3);
  program.add(product_of(10)).useful = Flop{1.0};  // compute: 1 us, or the nanosecond above
  program.add({}).transient = Bytes{7.0};          // nothing
  Gpu gpu(easy_gpu(), {}, launch_in_us(0, 4, 1, 1024));
  const Execution step = gpu.execute(program, LaunchMode::eager);
  CHECK(step.kernels == 7);
  CHECK(step.ledger[Cause::memory] == Nanoseconds{2001});
  CHECK(std::abs(step.ledger[Cause::compute].count - 3000) <= 3);
  CHECK(step.ledger[Cause::dispatch] == Nanoseconds{6000});  // six gaps of 1 us
  CHECK(step.ledger[Cause::launch] == Nanoseconds{4000});    // the doorbell, once
  CHECK(step.ledger[Cause::host] == Nanoseconds{});
  CHECK(step.ledger.total() == step.device_end);
  CHECK(step.ledger.busy() == step.device_end - Nanoseconds{10'000});
  CHECK(step.useful == Flop{3.0});
  CHECK(step.issued.value() == Approx(3 * 10 * 512e3));  // 2 x 16 x 16 x 1000 a tile
  CHECK(step.hbm == Bytes{2.0005e6});
  CHECK(step.transient == Bytes{7.0});
}

TEST_CASE("A program without kernels takes no time", "[hw][gpu]") {
  Gpu gpu(easy_gpu(), {}, launch_in_us(5, 4, 1, 1024));
  const Execution step = gpu.execute({}, LaunchMode::eager);
  CHECK((step.device_end == Nanoseconds{} && step.ledger.total() == Nanoseconds{} &&
         step.kernels == 0));
}

TEST_CASE("A graph's kernels have the graph's floor", "[hw][gpu]") {
  auto launch = launch_in_us(5, 4, 1, 1024);
  launch.floor = {2048};
  launch.graph_floor = {4096};
  Gpu gpu(easy_gpu(), {}, launch);
  CHECK(std::abs(gpu.price({}, LaunchMode::eager).duration.count - 2048) <= 1);
  CHECK(std::abs(gpu.price({}, LaunchMode::graph).duration.count - 4096) <= 1);
  CHECK(std::abs(gpu.price(product_of(1), LaunchMode::eager).duration.count - 2048) <= 1);
  CHECK(std::abs(gpu.price(product_of(1), LaunchMode::graph).duration.count - 4096) <=
        1);  // remembered apart
}

TEST_CASE("A repeated segment runs as its kernels written out", "[hw][gpu]") {
  RandomScenarios scenarios("unrolled");
  for (int i = 0; i < 100; ++i) {
    const auto s = scenarios.next();
    const KernelProgram program = s.program();
    KernelProgram flat;
    flat.begin_segment(1);
    for (const KernelProgram::Segment& segment : program.segments()) {
      for (std::int64_t r = 0; r < segment.repeat; ++r) {
        for (std::size_t k = segment.first; k < segment.first + segment.count; ++k)
          flat.add(program.kernels()[k]);
      }
    }
    Gpu gpu(s.gpu, s.efficiency, s.launch);
    const Execution a = gpu.execute(program, s.mode);
    const Execution b = gpu.execute(flat, s.mode);
    REQUIRE((a.ledger == b.ledger && a.device_end == b.device_end && a.host_free == b.host_free &&
             a.kernels == b.kernels));
    REQUIRE(a.issued.value() == Approx(b.issued.value()));
    REQUIRE(a.useful.value() == Approx(b.useful.value()));
    REQUIRE(a.hbm.value() == Approx(b.hbm.value()));
    REQUIRE(a.transient == b.transient);
  }
}

TEST_CASE("A step executed again is the same step, whatever ran between", "[hw][gpu]") {
  RandomScenarios scenarios("again");
  const auto fixed = scenarios.next();
  Gpu gpu(fixed.gpu, fixed.efficiency, fixed.launch);
  const Execution first = gpu.execute(fixed.program(), fixed.mode);
  for (int i = 0; i < 100; ++i) {
    const auto other = scenarios.next();
    static_cast<void>(gpu.execute(other.program(), other.mode));
    REQUIRE(same(gpu.execute(fixed.program(), fixed.mode), first));
  }
}

TEST_CASE("A remembered price is the price", "[hw][gpu]") {
  RandomScenarios scenarios("prices");
  const auto machine = scenarios.next();
  Gpu gpu(machine.gpu, machine.efficiency, machine.launch);
  for (int i = 0; i < 200; ++i) {
    const auto s = scenarios.next();
    const KernelProgram program = s.program();
    const Nanoseconds floor =
        s.mode == LaunchMode::eager ? machine.launch.floor : machine.launch.graph_floor;
    for (const KernelWork& work : program.kernels()) {
      if (!machine.gpu.supports(work.math)) continue;
      const KernelCost direct = cost_of(work, machine.gpu, machine.efficiency, floor);
      REQUIRE(same_cost(gpu.price(work, s.mode), direct));  // may be new
      REQUIRE(same_cost(gpu.price(work, s.mode), direct));  // is not
    }
  }
}

TEST_CASE("A remembered price keeps its own kernel's useful work", "[hw][gpu]") {
  // Two products equal in all but what of them is needed, as the masked scores of (1 of 4, 3 of 4)
  // and of (2 of 4, 2 of 4) tokens.
  Gpu gpu(easy_gpu(), {}, launch_in_us(0, 0, 0, 1));
  KernelWork work = product_of(1);
  work.useful = Flop{13.0};
  CHECK(gpu.price(work, LaunchMode::eager).useful == Flop{13.0});
  work.useful = Flop{14.0};
  CHECK(gpu.price(work, LaunchMode::eager).useful == Flop{14.0});
}

TEST_CASE("The visitor sees every kernel in order, and its gaps and durations make up the step",
          "[hw][gpu]") {
  RandomScenarios scenarios("visits");
  for (int i = 0; i < 100; ++i) {
    const auto s = scenarios.next();
    const KernelProgram program = s.program();
    Gpu gpu(s.gpu, s.efficiency, s.launch);
    std::int64_t seen = 0;
    Nanoseconds end{};
    const Execution step =
        gpu.execute(program, s.mode,
                    [&](const KernelWork&, const KernelCost& cost, const KernelTiming& timing) {
                      ++seen;
                      end += timing.launch_gap + timing.dispatch_gap;
                      REQUIRE(timing.start == end);
                      end += cost.duration;
                      REQUIRE(timing.end == end);
                    });
    REQUIRE(seen == program.launches());
    REQUIRE(end == step.device_end);
    REQUIRE(same(gpu.execute(program, s.mode), step));  // watching changes nothing
  }
}

}  // namespace
