// Real traces of a real MI300X: what the diagnosis must say of them, and how near the simulated
// machine comes. Skipped without the corpus.

#include <catch2/catch.hpp>

#include <algorithm>

#include "core/config_library.hpp"
#include "diagnosis/diagnose_trace.hpp"
#include "tests/corpus.hpp"
#include "whatif/case.hpp"
#include "whatif/compare.hpp"

namespace {

using namespace ridgeline;
using diagnosis::Regime;

const core::ConfigLibrary& library() {
  static const core::ConfigLibrary standard = core::ConfigLibrary::standard();
  return standard;
}

std::optional<diagnosis::TraceDiagnosis> diagnose(const std::string& file,
                                                  const std::string& model) {
  const auto path = tests::corpus("traces/tracelens/" + file);
  if (!path) return std::nullopt;
  const diagnosis::TraceStudy study(*path);
  return diagnosis::diagnose_trace(study,
                                   diagnosis::trace_context(study, "mi300x", model, library()));
}

/// The value of the finding that begins so; 0 when there is none.
double found(const diagnosis::Diagnosis& d, const std::string& beginning) {
  for (const diagnosis::Finding& f : d.settling_evidence) {
    if (f.statement.starts_with(beginning)) return f.value;
  }
  return 0.0;
}

bool rejects(const diagnosis::Diagnosis& d, const std::string& name) {
  return std::any_of(d.rejects.begin(), d.rejects.end(),
                     [&](const auto& r) { return r.name == name; });
}

TEST_CASE("A real decode step is bound by bandwidth, kernel class by kernel class",
          "[whatif][real]") {
  const auto answer = diagnose("mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz", "qwen3_8b");
  if (!answer) return;
  REQUIRE(answer->diagnosis.has_value());
  const diagnosis::Diagnosis& d = *answer->diagnosis;
  CHECK(d.regime == Regime::bandwidth_bound);
  CHECK(d.phase == diagnosis::Phase::decode);
  // 201 MB of gate and up weights in 67.2 us, 101 MB in 40.6, 50.3 MB in 25.1, 33.6 MB in 16.7; 134
  // MB of KV in 54.2 us.
  CHECK(found(d, "gate_up_proj") == Approx(201.3e6 / 67.2e-6).epsilon(0.01));
  CHECK(found(d, "down_proj") == Approx(100.7e6 / 40.6e-6).epsilon(0.01));
  CHECK(found(d, "qkv_proj") == Approx(50.3e6 / 25.1e-6).epsilon(0.01));
  CHECK(found(d, "o_proj") == Approx(33.6e6 / 16.7e-6).epsilon(0.01));
  CHECK(found(d, "attention") == Approx(134.3e6 / 54.2e-6).epsilon(0.01));
  CHECK(found(d, "hipMemcpyWithStream of 256 bytes holds the host for 463 ms") ==
        Approx(0.463).epsilon(0.01));
  CHECK(rejects(d, "graph_capture"));
  CHECK(rejects(d, "overlap_copies"));
}

TEST_CASE("A real prefill is bound by compute", "[whatif][real]") {
  const auto answer = diagnose("mi300x_sglang_qwen3-8b_prefill_15360tok_eager.json.gz", "qwen3_8b");
  if (!answer) return;
  REQUIRE(answer->diagnosis.has_value());
  CHECK(answer->diagnosis->regime == Regime::compute_bound);
  CHECK(answer->diagnosis->phase == diagnosis::Phase::prefill);
  CHECK(rejects(*answer->diagnosis, "weight_quantization_4bit"));
}

TEST_CASE("A small model launched eagerly is bound by its host", "[whatif][real]") {
  const auto answer = diagnose("mi300_hf_bert-small_hostbound.json.gz", "");
  if (!answer) return;
  REQUIRE(answer->diagnosis.has_value());
  CHECK(answer->diagnosis->regime == Regime::overhead_bound);
}

TEST_CASE("Training that waits for its all-reduces is bound by communication", "[whatif][real]") {
  const auto answer = diagnose("mi300x_resnet_ddp8_actckpt_train.json.gz", "");
  if (!answer) return;
  REQUIRE(answer->diagnosis.has_value());
  CHECK(answer->diagnosis->regime == Regime::communication_bound);
  CHECK(answer->diagnosis->phase == diagnosis::Phase::training);
}

TEST_CASE("Of a graph's capture nothing is said, and why", "[whatif][real]") {
  const auto answer = diagnose("mi300x_sglang_qwen3-8b_graphcapture_bs32.json.gz", "qwen3_8b");
  if (!answer) return;
  CHECK_FALSE(answer->diagnosis.has_value());
  CHECK(answer->cannot_tell.find("capture") != std::string::npos);
}

TEST_CASE("The simulated decode step is near the real one, linear layer by linear layer",
          "[whatif][real]") {
  const auto path =
      tests::corpus("traces/tracelens/mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz");
  if (!path) return;
  const diagnosis::TraceStudy study(*path);
  const sim::Scenario scenario =
      whatif::open_scenario("chat_8b", {{"model", "qwen3_8b"}}, library());
  const whatif::Comparison c = whatif::compare(study, scenario, std::nullopt);
  REQUIRE(c.roles.size() == 6);  // qkv, o, gate_up, down, lm_head, attention
  for (const whatif::Comparison::Row& row : c.roles) {
    INFO(row.name);
    CHECK(row.real_count == row.simulated_count);
    // The stack's bandwidth was fitted to these five products and this attention, so this is
    // agreement, not prediction.
    CHECK(*row.ratio() == Approx(1.0).margin(0.15));
  }
  CHECK(*c.step.ratio() ==
        Approx(1.0).margin(0.25));  // small kernels that this server has and our stack has not
}

}  // namespace
