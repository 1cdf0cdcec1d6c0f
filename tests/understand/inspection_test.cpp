// Do the parts of the device's time add up, and do gaps go to their causes?

#include <catch2/catch.hpp>

#include "tests/understand/made_up_recording.hpp"
#include "timeline/inspection.hpp"

namespace ridgeline::timeline {
namespace {

Inspection inspect(const Recording& r) { return timeline::inspect(r, find_steps(r)); }

core::Nanoseconds all_gaps(const Inspection& in) {
  core::Nanoseconds sum{0};
  for (const GapRow& row : in.gaps) sum += row.total;
  return sum;
}

TEST_CASE("Busy time is computation, then what of communication and copies is exposed") {
  MadeUp made;
  made.kernel(0, 100, "Cijk_a");
  made.kernel(60, 80, "ncclDevKernel_Generic_1").stream = 2;  // 40 us beside the product, 40 alone
  made.copy(130, 30, 1000).stream = 3;  // 10 us beside the collective, 20 alone
  made.kernel(200, 50, "Cijk_a");
  const Inspection in = inspect(made.finish());
  REQUIRE(in.devices.size() == 1);
  const DeviceUse& use = in.devices[0];
  CHECK(use.time == us(250));
  CHECK(use.computation == us(150));
  CHECK(use.exposed_communication == us(40));
  CHECK(use.exposed_copies == us(20));
  CHECK(use.busy == us(210));
  CHECK(use.idle == us(40));
  CHECK(use.busy == use.computation + use.exposed_communication + use.exposed_copies);
  CHECK(all_gaps(in) == use.idle);
}

TEST_CASE("A second device has its own time") {
  MadeUp made;
  made.kernel(0, 100, "Cijk_a");
  made.kernel(0, 40, "Cijk_a").device = 1;
  const Inspection in = inspect(made.finish());
  REQUIRE(in.devices.size() == 2);
  CHECK(in.devices[0].device == 0);
  CHECK(in.devices[1].busy == us(40));
  CHECK(in.devices[1].idle == us(60));
}

TEST_CASE("A gap is the host's until the launch returns, and dispatch from then on") {
  MadeUp made;
  made.kernel(0, 10, "Cijk_a", 1);
  made.launch(-10, 5, 1);
  made.launch(20, 6, 2);  // returns at 26
  made.kernel(30, 10, "Cijk_a", 2);
  const Inspection in = inspect(made.finish());
  CHECK(in.gap(GapCause::host_late).total == us(16));  // 10 to 26
  CHECK(in.gap(GapCause::dispatch).total == us(4));    // 26 to 30
  CHECK(all_gaps(in) == in.devices[0].idle);
}

TEST_CASE("A launch that was queued long before leaves only dispatch") {
  MadeUp made;
  made.launch(-20, 5, 1);
  made.launch(-10, 5, 2);
  made.kernel(0, 10, "Cijk_a", 1);
  made.kernel(13, 10, "Cijk_a", 2);
  const Inspection in = inspect(made.finish());
  CHECK(in.gap(GapCause::dispatch).total == us(3));
  CHECK(in.gap(GapCause::host_late).count == 0);
  // The second was queued at -5, when the first had not started: one ahead of one of two kernels.
  CHECK(in.backlog.share_behind == 0.5);
  CHECK(in.backlog.kernels == 2);
}

TEST_CASE("A host that waited for the device is why it launches late") {
  MadeUp made;
  made.launch(-10, 5, 1);
  made.kernel(0, 10, "Cijk_a", 1);
  made.call(-4, 18, HostCall::Kind::synchronize, "hipDeviceSynchronize", 9);  // until 14
  made.launch(20, 5, 2);
  made.kernel(30, 10, "Cijk_a", 2);
  const Inspection in = inspect(made.finish());
  CHECK(in.gap(GapCause::sync).total == us(15));  // 10 to 25
  CHECK(in.gap(GapCause::host_late).count == 0);
}

TEST_CASE("A wait of one thread does not excuse another") {
  MadeUp made;
  made.launch(-10, 5, 1);
  made.kernel(0, 10, "Cijk_a", 1);
  made.call(-4, 18, HostCall::Kind::synchronize, "hipDeviceSynchronize", 9).thread = 7;
  made.launch(20, 5, 2);
  made.kernel(30, 10, "Cijk_a", 2);
  CHECK(inspect(made.finish()).gap(GapCause::host_late).total == us(15));
}

TEST_CASE("Gaps before work that is not linked, or was queued long, have causes of their own") {
  MadeUp made;
  made.launch(-10, 5, 1);
  made.launch(-5, 5, 2);
  made.kernel(0, 10, "Cijk_a", 1);
  made.kernel(5'010, 10, "Cijk_a", 2);  // queued at 0, started 5 ms after the device was free
  made.kernel(5'040, 10, "Cijk_a", 0);
  const Inspection in = inspect(made.finish());
  CHECK(in.gap(GapCause::unrecorded).total == us(5'000));
  CHECK(in.gap(GapCause::unknown).total == us(20));
}

TEST_CASE("The kernels of a graph wait for dispatch, not for the host") {
  MadeUp made;
  made.call(0, 100, HostCall::Kind::graph_launch, "hipGraphLaunch", 1);
  made.kernel(20, 10, "Cijk_a", 1);
  made.kernel(32, 10, "Cijk_a", 1);  // the launch call goes on until 100
  const Inspection in = inspect(made.finish());
  CHECK(in.gap(GapCause::dispatch).total == us(2));
  CHECK(in.gap(GapCause::host_late).count == 0);
}

TEST_CASE("A long copy call around a short copy is a wait") {
  MadeUp made;
  made.call(0, 463'000, HostCall::Kind::copy, "hipMemcpyWithStream", 1).copy =
      CopyKind::device_to_host;
  made.recording.calls.back().bytes = 256;
  made.copy(462'990, 4.5, 256, 1);
  made.call(500'000, 400, HostCall::Kind::copy, "hipMemcpyAsync",
            2);  // this one is a copy that takes its time
  made.copy(500'010, 380, 4'000'000, 2);
  const Inspection in = inspect(made.finish());
  REQUIRE(in.blocked_copies.size() == 1);
  CHECK(in.blocked_copies[0].on_host == us(463'000));
  CHECK(in.blocked_copies[0].on_device == us(4.5));
  CHECK(in.blocked_copies[0].bytes == 256);
}

TEST_CASE("Copies are known by what the runtime was asked for, and their rate is bytes over time") {
  MadeUp made;
  made.call(0, 5, HostCall::Kind::copy, "hipMemcpyAsync", 1).copy = CopyKind::host_to_device;
  made.copy(10, 100, 5'000'000, 1);  // the device calls it DtoD: a blit kernel did it
  const Inspection in = inspect(made.finish());
  REQUIRE(in.copies.size() == 1);
  CHECK(in.copies[0].kind == CopyKind::host_to_device);
  CHECK(in.copies[0].rate.value() == Approx(50e9));  // 5 MB in 100 us
}

TEST_CASE("Kernel tables count, sum and order by time") {
  MadeUp made;
  made.kernel(0, 10, "Cijk_a");
  made.kernel(100, 30, "Cijk_a");
  made.kernel(200, 20, "Cijk_a");
  made.kernel(300, 5, "rms_norm");
  const Inspection in = inspect(made.finish());
  REQUIRE(in.names.size() == 2);
  CHECK(in.names[0].durations.count == 3);
  CHECK(in.names[0].durations.total == us(60));
  CHECK(in.names[0].durations.min == us(10));
  CHECK(in.names[0].durations.median == us(20));
  CHECK(in.names[0].durations.max == us(30));
  CHECK(in.names[0].family == "Tensile");
  CHECK(in.classes[1].cls == KernelClass::norm);
}

TEST_CASE("Kernels at the floor are counted with their time") {
  MadeUp made;
  for (int i = 0; i < 8; ++i) made.kernel(i * 100.0, 4.5, "rms_norm");
  made.kernel(800, 50, "Cijk_a");
  made.kernel(900, 7, "attn_fwd");
  const Inspection in = inspect(made.finish());
  CHECK(in.floor.shortest == us(4.5));
  CHECK(in.floor.limit == us(6));  // 1.25 x 4.5 = 5.6 is less than 6
  CHECK(in.floor.count == 8);
  CHECK(in.floor.kernels == 10);
  CHECK(in.floor.time == us(36));
}

TEST_CASE("Products with known shapes have FLOP and bytes") {
  MadeUp made;
  made.op("aten::mm", 3, {{32, 64}, {64, 128}});
  made.kernel(0, 10, "Cijk_a").external_id = 3;
  made.kernel(10, 10, "Cijk_a");
  const Inspection in = inspect(made.finish());
  REQUIRE(in.classes.size() == 1);
  CHECK(in.classes[0].flop.value() == 2.0 * 32 * 64 * 128);
  CHECK(in.classes[0].bytes.value() == 2.0 * (32 * 64 + 64 * 128 + 32 * 128));
  CHECK(in.classes[0].shaped_time == us(10));
}

TEST_CASE("A recording of calls alone gives an empty inspection, not an error") {
  MadeUp made;
  made.launch(0, 5, 1);
  const Inspection in = inspect(made.finish());
  CHECK(in.devices.empty());
  CHECK(in.main_device == -1);
}

}  // namespace
}  // namespace ridgeline::timeline
