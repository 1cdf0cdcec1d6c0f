// Does a summary account for all of the time, and to the right lines? Closed forms on timelines
// small enough to do by hand.

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "tests/timeline/made_up_timeline.hpp"
#include "timeline/summary.hpp"

namespace ridgeline::timeline {
namespace {

using core::Bytes;
using core::Flop;
using core::Nanoseconds;
using core::Seconds;

/// A step of 1000 ns from `start`: 100 host, a gemm of 300, a gap of 50, a norm of 200, 350 host.
MadeUpStep two_kernels(std::int64_t index, std::int64_t start) {
  KernelSpan gemm = kernel_at(start + 100, 300, "Cijk_x", KernelClass::gemm);
  gemm.role = "q_proj";
  gemm.gemm = {32, 4096, 4096};
  gemm.issued = Flop{4e6};
  gemm.useful = Flop{3e6};
  gemm.hbm_read = Bytes{1000.0};
  gemm.hbm_written = Bytes{500.0};
  gemm.transient = Bytes{64.0};
  KernelSpan norm = kernel_at(start + 450, 200, "rms_norm", KernelClass::norm);
  norm.hbm_read = Bytes{250.0};
  MadeUpStep out;
  out.step = step_at(index, start, 1000);
  out.step.decode_sequences = 32;
  out.step.decode_context = 3200;
  out.kernels = {gemm, norm};
  return out;
}

TEST_CASE("Time is busy plus gaps plus host, to the nanosecond") {
  const Summary s = summarize(MadeUpTimeline{{two_kernels(0, 0), two_kernels(1, 5000)}});
  CHECK(s.steps == 2);
  CHECK(s.time == Nanoseconds{2000});          // 2 x 1000
  CHECK(s.kernels_time == Nanoseconds{1000});  // 2 x (300 + 200)
  CHECK(s.busy == s.kernels_time);             // nothing overlaps
  CHECK(s.gaps == Nanoseconds{100});           // 2 x 50
  CHECK(s.host ==
        Nanoseconds{900});  // 2 x (100 + 350); the 4000 between the steps belong to neither
  CHECK(s.busy + s.gaps + s.host == s.time);
}

TEST_CASE("Kernels are counted by class and by role, and by name where there is no role") {
  const Summary s = summarize(MadeUpTimeline{{two_kernels(0, 0), two_kernels(1, 1000)}});
  CHECK(s.total.count == 4);
  CHECK(s.kernels_per_step() == 2.0);
  CHECK(s.by_class.at(KernelClass::gemm).count == 2);
  CHECK(s.by_class.count(KernelClass::softmax) == 0);
  CHECK(s.by_role.at("q_proj").time == Nanoseconds{600});
  CHECK(s.by_role.at("rms_norm").hbm == Bytes{500.0});
  CHECK(s.by_role.size() == 2);
  CHECK(s.share(KernelClass::gemm) == Approx(600.0 / 1000.0));
  CHECK(s.share(KernelClass::softmax) == 0.0);
  CHECK(s.gemm_m == std::map<std::int64_t, std::int64_t>{{32, 2}});
  CHECK(s.transient == Bytes{64.0});
  CHECK(s.decode_sequences == 64);
  CHECK(s.decode_context == 6400);
}

/// 100 us: kernels of 20 us from 10 and 50, and of 19 us from 71; launches that return at 5, 42 and
/// 45 us.
MadeUpStep three_launches() {
  MadeUpStep out;
  out.step = step_at(0, 0, 100'000);
  std::int64_t correlation = 0;
  for (const auto& [start, length, told] :
       {std::array{10'000, 20'000, 5'000}, {50'000, 20'000, 42'000}, {71'000, 19'000, 45'000}}) {
    KernelSpan kernel = kernel_at(start, length, "k");
    kernel.correlation = ++correlation;
    out.kernels.push_back(kernel);
    RuntimeSpan call;
    call.start = core::Instant{told - 1'000};
    call.duration = Nanoseconds{1'000};
    call.correlation = correlation;
    out.calls.push_back(call);
  }
  return out;
}

TEST_CASE("The host sets the pace up to the last kernel that an idle device had to be told of") {
  // Before the second the device is idle from 30 us and hears of it at 42; the third was queued
  // long before, its gap is the device's own. 50 us, and 10 after the last kernel.
  const Summary s = summarize(MadeUpTimeline{{three_launches()}});
  CHECK(s.host_path == Nanoseconds{50'000 + 10'000});
  CHECK(s.launches == 3);
}

TEST_CASE("The kernels of a graph are all there once it runs") {
  MadeUpStep step = three_launches();
  for (KernelSpan& kernel : step.kernels) kernel.from_graph = true;
  // What lies before the first and after the last.
  CHECK(summarize(MadeUpTimeline{{step}}).host_path == Nanoseconds{10'000 + 10'000});
}

TEST_CASE("Time at the roofs is parted by the nearer one of each kernel") {
  // The gemm: 4e6 FLOP at 2e13 a second are 200 ns, 1,500 bytes at 1e10 are 150. The norm: 250
  // bytes, 25 ns.
  const Roofs roofs{core::BytesPerSecond{1e10}, core::FlopPerSecond{2e13}};
  const Summary s = summarize(MadeUpTimeline{{two_kernels(0, 0)}}, {}, {}, roofs);
  CHECK(s.at_matrix_roof == Nanoseconds{200});
  CHECK(s.at_hbm_roof == Nanoseconds{25});
}

TEST_CASE("Rates are over the whole time of the steps, host work included") {
  const Summary s = summarize(MadeUpTimeline{{two_kernels(0, 0)}});
  CHECK(s.issued_rate().value() == Approx(4e6 / 1e-6));  // 4e6 in 1000 ns
  CHECK(s.useful_rate().value() == Approx(3e6 / 1e-6));
  CHECK(s.hbm_rate().value() == Approx(1750.0 / 1e-6));  // 1000 + 500 + 250 bytes
}

TEST_CASE("Kernels that overlap are busy once") {
  MadeUpStep step;
  step.step = step_at(0, 0, 100);
  // [10, 60) and [20, 40) inside it, and [50, 70) over its end: their union is [10, 70). Then a gap
  // of 10 and [80, 90).
  step.kernels = {kernel_at(10, 50, "a"), kernel_at(20, 20, "b"), kernel_at(50, 20, "c"),
                  kernel_at(80, 10, "d")};
  const Summary s = summarize(MadeUpTimeline{{step}});
  CHECK(s.kernels_time == Nanoseconds{100});  // 50 + 20 + 20 + 10
  CHECK(s.busy == Nanoseconds{70});           // 60 + 10
  CHECK(s.gaps == Nanoseconds{10});
  CHECK(s.host == Nanoseconds{20});  // 10 before, 10 after
  CHECK(s.gap_lengths == DurationCounts{{0, 2}, {10, 1}});
}

TEST_CASE("Of a kernel that reaches out of its step only the part inside is busy") {
  MadeUpStep step;
  step.step = step_at(0, 0, 100);
  step.kernels = {kernel_at(90, 50, "late")};
  const Summary s = summarize(MadeUpTimeline{{step}});
  CHECK(s.busy == Nanoseconds{10});
  CHECK(s.host == Nanoseconds{90});
  CHECK(s.kernels_time == Nanoseconds{50});
}

TEST_CASE("The lengths of kernels and gaps are counted, and the gaps add up") {
  const Summary s = summarize(MadeUpTimeline{{two_kernels(0, 0), two_kernels(1, 1000)}});
  CHECK(s.kernel_lengths == DurationCounts{{200, 2}, {300, 2}});
  CHECK(s.gap_lengths == DurationCounts{{50, 2}});
}

TEST_CASE("A filter chooses steps, and everything of the others is left out") {
  const MadeUpTimeline timeline{{two_kernels(0, 0), two_kernels(1, 1000), two_kernels(2, 2000)}};
  const Summary odd = summarize(timeline, {}, [](const StepSpan& s) { return s.index == 1; });
  CHECK(odd.steps == 1);
  CHECK(odd.total.count == 2);
  CHECK(odd.time == Nanoseconds{1000});
  const Summary window = summarize(timeline, {core::Instant{0}, core::Instant{2000}});
  CHECK(window.steps == 2);  // the end is exclusive
}

TEST_CASE("A summary of nothing has no NaN in it") {
  const Summary s = summarize(MadeUpTimeline{{}});
  CHECK(s.steps == 0);
  CHECK(s.kernels_per_step() == 0.0);
  CHECK(s.issued_rate().value() == 0.0);
  CHECK(s.useful_rate().value() == 0.0);
  CHECK(s.hbm_rate().value() == 0.0);
  CHECK(s.share(KernelClass::gemm) == 0.0);
  CHECK(s.by_role.empty());
}

TEST_CASE("A step without kernels is all host") {
  MadeUpStep idle;
  idle.step = step_at(0, 0, 700);
  const Summary s = summarize(MadeUpTimeline{{idle, two_kernels(1, 1000)}});
  CHECK(s.host == Nanoseconds{1150});  // 700 + 100 + 350
}

TEST_CASE("A source may reuse the memory of a name for another one") {
  struct Reusing final : SpanSource {
    [[nodiscard]] DeviceInfo device() const override { return {}; }
    [[nodiscard]] Window extent() const override { return {}; }
    void visit(Window, SpanVisitor& visitor) const override {
      visitor.on_step(step_at(0, 0, 100));
      std::string memory = "aa";
      visitor.on_kernel(kernel_at(0, 10, memory));
      memory[0] = 'b';
      visitor.on_kernel(kernel_at(10, 20, memory));
      memory[0] = 'a';
      visitor.on_kernel(kernel_at(30, 40, memory));
    }
  };
  const Summary s = summarize(Reusing{});
  CHECK(s.by_role.at("aa").time == Nanoseconds{50});  // 10 + 40
  CHECK(s.by_role.at("ba").time == Nanoseconds{20});
}

TEST_CASE("Many different names and lengths keep their counts") {
  MadeUpStep step;
  step.step = step_at(0, 0, 1'000'000'000);
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("kernel_" + std::to_string(i));
  std::int64_t at = 0;
  for (int i = 0; i < 9000; ++i) {  // each name three times, each with its own length
    const std::int64_t length = 1000 + i % 3000;
    step.kernels.push_back(kernel_at(at, length, names[static_cast<std::size_t>(i % 3000)]));
    at += length;
  }
  const Summary s = summarize(MadeUpTimeline{{step}});
  CHECK(s.by_role.size() == 3000);
  CHECK(s.by_role.at("kernel_2999").time == Nanoseconds{3 * 3999});
  CHECK(s.kernel_lengths.size() == 3000);
  CHECK(s.kernel_lengths.at(1500) == 3);
  CHECK(s.gap_lengths == DurationCounts{{0, 8999}});
}

TEST_CASE("The share within bounds counts both bounds") {
  const DurationCounts counts{{1000, 1}, {2000, 2}, {3000, 1}};
  CHECK(share_within(counts, Seconds{1e-6}, Seconds{2e-6}) == 0.75);  // 3 of 4
  CHECK(share_within(counts, Seconds{1.5e-6}, Seconds{2.5e-6}) == 0.5);
  CHECK(share_within(counts, Seconds{4e-6}, Seconds{9e-6}) == 0.0);
  CHECK(share_within(counts, Seconds{3e-6}, Seconds{1e-6}) == 0.0);
  CHECK(share_within({}, Seconds{0.0}, Seconds{1.0}) == 0.0);
}

TEST_CASE("A quantile is the sample of the nearest rank") {
  const DurationCounts counts{{1000, 1}, {2000, 2}, {3000, 1}};
  CHECK(core::round_to_ns(quantile(counts, 0.0)).count == 1000);
  CHECK(core::round_to_ns(quantile(counts, 0.25)).count == 1000);  // rank ceil(0.25 x 4) = 1
  CHECK(core::round_to_ns(quantile(counts, 0.5)).count == 2000);   // rank 2
  CHECK(core::round_to_ns(quantile(counts, 0.75)).count == 2000);  // rank 3
  CHECK(core::round_to_ns(quantile(counts, 0.76)).count == 3000);  // rank ceil(3.04) = 4
  CHECK(core::round_to_ns(quantile(counts, 1.0)).count == 3000);
  CHECK(quantile({}, 0.5).value() == 0.0);
  DurationCounts hundred;
  for (std::int64_t i = 1; i <= 100; ++i) hundred[i] = 1;
  CHECK(core::round_to_ns(quantile(hundred, 0.07)).count ==
        7);  // although 0.07 x 100 > 7 in doubles
}

}  // namespace
}  // namespace ridgeline::timeline
