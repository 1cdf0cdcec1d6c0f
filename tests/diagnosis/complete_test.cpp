// The same facts in other words.

#include "diagnosis/complete.hpp"

#include <catch2/catch.hpp>

#include "tests/diagnosis/observations.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::completed;
using diagnosis::Evidence;
using diagnosis::KernelGroup;
using tests::fact;

TEST_CASE("Requests a second times the tokens of an answer are tokens a second") {
  Evidence e;
  e.measured.requests_per_second = fact(12);
  e.serving.output_tokens = fact(250);
  CHECK(completed(e).measured.throughput->best == Approx(12.0 * 250.0));
}

TEST_CASE("Of all tokens the answers are their part") {
  Evidence e;  // 300 of 1,200 tokens of a request are its answer
  e.measured.total_throughput = fact(8000);
  e.serving.prompt_tokens = fact(900);
  e.serving.output_tokens = fact(300);
  CHECK(completed(e).measured.throughput->best == Approx(2000.0));
}

TEST_CASE("A request's time less its first token is that of its answer, token by token") {
  Evidence e;  // (5 s - 1 s) / 200
  e.measured.latency = fact(5.0);
  e.measured.ttft = fact(1.0);
  e.serving.output_tokens = fact(200);
  CHECK(completed(e).measured.itl->best == Approx(0.020));
  e.measured.ttft.reset();
  CHECK(completed(e).measured.itl->best == Approx(0.025));
  e.measured.step_time = fact(0.015);  // a step is known: nothing is to be guessed
  CHECK_FALSE(completed(e).measured.itl.has_value());
}

TEST_CASE("Rates over peaks are fractions") {
  Evidence e;
  e.machine.hbm_bandwidth = fact(2e12);
  e.machine.peak[hw::Dtype::bf16] = fact(400e12);
  e.measured.hbm_rate = fact(1.5e12);
  e.measured.flop_rate = fact(100e12);
  const Evidence c = completed(e);
  CHECK(c.profile.hbm_fraction->best == Approx(0.75));
  CHECK(c.profile.flop_fraction->best == Approx(0.25));
  CHECK(c.profile.useful_flop_fraction->best == Approx(0.25));
}

TEST_CASE("A fraction of a step is a time of it") {
  Evidence e;
  e.measured.step_time = fact(0.040);
  e.profile.communication_fraction = fact(0.3);
  CHECK(completed(e).profile.communication_time->best == Approx(0.012));
}

TEST_CASE("What was said stays, whatever would follow from the rest") {
  Evidence e;
  e.measured.requests_per_second = fact(12);
  e.serving.output_tokens = fact(250);
  e.measured.throughput = fact(111);
  e.machine.hbm_bandwidth = fact(2e12);
  e.measured.hbm_rate = fact(1.5e12);
  e.profile.hbm_fraction = fact(0.5);
  const Evidence c = completed(e);
  CHECK(c.measured.throughput->best == 111.0);
  CHECK(c.profile.hbm_fraction->best == 0.5);
}

TEST_CASE("Nothing follows from nothing, and completing twice is completing once") {
  for (Evidence e : {Evidence{}, diagnosis::observe(tests::chatbot()),
                     diagnosis::observe(tests::summarizer()), diagnosis::observe(tests::api()),
                     tests::typed("machine: a100\nmodel: {parameters: 7e9}\nserving: "
                                  "{prompt_tokens: 100, output_tokens: 50}\nmeasured: "
                                  "{total_throughput: 900 tokens/s, latency: 3 s, hbm_rate: 1 "
                                  "TB/s, flop_rate: 10 TFLOP/s}\nkernels: [{name: gemm, time: 2 "
                                  "ms}, {name: attention, time: 1 ms, occupied: 50 %}]\n")}) {
    Evidence once = completed(e);
    Evidence twice = completed(once);
    for (const diagnosis::Field& field : diagnosis::evidence_fields()) {
      INFO(field.path());
      const bool there = field.at(once).has_value();
      REQUIRE(there == field.at(twice).has_value());
      if (there) CHECK(field.at(once)->best == field.at(twice)->best);
      if (field.at(e).has_value()) CHECK(field.at(once)->best == field.at(e)->best);
    }
    CHECK(once.profile.kernel_time.size() == twice.profile.kernel_time.size());
  }
  Evidence nothing = completed(Evidence{});
  for (const diagnosis::Field& field : diagnosis::evidence_fields())
    CHECK_FALSE(field.at(nothing).has_value());
}

