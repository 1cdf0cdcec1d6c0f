#include "diagnosis/evidence_reader.hpp"
#include "diagnosis/evidence_yaml.hpp"

#include <catch2/catch.hpp>

using namespace ridgeline;
using diagnosis::Evidence;

namespace {

Evidence read(const std::string& text) {
  const core::ConfigLibrary library(std::filesystem::path(RIDGELINE_SOURCE_DIR) / "configs");
  return diagnosis::read_evidence(core::parse_yaml(text, "e.yaml"), library);
}

void check_equal(Evidence a, Evidence b) {
  for (const diagnosis::Field& field : diagnosis::evidence_fields()) {
    INFO(field.section << "." << field.key);
    const diagnosis::Maybe& x = field.at(a);
    const diagnosis::Maybe& y = field.at(b);
    REQUIRE(x.has_value() == y.has_value());
    if (x) CHECK(x->interval == y->interval);
  }
  CHECK(a.title == b.title);
  CHECK(a.machine.name == b.machine.name);
  CHECK(a.machine.datasheet == b.machine.datasheet);
  CHECK(a.model.name == b.model.name);
  CHECK(a.model.weight_dtype == b.model.weight_dtype);
  CHECK(a.model.activation_dtype == b.model.activation_dtype);
  CHECK(a.model.kv_cache_dtype == b.model.kv_cache_dtype);
  CHECK(a.serving.arrivals == b.serving.arrivals);
  CHECK(a.profile.window == b.profile.window);
  CHECK(a.proposals == b.proposals);
  REQUIRE(a.profile.kernel_time.size() == b.profile.kernel_time.size());
  for (const auto& [group, share] : a.profile.kernel_time)
    CHECK(share.interval == b.profile.kernel_time.at(group).interval);
  REQUIRE(a.machine.peak.size() == b.machine.peak.size());
  for (const auto& [dtype, rate] : a.machine.peak)
    CHECK(rate.interval == b.machine.peak.at(dtype).interval);
}

constexpr const char* kTyped = R"(
title: a server
machine: {name: some GPU, hbm_bandwidth: 2.04 TB/s, hbm_capacity: 80 GB, peak: {bf16: 312 TFLOP/s, fp8: 624 TFLOP/s}}
devices: 2
model: {name: dense, parameters: 8.03e9, weight_bytes: 16.1 GB, layers: 32, heads: 32, kv_heads: 8, weight_dtype: bf16, kv_cache_dtype: fp8}
serving: {arrivals: open, concurrency: 31, prompt_tokens: 1000, kv_usage: 97 %, waiting: 0, prefill_tokens_per_step: 3.5}
measured: {throughput: 1150 tokens/s, itl: 27.8 ms, ttft: ~2 s}
profile: {window: decode, flop_fraction: 3 %, kernel_length: 6-30 us, gap_length: 8-15 us, kernel_time: {gemm: 71 %, attention: 7 %}}
proposals: [larger_batch, fp8_w8a8]
)";

}  // namespace

TEST_CASE("Evidence written as YAML reads back with the same bounds") {
  const Evidence typed = read(kTyped);
  check_equal(typed, read(diagnosis::to_yaml(typed)));
}

TEST_CASE("Values read off a timeline come back to the last bit") {
  Evidence seen;
  seen.machine.devices = diagnosis::read_exactly(8.0);
  seen.serving.concurrency = diagnosis::read_exactly(31.0 + 1.0 / 3.0);  // a mean over steps
  seen.measured.step_time = diagnosis::read_exactly(0.1 / 3.0);
  seen.measured.throughput = diagnosis::read_exactly(1e4 / 7.0);
  seen.profile.hbm_fraction = diagnosis::read_exactly(2.0 / 3.0);
  seen.profile.transient = diagnosis::read_exactly(40e9);
  seen.profile.gap_time = diagnosis::read_exactly(0.0);
  seen.profile.kernel_length =
      diagnosis::Value({1e-6 / 3.0, 2e-4 / 3.0}, 5e-6, diagnosis::Origin::read);
  seen.profile.kernel_time.emplace(diagnosis::KernelGroup::gemm,
                                   diagnosis::read_exactly(1.0 / 7.0));
  check_equal(seen, read(diagnosis::to_yaml(seen)));
}

TEST_CASE("A name stands for all facts of a machine, and the number of devices beside it") {
  Evidence evidence = read("machine: h100\ndevices: 4\nmeasured: {itl: 4 ms}");
  const std::string text = diagnosis::to_yaml(evidence, {.machine = "h100", .model = {}});
  CHECK(text == "machine: h100\ndevices: 4\nmeasured:\n  itl: 3.5-4.5 ms\n");
  check_equal(evidence, read(text));
}

TEST_CASE("An exact quantity is written as somebody would have typed it") {
  for (const std::string text : {"=27.8 ms", "=0 ns", "6-30 us", "3.5-4.5 ms", "=500 us"}) {
    const auto value = core::parse_interval(text, core::Dimension::time);
    CHECK(diagnosis::exact_text(*value, core::Dimension::time) ==
          (text == "=0 ns" ? "=0 s" : text));
  }
  CHECK(diagnosis::exact_text({26e9}, core::Dimension::bytes) == "=26 GB");
  CHECK(diagnosis::exact_text({0.5}, core::Dimension::fraction) == "=0.5");
  CHECK(diagnosis::exact_text({160.0}, core::Dimension::rate) == "=160 /s");
}
