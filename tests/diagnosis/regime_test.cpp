// Which mechanism a step waits for, where several of them are at work at once.

#include "diagnosis/regime.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "diagnosis/diagnose.hpp"
#include "tests/diagnosis/typed.hpp"

using namespace ridgeline;
using diagnosis::Cause;
using diagnosis::Diagnosis;
using diagnosis::LineId;
using diagnosis::Regime;

namespace {

constexpr std::string_view kModel =
    "{parameters: 8e9, weight_dtype: bf16, layers: 32, hidden: 4096, heads: 32, kv_heads: 8, "
    "head_dim: 128}";

/// 16 GB at 5.3 TB/s: 3 ms of weights a step, and a counter of HBM that agrees.
Diagnosis eight_billion(std::string_view engine, double step_ms, std::string_view profile,
                        std::string_view serving = "{concurrency: 1, context_tokens: 500}") {
  return diagnosis::diagnose(
      tests::typed(fmt::format("machine: mi300x\nmodel: {}\nengine: {}\nserving: {}\n"
                               "measured: {{step_time: {} ms}}\nprofile: {}\n",
                               kModel, engine, serving, step_ms, profile)));
}

constexpr std::string_view kAsync = "{async_scheduling: true, enforce_eager: false}";
constexpr std::string_view kAsyncEager = "{async_scheduling: true, enforce_eager: true}";
constexpr std::string_view kSync = "{async_scheduling: false, enforce_eager: false}";

}  // namespace

TEST_CASE("A host beside the device sets the pace as soon as the device waits for it") {
  // Kernels for 6 of 10 ms. Beside the device the host's 10 ms are all of the step; before and
  // after it they are 4 of 10.
  const std::string profile = "{window: decode, busy_time: 6 ms, hbm_fraction: 30 %}";
  CHECK(eight_billion(kAsync, 10.0, profile).regime == Regime::overhead_bound);
  CHECK(eight_billion(kSync, 10.0, profile).regime == Regime::bandwidth_bound);
}

TEST_CASE("Turning from kernel to kernel is not waiting for launches") {
  // 12 kernels in 32 layers with 3 us between two: 1.2 of 10 ms, and 0.5 within the doubt.
  const std::string_view turning = "{window: decode, busy_time: 8.6 ms, hbm_fraction: 45 %}";
  const std::string_view waiting = "{window: decode, busy_time: 8.0 ms, hbm_fraction: 45 %}";
  CHECK(eight_billion(kAsyncEager, 10.0, turning).regime == Regime::bandwidth_bound);
  CHECK(eight_billion(kAsyncEager, 10.0, waiting).regime == Regime::overhead_bound);
}

TEST_CASE("Layers are alike: a device that waits for launches waits for all of them") {
  // 3 of 10 ms without a kernel, of which the host around the step usually has 0.5 ms: with
  // kernels in 70 % of the time, it is still the launches that the step waits for.
  const Diagnosis d = eight_billion("{async_scheduling: false, enforce_eager: true}", 10.0,
                                    "{window: decode, busy_time: 7 ms, hbm_fraction: 40 %}");
  CHECK(d.regime == Regime::overhead_bound);
  CHECK(d.time_budget->launches_behind);
}

TEST_CASE("What runs beside the path of the launches is not what a step waits for") {
  const auto with_path = [](int percent) {
    return eight_billion(
               kSync, 10.0,
               fmt::format("{{window: decode, busy_time: 7 ms, hbm_fraction: 45 %, host_path: {} "
                           "%}}",
                           percent))
        .regime;
  };
  CHECK(with_path(90) == Regime::overhead_bound);  // 10 % are left to the device
  CHECK(with_path(35) == Regime::bandwidth_bound);
}

TEST_CASE("As much host as all of the device's mechanisms together is the largest of them") {
  // 5 of 10 ms of host; on the device 3 ms at the roof and 2 beyond it.
  const Diagnosis d = eight_billion(kSync, 10.0,
                                    "{window: decode, busy_time: 5 ms, host_time: 5 ms, "
                                    "hbm_fraction: 30 %}");
  CHECK(d.time_budget->share(Cause::bandwidth).best == Approx(0.3).margin(0.02));
  CHECK(d.regime == Regime::overhead_bound);
}

TEST_CASE("The share of the norms tells how long the kernels can be") {
  // 65 norms of 15 us at most are 10 % of the kernels: 10 ms at most of the 60, and the host has
  // the rest. By the weights alone they could take five times 3 ms.
  const Diagnosis d =
      eight_billion(kSync, 60.0,
                    "{window: decode, hbm_fraction: 5 %, kernel_time: {gemm: 75 %, attention: 10 "
                    "%, norm: =10 %, elementwise: 5 %}}");
  CHECK(d.time_budget->find(LineId::host)->time.best == Approx(0.060 - 65 * 15e-6 / 0.10));
  CHECK(d.regime == Regime::overhead_bound);
}

