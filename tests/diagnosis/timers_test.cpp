// Clocks and tables beside a step's own time.

#include "diagnosis/timers.hpp"

#include <catch2/catch.hpp>

#include "diagnosis/complete.hpp"
#include "tests/diagnosis/observations.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::Cause;
using diagnosis::Causes;
using diagnosis::Clue;
using diagnosis::Evidence;
using tests::clue_with;
using tests::fact;

namespace {

std::vector<Clue> timers(const Evidence& e) { return clues_of_timers(e, diagnosis::work_of(e)); }
std::vector<Clue> kernels(const Evidence& e) { return clues_of_kernels(e, diagnosis::work_of(e)); }
std::vector<Clue> memory(const Evidence& e) { return clues_of_memory(e, diagnosis::work_of(e)); }

Evidence step(double seconds) {
  Evidence e;
  e.measured.step_time = fact(seconds);
  e.serving.concurrency = fact(1);
  return e;
}

}  // namespace

TEST_CASE("A time of collectives or copies is its share of the step") {
  Evidence e = step(0.020);
  e.profile.communication_time = fact(0.005);
  e.profile.transfer_time = fact(0.002);
  const auto clues = timers(e);
  const Clue* collectives = clue_with(clues, "Collectives take 5.00 ms of 20.0 ms: 25.0 %");
  REQUIRE(collectives != nullptr);
  CHECK(collectives->causes == Causes(Cause::communication));
  CHECK(collectives->share == core::Interval(0.25));
  const Clue* copies = clue_with(clues, "Copies between host and device take 2.00 ms");
  REQUIRE(copies != nullptr);
  CHECK(copies->causes == Causes(Cause::transfer));
  CHECK(copies->value.best == Approx(0.1));
}

TEST_CASE("A call that copies and lasts far longer than its copy waits for something else") {
  Evidence e = step(0.090);
  e.profile.transfer_time = fact(0.001);
  e.profile.copy_call_time = fact(0.060);
  const auto clues = timers(e);
  const Clue* waits = clue_with(clues, "the calls wait for kernels");
  REQUIRE(waits != nullptr);
  CHECK(waits->causes.empty());
  CHECK(waits->value.best == Approx(1.0 / 60.0));
  e.profile.copy_call_time = fact(0.002);
  CHECK(clue_with(timers(e), "wait for kernels") == nullptr);
}

TEST_CASE("A host that issues as long as the device runs paces it; one far ahead does not") {
  Evidence e = step(0.170);
  e.profile.host_issue_time = fact(0.170);
  e.profile.device_span = fact(0.170);
  const auto paced = timers(e);
  const Clue* waits = clue_with(paced, "the device waits for the host");
  REQUIRE(waits != nullptr);
  CHECK(waits->causes == Causes{Cause::launch, Cause::host});
  CHECK(waits->share.low >= 0.1);
  e.profile.host_issue_time = fact(0.017);
  const auto ahead = timers(e);
  const Clue* far = clue_with(ahead, "far ahead");
  REQUIRE(far != nullptr);
  CHECK(far->causes == Causes(Cause::launch));
  CHECK(far->share.high < 0.2);
  CHECK(far->value.best == Approx(0.1));
}

TEST_CASE("A first token that takes longer than all prompts could is held by the host") {
  // One prompt of 1,000 tokens: 2 + 10 steps of 10 ms at most. 1.2 s is ten times that.
  Evidence e;
  e.profile.window = diagnosis::Window::prefill;
  e.serving.requests = fact(1);
  e.serving.prompt_tokens = fact(1000);
  e.measured.itl = fact(0.010);
  e.measured.ttft = fact(1.2);
  const auto clues = timers(e);
  const Clue* c = clue_with(clues, "The first token takes 120 decode steps");
  REQUIRE(c != nullptr);
  CHECK(c->causes == Causes(Cause::host));
  CHECK(c->value.best == Approx(0.9));
  CHECK(c->share.low == Approx(0.6 * 0.9));
  e.measured.ttft = fact(0.15);  // 0.12 of 0.15 s can be the prompt's own
  CHECK(clue_with(timers(e), "The first token takes") == nullptr);
}

TEST_CASE("A step of so many kernels that each is no longer than a launch is launches") {
  // 10,000 kernels of at least 1.2 us are 12 of 30 ms.
  Evidence e = step(0.030);
  e.profile.kernels_per_step = fact(10000);
  const auto clues = timers(e);
  const Clue* c = clue_with(clues, "10,000 kernels a step are 3.00 us each");
  REQUIRE(c != nullptr);
  CHECK(c->causes == Causes(Cause::launch));
  CHECK(c->share.low == Approx(0.4));
  e.profile.kernels_per_step = fact(300);  // 2.4 ms at 8 us each
  CHECK(timers(e).empty());
  e.profile.kernels_per_step = fact(10000);
  e.profile.busy_time = fact(0.029);  // their length was measured
  CHECK(timers(e).empty());
}

TEST_CASE("A clock below its rating is reason to suspect arithmetic, not its measure") {
  Evidence e = step(0.030);
  e.profile.clock_fraction = fact(0.8);
  const auto clues = timers(e);
  REQUIRE(clues.size() == 1);
  CHECK(clues[0].causes == Causes(Cause::compute));
  CHECK(clues[0].share == core::Interval(0.0, 1.0));
  CHECK(clues[0].suspicion > 1.0);
  CHECK_FALSE(clues[0].measured);
  e.profile.clock_fraction = fact(0.97);
  CHECK(timers(e).empty());
}