TEST_CASE("A table of kernels is their shares, by group") {
  // 4 + 2 + 2 of 8 ms.
  const Evidence c = completed(
      tests::typed("kernels:\n- {name: a, group: gemm, time: 4 ms}\n- {name: b, group: attention, "
                   "time: 2 ms}\n- {name: c, group: norm, time: 1.5 ms}\n- {name: d, group: norm, "
                   "time: 0.5 ms}\n"));
  CHECK(c.profile.kernel_time.at(KernelGroup::gemm).best == Approx(0.5));
  CHECK(c.profile.kernel_time.at(KernelGroup::attention).best == Approx(0.25));
  CHECK(c.profile.kernel_time.at(KernelGroup::norm).best == Approx(0.25));
}

TEST_CASE("What no row of a table names is left to the ledger, which knows the floors") {
  const Evidence c = completed(
      tests::typed("kernels:\n- {name: b, group: cast, share: 20 %}\n- {name: c, group: norm, "
                   "share: 10 %}\n"));
  CHECK(c.profile.kernel_time.at(KernelGroup::cast).best == Approx(0.2));
  CHECK(c.profile.kernel_time.size() == 2);
}

TEST_CASE("A rate of one sequence is a step's length, of which single kernels are no table") {
  // 2 ms of 10: what the other 8 are, nobody said.
  CHECK(completed(tests::typed("measured: {throughput_per_sequence: 100 tokens/s}\nkernels: "
                               "[{name: a, group: collective, time: 2 ms}]\n"))
            .profile.kernel_time.empty());
}

TEST_CASE("Rows that come to more than the whole are no shares of it") {
  CHECK(completed(tests::typed("kernels:\n- {name: a, group: gemm, share: 70 %}\n- {name: b, "
                               "group: cast, share: 60 %}\n"))
            .profile.kernel_time.empty());
}

TEST_CASE("Single kernels that are less than half of a step are no table of it") {
  CHECK(completed(tests::typed("measured: {step_time: 20 ms}\nkernels: [{name: a, group: gemm, "
                               "time: 4 ms}]\n"))
            .profile.kernel_time.empty());
}

TEST_CASE("Matrices in 16 bit are multiplied in 16 bit, whatever the bits of the weights") {
  diagnosis::Model m;
  CHECK(arithmetic_dtype(m) == hw::Dtype::bf16);
  m.weight_dtype = hw::Dtype::int4;
  CHECK(arithmetic_dtype(m) == hw::Dtype::bf16);
  m.activation_dtype = hw::Dtype::fp8;
  CHECK(arithmetic_dtype(m) == hw::Dtype::fp8);
  m = {};
  m.weight_dtype = hw::Dtype::fp16;
  CHECK(arithmetic_dtype(m) == hw::Dtype::fp16);
}

TEST_CASE("The two 16-bit peaks stand in for each other, and no other two do") {
  diagnosis::Machine machine;
  machine.peak[hw::Dtype::bf16] = fact(400e12);
  CHECK(peak_of(machine, hw::Dtype::fp16)->best == 400e12);
  CHECK_FALSE(peak_of(machine, hw::Dtype::fp8).has_value());
}

TEST_CASE("Points of a sweep are completed too") {
  const Evidence c = completed(tests::typed(
      "serving: {output_tokens: 100}\nsweep: [{devices: 1, requests_per_second: 2 /s}, {devices: "
      "2, requests_per_second: 3 /s}]\n"));
  REQUIRE(c.sweep.size() == 2);
  CHECK(c.sweep[0].measured.throughput->best == Approx(200.0).epsilon(0.5));
  CHECK(c.sweep[1].measured.throughput->best == Approx(300.0).epsilon(0.5));
}