TEST_CASE(
    "In a decode step a kernel is near one roof, and what it does besides it does meanwhile") {
  // 25 % of HBM and 15 % of the matrix rate, of 81 and 58 % that the part sustains: 0.31 and 0.26.
  // The larger is below 0.4, their sum would not be.
  const Diagnosis d = eight_billion(
      kAsync, 10.0, "{window: decode, busy_time: 10 ms, hbm_fraction: 25 %, flop_fraction: 15 %}");
  CHECK(d.regime == Regime::kernel_inefficiency);
}

TEST_CASE("By kernels of a timeline the roof with more of their time binds") {
  const auto with = [](int percent) {
    return eight_billion(
               kAsync, 10.0,
               fmt::format("{{window: decode, busy_time: 10 ms, hbm_fraction: 40 %, flop_fraction: "
                           "25 %, near_roof: 60 %, by_matrix: {} %}}",
                           percent))
        .regime;
  };
  CHECK(with(70) == Regime::compute_bound);
  CHECK(with(30) == Regime::bandwidth_bound);
}

TEST_CASE("A full cache behind prompts does not want memory") {
  // Every further prompt brings its own arithmetic.
  const Diagnosis d = diagnosis::diagnose(tests::typed(fmt::format(
      "machine: mi300x\nmodel: {}\n"
      "serving: {{prompt_tokens: 4000, output_tokens: 20, concurrency: 60, kv_usage: 99 %, "
      "waiting: "
      "100}}\nmeasured: {{step_time: 150 ms}}\n"
      "profile: {{window: prefill, busy_time: 148 ms, flop_fraction: 34 %, hbm_fraction: 5 %}}",
      kModel)));
  CHECK(d.regime == Regime::compute_bound);
}

TEST_CASE("A counter of HBM bounds what was read of the experts") {
  // Even choices of 32 tokens would read nearly all of 47 GB; the counter saw 10 % of 5.3 TB/s for
  // 20 ms, 10.6 GB.
  const diagnosis::Work w = diagnosis::work_of(tests::typed(
      "machine: mi300x\nmodel: {parameters: 46.7e9, active_parameters: 12.9e9, weight_bytes: 47 "
      "GB, weight_dtype: fp8, layers: 32, hidden: 4096, heads: 32, kv_heads: 8, head_dim: 128}\n"
      "serving: {concurrency: 32, context_tokens: 100}\nmeasured: {step_time: 20 ms}\n"
      "profile: {window: decode, hbm_fraction: =10 %}"));
  CHECK(w.weights_read->best == Approx(0.1 * 5.3e12 * 0.020).epsilon(0.01));
}

TEST_CASE("Small kernels take their time before collectives are suspected of it") {
  // Of 1.8 ms, 16 layers of 8 small kernels of 5 us take 0.64 ms at the least.
  const Diagnosis d = diagnosis::diagnose(tests::typed(
      "machine: mi300x\ndevices: 4\n"
      "model: {parameters: 1.24e9, weight_bytes: 2.5 GB, weight_dtype: bf16, layers: 16, hidden: "
      "2048, heads: 32, kv_heads: 8, head_dim: 64}\n"
      "engine: {async_scheduling: true, enforce_eager: false}\n"
      "serving: {concurrency: 7, context_tokens: 400}\nmeasured: {step_time: 1.8 ms}\n"
      "profile: {window: decode, busy_time: 1.79 ms, hbm_fraction: 6.6 %, flop_fraction: 0.4 %}"));
  CHECK(d.time_budget->share(Cause::communication).best < 1.0 - 0.64 / 1.8);
}

TEST_CASE("A rate of tokens holds the time of the prompts between the steps") {
  // 32 sequences at 1,000 tokens/s: 32 ms a token. Prompts as long as 20 answers: 640 tokens of 16
  // GFLOP a step at 0.4 of 1,307 TFLOP/s take 19.6 ms; at least half is left to the steps.
  const auto time = [](std::string_view window) {
    return diagnosis::work_of(
               tests::typed(fmt::format("machine: mi300x\nmodel: {{parameters: 8e9, weight_dtype: "
                                        "bf16}}\nserving: {{concurrency: 32, prompt_tokens: 2000, "
                                        "output_tokens: 100}}\nmeasured: {{throughput: =1000 "
                                        "tokens/s}}\n{}",
                                        window)))
        .time->best;
  };
  CHECK(time("profile: {window: decode}") == Approx(0.016));
  CHECK(time("") == Approx(0.032));
}
