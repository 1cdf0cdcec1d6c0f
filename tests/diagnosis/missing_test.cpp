// The number to ask for next.

#include "diagnosis/missing.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "diagnosis/evidence_check.hpp"
#include "diagnosis/evidence_reader.hpp"

using namespace ridgeline;
using Catch::Matchers::Contains;
using diagnosis::Evidence;
using diagnosis::Missing;
using diagnosis::Regime;

namespace {

Evidence read(const std::string& text) {
  const core::ConfigLibrary library(std::filesystem::path(RIDGELINE_SOURCE_DIR) / "configs");
  return diagnosis::read_evidence(core::parse_yaml(text, "e.yaml"), library);
}

const Missing* find(const std::vector<Missing>& all, std::string_view path) {
  for (const Missing& m : all) {
    if (m.path == path) return &m;
  }
  return nullptr;
}

constexpr const char* kLittle =
    "machine: mi300x\n"
    "model: {parameters: 8e9, weight_dtype: bf16, layers: 32, kv_heads: 8, head_dim: 128}\n"
    "serving: {concurrency: 32, context_tokens: 2000}\n"
    "measured: {step_time: 12 ms}\n";

}  // namespace

TEST_CASE("Asked first is the number whose answers lie furthest from what is concluded now") {
  const auto missing = diagnosis::missing_numbers(read(kLittle), 100);
  REQUIRE(missing.size() > 3);
  for (std::size_t i = 1; i < missing.size(); ++i)
    CHECK(missing[i - 1].separates >= missing[i].separates);
  for (const Missing& m : missing) {
    INFO(m.path);
    CHECK((m.separates > 0.0 && m.separates <= 1.0));
    CHECK_FALSE(m.sentence.empty());
    REQUIRE_FALSE(m.bands.empty());
    for (std::size_t i = 1; i < m.bands.size(); ++i) {
      CHECK(m.bands[i].regime != m.bands[i - 1].regime);
      CHECK(m.bands[i].values.low >= m.bands[i - 1].values.low);
    }
  }
}

TEST_CASE("What is known, in whatever words, is not asked again") {
  const auto missing = diagnosis::missing_numbers(read(kLittle), 100);
  for (const char* known : {"measured.step_time", "serving.concurrency", "serving.context_tokens",
                            "serving.prompt_tokens", "measured.itl", "machine.hbm_bandwidth",
                            "model.parameters", "serving.microbatch"})
    CHECK(find(missing, known) == nullptr);
}

TEST_CASE("A diagnosis on either side of a border is the one that the border announces") {
  const Evidence evidence = read(kLittle);
  for (const Missing& m : diagnosis::missing_numbers(evidence, 100)) {
    if (m.is_switch || m.bands.size() < 2) continue;
    INFO(m.path);
    const diagnosis::Field* field = diagnosis::find_field(m.path);
    for (const bool first : {true, false}) {
      const diagnosis::Band& band = first ? m.bands.front() : m.bands.back();
      const double x = first ? band.values.low : band.values.high;
      Evidence with = evidence;
      field->at(with) = diagnosis::Value(
          {0.98 * x,
           field->dimension == core::Dimension::fraction ? std::min(1.02 * x, 1.0) : 1.02 * x},
          x, diagnosis::Origin::given, m.path);
      if (field->whole)
        field->at(with) = diagnosis::Value({x, x}, x, diagnosis::Origin::given, m.path);
      CHECK(diagnosis::diagnose(with).regime == band.regime);
    }
  }
}

TEST_CASE("At most as many numbers are asked for as somebody reads") {
  CHECK(diagnosis::missing_numbers(read(kLittle)).size() <= 8);
  CHECK(diagnosis::missing_numbers(read(kLittle), 2).size() == 2);
}

TEST_CASE("A machine that nobody knows is asked for by what its datasheet says") {
  const auto unknown = diagnosis::unknown_things(
      read("machine: {name: a new card}\nmodel: {parameters: 8e9}\nmeasured: {itl: 9 ms}"));
  REQUIRE(unknown.size() == 2);
  CHECK_THAT(unknown[0], Contains("'a new card'") && Contains("hbm_bandwidth") && Contains("peak"));
  CHECK_THAT(unknown[1], Contains("kv_heads"));
  CHECK(diagnosis::unknown_things(read(kLittle)).empty());
}

TEST_CASE("A check says what was understood, with its bounds and its origin") {
  const auto check = diagnosis::check_evidence(read(kLittle));
  const auto fact = [&](std::string_view path) {
    for (const auto& f : check.understood) {
      if (f.path == path) return f;
    }
    return diagnosis::Understood{};
  };
  CHECK(fact("measured.step_time").text == "12.0 ms (11.5 ms to 12.5 ms)");
  CHECK(fact("measured.step_time").origin == "given");
  CHECK(fact("machine.hbm_bandwidth").origin == "read");
  CHECK(fact("model.weight_dtype").text == "bf16");
  CHECK(std::any_of(check.assumed.begin(), check.assumed.end(), [](const std::string& sentence) {
    return sentence == "one device holds the model";
  }));
  CHECK_THAT(diagnosis::to_text(check), Contains("Understood") && Contains("Missing"));
}

TEST_CASE("A number known to within a factor is pointed out") {
  const auto check = diagnosis::check_evidence(read("machine: mi300x\nmeasured: {itl: 5-20 ms}"));
  CHECK(std::any_of(check.assumed.begin(), check.assumed.end(), [](const std::string& sentence) {
    return sentence == "measured.itl is known only as 5.00 ms to 20.0 ms";
  }));
}
