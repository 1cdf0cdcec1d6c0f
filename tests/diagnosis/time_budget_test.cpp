#include "diagnosis/time_budget.hpp"

#include <catch2/catch.hpp>

#include "diagnosis/fixes/fix.hpp"
#include "tests/diagnosis/observations.hpp"

using namespace ridgeline;
using diagnosis::Cause;
using diagnosis::Evidence;
using diagnosis::LineId;
using diagnosis::TimeBudget;

namespace {

TimeBudget ledger_of(const Evidence& e) {
  return *diagnosis::time_budget(e, diagnosis::work_of(e));
}

double sum_of(const TimeBudget& b) {
  double sum = 0.0;
  for (const auto& line : b.lines) sum += line.time.best;
  return sum;
}

/// 10 ms a step; 20 GB of weights at 5 TB/s are 4 ms of it.
Evidence plain_decoding() {
  Evidence e;
  e.machine.hbm_bandwidth = tests::fact(5e12);
  e.machine.peak[hw::Dtype::bf16] = tests::fact(1000e12);
  e.model.parameters = tests::fact(10e9);
  e.model.weight_bytes = tests::fact(20e9);
  e.model.layers = tests::fact(40);
  e.model.heads = tests::fact(32);
  e.model.kv_heads = tests::fact(8);
  e.model.head_dim = tests::fact(128);
  e.serving.concurrency = tests::fact(4);
  e.serving.context_tokens = tests::fact(1000);
  e.measured.step_time = tests::fact(0.010);
  return e;
}

}  // namespace

TEST_CASE("The lines of a ledger add up to the measured time") {
  for (const auto& o :
       {tests::chatbot(), tests::training(), tests::summarizer(), tests::api(), tests::gaps()}) {
    const TimeBudget b = ledger_of(diagnosis::observe(o));
    CHECK(sum_of(b) == Approx(b.total.best).epsilon(1e-9));
  }
  const TimeBudget b = ledger_of(plain_decoding());
  CHECK(sum_of(b) == Approx(0.010).epsilon(1e-12));
}

TEST_CASE("Weights and KV stand on the ledger as their bytes at peak bandwidth") {
  const TimeBudget b = ledger_of(plain_decoding());
  CHECK(b.find(LineId::weights)->time.best == Approx(20e9 / 5e12));
  // Two of K and V, 40 layers, 8 heads of 128, 2 bytes, 4 sequences of 1,000 tokens: 0.66 GB.
  CHECK(b.find(LineId::kv_cache)->time.best == Approx(2.0 * 40 * 8 * 128 * 2 * 4 * 1000 / 5e12));
  CHECK(b.find(LineId::not_separated)->time.best ==
        Approx(0.010 - 0.004 - 0.655e9 / 5e12).epsilon(1e-3));
}

TEST_CASE("Arithmetic replaces bytes on the ledger where it takes longer") {
  Evidence e = plain_decoding();
  e.serving.concurrency =
      tests::fact(400);  // 400 x 20 GFLOP at 1,000 TFLOP/s: 8 ms and more, with attention
  e.serving.context_tokens = tests::fact(10);
  const TimeBudget b = ledger_of(e);
  CHECK(b.find(LineId::weights) == nullptr);
  CHECK(b.find(LineId::matrix_arithmetic)->time.best == Approx(8e-3).epsilon(0.01));
}

TEST_CASE("Ranges of kernels and gaps bound the host from both sides") {
  Evidence e = plain_decoding();
  e.profile.kernels_per_step = tests::fact(200);
  e.profile.kernel_length = diagnosis::Value(
      {20e-6, 25e-6}, diagnosis::Origin::given);  // 4 to 5 ms; at least its floor of 4.13
  e.profile.gap_length = diagnosis::Value({5e-6, 10e-6}, diagnosis::Origin::given);  // 1 to 2 ms
  const TimeBudget b = ledger_of(e);
  const core::Interval host = b.find(LineId::host)->time.interval;
  CHECK(host.low == Approx(3e-3));  // 10 - 5 - 2
  CHECK(host.high == Approx(10e-3 - 4.131e-3 - 1e-3).epsilon(1e-3));
  CHECK(b.host_paced);
}

TEST_CASE("The bounds of a ledger allow its sum") {
  const TimeBudget b = ledger_of(diagnosis::observe(tests::gaps()));
  double low = 0.0;
  double high = 0.0;
  for (const auto& line : b.lines) {
    CHECK(line.time.low() <= line.time.best);
    CHECK(line.time.best <= line.time.high());
    low += line.time.low();
    high += line.time.high();
  }
  CHECK(low <= b.total.high() * (1 + 1e-9));
  CHECK(high >= b.total.low() * (1 - 1e-9));
}

TEST_CASE("A floor above the measured time marks the ledger as overfull") {
  Evidence e = plain_decoding();
  e.measured.step_time = tests::fact(0.002);
  CHECK(ledger_of(e).overfull);
  CHECK_FALSE(ledger_of(plain_decoding()).overfull);
}

TEST_CASE("A rewritten line changes the time by what it loses") {
  const TimeBudget b = ledger_of(plain_decoding());
  // Half of 4 ms saved out of 10: 10 / 8.
  CHECK(diagnosis::Rewrite(b).shrink_bytes(LineId::weights, 0.5).gain().low == Approx(10.0 / 8.0));
  CHECK(diagnosis::Rewrite(b).add(0.010).gain().low == Approx(0.5));
  CHECK(diagnosis::Rewrite(b).gain() == core::Interval(1.0));
}

TEST_CASE("Bytes cannot shrink below the arithmetic hidden beneath them") {
  Evidence e = plain_decoding();
  e.serving.concurrency = tests::fact(150);
  e.serving.context_tokens = tests::fact(1);  // 150 x 20 GFLOP: 3 ms beneath the 4 ms of weights
  const TimeBudget b = ledger_of(e);
  const core::Interval gain = diagnosis::Rewrite(b).shrink_bytes(LineId::weights, 0.25).gain();
  CHECK(gain.high == Approx(10.0 / 9.0).epsilon(0.01));
}

TEST_CASE("Time saved in kernels is mostly lost where the host paces them") {
  Evidence e = plain_decoding();
  e.profile.kernels_per_step = tests::fact(200);
  e.profile.gap_time = tests::fact(3e-3);
  const TimeBudget b = ledger_of(e);
  REQUIRE(b.host_paced);
  CHECK(diagnosis::Rewrite(b).shrink_bytes(LineId::weights, 0.25).gain().high ==
        Approx(10.0 / (10.0 - 0.2 * 3.0)));
}