TEST_CASE("A kernel far from its roof loses what lies between, one near it loses nothing") {
  // 2 GB in 10 ms are 200 GB/s, a tenth of 2 TB/s: 90 % of a kernel that is half of the step.
  Evidence e = step(0.020);
  e.machine.hbm_bandwidth = fact(2e12);
  diagnosis::KernelRow slow;
  slow.name = "decode_attention";
  slow.group = diagnosis::KernelGroup::attention;
  slow.time = fact(0.010);
  slow.bytes = fact(2e9);
  e.kernels.push_back(slow);
  const auto lost = kernels(e);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].causes == Causes(Cause::kernels));
  CHECK(lost[0].value.best == Approx(0.5 * 0.9));
  CHECK(lost[0].share.low == Approx(0.8 * 0.45));
  e.kernels[0].bytes = fact(16e9);  // 80 %
  const auto near = kernels(e);
  REQUIRE(near.size() == 1);
  CHECK(near[0].causes.empty());
  CHECK(near[0].value.best == Approx(0.8));
}

TEST_CASE("A kernel's rate of arithmetic is judged by the peak of one device") {
  // 4 TFLOP in 10 ms are 400 TFLOP/s, of 1,000 on each of eight devices.
  Evidence e = step(0.020);
  e.machine.devices = fact(8);
  e.machine.peak[hw::Dtype::bf16] = fact(1000e12);
  diagnosis::KernelRow gemm;
  gemm.name = "gemm";
  gemm.group = diagnosis::KernelGroup::gemm;
  gemm.time = fact(0.010);
  gemm.flop = fact(4e12);
  e.kernels.push_back(gemm);
  const auto clues = kernels(e);
  REQUIRE(clues.size() == 1);
  CHECK(clues[0].value.best == Approx(0.4));
}

TEST_CASE("A kernel that fills few compute units is slow by what it leaves idle") {
  // Half of the time on an eighth of the units: 7/16 of the time.
  const Evidence e = diagnosis::completed(
      tests::typed("measured: {step_time: 10 ms}\nserving: {concurrency: 1}\nkernels:\n- {name: "
                   "a, group: attention, share: 50 %, occupied: 16 of 128}\n"));
  const auto clues = kernels(e);
  REQUIRE_FALSE(clues.empty());
  CHECK(clues[0].causes == Causes(Cause::kernels));
  CHECK(clues[0].value.best == Approx(0.5 * 7.0 / 8.0).epsilon(0.05));
}

TEST_CASE("Without a datasheet the fastest kernel of a table shows what the machine can do") {
  // 10 GB in 10 ms beside 1 GB in 10 ms: the second reaches a tenth of the first.
  Evidence e = step(0.020);
  for (const double bytes : {10e9, 1e9}) {
    diagnosis::KernelRow row;
    row.name = bytes > 5e9 ? "gemv" : "attention";
    row.time = fact(0.010);
    row.bytes = fact(bytes);
    e.kernels.push_back(row);
  }
  const Clue* c = nullptr;
  const auto clues = kernels(e);
  c = clue_with(clues, "attention takes 50.0 % of the time");
  REQUIRE(c != nullptr);
  CHECK(c->value.best == Approx(0.5 * 0.9));
}

TEST_CASE("Weights in the host's memory take what their bytes take there") {
  // 4 GB take 100 ms over a link of 40 GB/s, and 40 to 200 ms where the host multiplies them itself:
  // of a step of 100 ms, most.
  Evidence e = step(0.100);
  e.machine.host_bandwidth = fact(40e9);
  e.model.weight_bytes = fact(8e9);
  e.memory.host_weight_bytes = fact(4e9);
  const auto clues = memory(e);
  const Clue* c = clue_with(clues, "4.00 GB of weights are in the host's memory");
  REQUIRE(c != nullptr);
  CHECK(c->causes == Causes(Cause::transfer));
  CHECK(c->value.best == Approx(0.7));
  CHECK(c->share.low == Approx(0.6));
  CHECK(c->statement.find("40.0 GB/s") != std::string::npos);
}

TEST_CASE("Layers that are not on the device are weights in the host's memory") {
  Evidence e = step(0.100);
  e.model.weight_bytes = fact(8e9);
  e.engine.gpu_layers = fact(0.25);
  const diagnosis::Work w = diagnosis::work_of(e);
  CHECK(w.host_bytes->best == Approx(6e9));
  CHECK(w.weights_read->best == Approx(2e9));
}

TEST_CASE("Copies are judged by the link that carries them") {
  Evidence e = step(0.100);
  e.machine.host_bandwidth = fact(50e9);
  e.profile.transfer_rate = fact(5e9);
  const auto clues = memory(e);
  REQUIRE(clues.size() == 1);
  CHECK(clues[0].value.best == Approx(0.1));
  CHECK(clues[0].causes == Causes(Cause::transfer));
}

TEST_CASE("Sequences that need more KV memory than there is are a suspicion of its want") {
  // 8 x 1,000 tokens x 131,072 bytes are 1.05 GB, into 0.5 GB.
  Evidence e = step(0.020);
  e.serving.concurrency = fact(8);
  e.serving.context_tokens = fact(1000);
  e.model.layers = fact(32);
  e.model.kv_heads = fact(8);
  e.model.head_dim = fact(128);
  e.memory.kv_bytes = fact(0.5e9);
  const auto clues = memory(e);
  REQUIRE(clues.size() == 1);
  CHECK(clues[0].causes == Causes(Cause::capacity));
  CHECK(clues[0].value.best == Approx(8.0 * 1000.0 * 131072.0 / 0.5e9));
  CHECK_FALSE(clues[0].measured);
  e.memory.kv_bytes = fact(2e9);
  CHECK(memory(e).empty());
}
