#include "diagnosis/evidence_reader.hpp"

#include <catch2/catch.hpp>

using namespace ridgeline;
using Catch::Matchers::Contains;
using diagnosis::Evidence;

namespace {

Evidence read(const std::string& text, const diagnosis::ModelByName& models = {}) {
  const core::ConfigLibrary library(std::filesystem::path(RIDGELINE_SOURCE_DIR) / "configs");
  return diagnosis::read_evidence(core::parse_yaml(text, "e.yaml"), library, models);
}

}  // namespace

TEST_CASE("A percentage read off a screen is known to half a digit") {
  const Evidence e = read("profile: {hbm_fraction: 78 %}");
  CHECK(e.profile.hbm_fraction->low() == Approx(0.775));
  CHECK(e.profile.hbm_fraction->best == Approx(0.78));
  CHECK(e.profile.hbm_fraction->high() == Approx(0.785));
  CHECK(e.profile.hbm_fraction->origin == diagnosis::Origin::given);
  CHECK(e.profile.hbm_fraction->from == "profile.hbm_fraction");
}

TEST_CASE("Things that are counted are exact, ranges and guesses are not") {
  const Evidence e =
      read("serving: {concurrency: 1}\nprofile: {kernel_length: 6-30 us, kernels_per_step: ~400}");
  CHECK(e.serving.concurrency->interval == core::Interval(1.0));
  CHECK(e.profile.kernel_length->low() == Approx(6e-6));
  CHECK(e.profile.kernel_length->high() == Approx(30e-6));
  CHECK(e.profile.kernels_per_step->low() == Approx(350));
}

TEST_CASE("Rates are read as people write them") {
  CHECK(read("measured: {throughput: 160 tokens/s}").measured.throughput->best == Approx(160));
  CHECK(read("measured:\n  throughput: 6,100 tok/s").measured.throughput->best == Approx(6100));
  CHECK(read("measured: {throughput: 160}").measured.throughput->best == Approx(160));
}

TEST_CASE("A machine is a configuration or a few peaks") {
  const Evidence named = read("machine: mi300x");
  CHECK(named.machine.datasheet);
  CHECK(named.machine.hbm_bandwidth->best == Approx(5.3e12));
  CHECK(named.machine.peak.at(hw::Dtype::fp8).best == Approx(2614.9e12));
  const Evidence typed =
      read("machine: {hbm_bandwidth: 2.04 TB/s, hbm_capacity: 80 GB, peak: {bf16: 312 TFLOP/s}}");
  CHECK_FALSE(typed.machine.datasheet);
  CHECK(typed.machine.peak.at(hw::Dtype::bf16).best == Approx(312e12));
}

TEST_CASE("A model by name is whatever the caller makes of the name") {
  const auto models = [](const core::Node& reference) {
    diagnosis::Model m;
    m.name = reference.scalar;
    return m;
  };
  CHECK(read("model: llama\nmeasured: {itl: 4 ms}", models).model.name == "llama");
  CHECK_THROWS_WITH(read("model: llama\nmeasured: {itl: 4 ms}"),
                    Contains("expected a map of facts"));
}

TEST_CASE("Errors say where, what was expected, and what stands there") {
  CHECK_THROWS_WITH(read("profile:\n  hbm_fraction: 120 %"),
                    Contains("e.yaml:2:") &&
                        Contains("profile.hbm_fraction: expected a fraction between 0 and 1"));
  CHECK_THROWS_WITH(read("measured: {ttft: 2.6}"),
                    Contains("measured.ttft: expected a number with unit like '15 us'"));
  CHECK_THROWS_WITH(read("measured: {ttft: -1 s}"),
                    Contains("measured.ttft: expected a value above zero"));
  CHECK_THROWS_WITH(read("serving: {concurrency: 0}"),
                    Contains("serving.concurrency: expected a value above zero"));
  CHECK_THROWS_WITH(read("serving: {concurency: 4}"),
                    Contains("unknown key; did you mean 'concurrency'?"));
  CHECK_THROWS_WITH(read("profile: {kernel_time: {gem: 70 %}}"),
                    Contains("unknown kernel class; did you mean 'gemm'?"));
  CHECK_THROWS_WITH(read("profile: {kernel_time: {gemm: 70 %, norm: 50 %}}"),
                    Contains("more than all of it"));
  CHECK_THROWS_WITH(read("measured: {itl: 4 ms}\nproposals: [fp8_w8a9]"),
                    Contains("did you mean 'fp8_w8a8'?"));
  CHECK_THROWS_WITH(read("machine: mi30x\nmeasured: {itl: 4 ms}"),
                    Contains("unknown name 'mi30x'; did you mean 'mi300x'?"));
  CHECK_THROWS_WITH(read("serving: {arrivals: bursty}"),
                    Contains("one of one_at_a_time, open, saturated"));
}

TEST_CASE("Evidence without a single fact is an error") {
  CHECK_THROWS_WITH(read("title: nothing"), Contains("expected at least one fact"));
}

TEST_CASE("A quantity that cannot be is named, whoever filled it in") {
  Evidence e;
  e.measured.itl = diagnosis::Value({-1.0, 1.0}, 0.0, diagnosis::Origin::read);
  CHECK_THROWS_WITH(diagnosis::require_sensible(e),
                    Contains("measured.itl: expected a finite value above zero"));
  e.measured.itl = diagnosis::read_exactly(std::nan(""));
  CHECK_THROWS_AS(diagnosis::require_sensible(e), core::ConfigError);
}

TEST_CASE("Dtypes are understood as frameworks write them") {
  const Evidence e =
      read("model: {parameters: 8e9, weight_dtype: bfloat16, kv_cache_dtype: fp8_e4m3}");
  CHECK(e.model.weight_dtype == hw::Dtype::bf16);
  CHECK(e.model.kv_cache_dtype == hw::Dtype::fp8);
  CHECK_THROWS_WITH(read("model: {parameters: 8e9, weight_dtype: bf61}"), Contains("bf16"));
}
