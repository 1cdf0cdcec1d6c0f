#include "sim/scenario.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/fixtures.hpp"
#include "tests/sim/same.hpp"

using namespace ridgeline;
using sim::Override;
using sim::Scenario;
using tests::error_of;
using tests::same;
using tests::scenario;
using tests::tiny;

namespace {

std::string error_with(const std::vector<Override>& overrides) {
  return error_of([&] { static_cast<void>(tiny(overrides)); });
}

std::string error_in(const std::string& yaml) {
  return error_of([&] {
    static_cast<void>(sim::read_scenario(core::parse_yaml(yaml, "s.yaml"), {}, tests::shipped()));
  });
}

/// The working directory, until the guard goes.
class InFolder {
 public:
  explicit InFolder(const std::filesystem::path& folder)
      : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~InFolder() { std::filesystem::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  std::filesystem::path before_;
};

constexpr const char* kTrace =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.0,3,2\n2023-11-16 "
    "18:15:47.0,4,1\n";

}  // namespace

TEST_CASE("An override is a key and a value", "[sim][scenario]") {
  CHECK(sim::parse_override("engine.max_num_seqs=64") == Override{"engine.max_num_seqs", "64"});
  CHECK(sim::parse_override("a=b=c") == Override{"a", "b=c"});
  CHECK(sim::parse_override("a=") == Override{"a", ""});
  for (const std::string text : {"a", "=b", ""}) {
    CHECK(error_of([&] { static_cast<void>(sim::parse_override(text)); }) ==
          "--set: expected KEY=VALUE like engine.max_num_seqs=64, got '" + text + "'");
  }
}

TEST_CASE("Of two overrides of one key the later counts", "[sim][scenario]") {
  CHECK(tiny({{"engine.max_num_seqs", "4"}, {"engine.max_num_seqs", "5"}}).engine.max_num_seqs ==
        5);
  CHECK(tiny({{"seed", "7"}}).seed == 7);
  CHECK(tiny({{"name", "mine"}}).name == "mine");
}

TEST_CASE("Another machine comes before what is changed about it, in whatever order they are said",
          "[sim][scenario]") {
  for (const bool machine_first : {true, false}) {
    std::vector<Override> overrides{{"hw", "mi325x"}, {"hw.hbm.bandwidth", "1 TB/s"}};
    if (!machine_first) std::swap(overrides[0], overrides[1]);
    const Scenario s = scenario("chat_8b", overrides);
    CHECK(s.gpu.name == "AMD Instinct MI325X");
    CHECK(s.gpu.hbm.bandwidth == core::BytesPerSecond{1e12});
  }
}

TEST_CASE("A reference is a name, or a base with changes", "[sim][scenario]") {
  const Scenario s = scenario("chat_8b", {{"model", "{base: llama3_8b, weights: fp8}"}});
  CHECK(s.model.weights == hw::Dtype::fp8);
  CHECK(s.model.layers == 32);
  CHECK(scenario("chat_8b", {{"model.layers", "16"}}).model.layers == 16);
}

TEST_CASE("A reference to nothing names what was meant", "[sim][scenario]") {
  CHECK(error_of([] {
          static_cast<void>(scenario("chat_8b", {{"hw", "mi30x"}}));
        }) == "--set hw=mi30x: hw: unknown name 'mi30x'; did you mean 'mi300x'?");
  CHECK(error_of([] { static_cast<void>(scenario("chat_9b")); }) ==
        "scenario: unknown name 'chat_9b'; did you mean 'chat_8b'?");
}

TEST_CASE("A key that nobody reads is an error, wherever it stands", "[sim][scenario]") {
  CHECK(
      error_with({{"engine.max_num_seq", "4"}}) ==
      "--set engine.max_num_seq=4: engine.max_num_seq: unknown key; did you mean 'max_num_seqs'?");
  CHECK(error_with({{"hw.hbm.bandwith", "1 TB/s"}}) ==
        "--set hw.hbm.bandwith=1 TB/s: hw.hbm.bandwith: unknown key; did you mean 'bandwidth'?");
  CHECK(error_with({{"model.layer", "4"}}) ==
        "--set model.layer=4: model.layer: unknown key; did you mean 'layers'?");
  CHECK(error_with({{"stack.efficiency.compute.gem", "0.5"}}) ==
        "--set stack.efficiency.compute.gem=0.5: stack.efficiency.compute.gem: unknown key; did "
        "you mean 'gemm'?");
  CHECK(error_with({{"workload.request", "4"}}) ==
        "--set workload.request=4: workload.request: unknown key; did you mean 'requests'?");
  CHECK(error_with({{"sed", "4"}}) == "--set sed=4: sed: unknown key; did you mean 'seed'?");
  CHECK(error_with({{"case.letter", "A"}}).find("--set case.letter=A: case: unknown key") == 0);
}

TEST_CASE("What a scenario cannot do without is asked for", "[sim][scenario]") {
  CHECK(error_in("[1, 2]") == "s.yaml:1:1: expected a scenario (a map), got a list");
  CHECK(error_in("{model: llama3_8b}") ==
        "s.yaml:1:1: hw: expected a name, a path or a map, got nothing (the key is missing)");
  CHECK(error_in("{hw: mi300x, model: llama3_8b, stack: vllm_v1}") ==
        "s.yaml:1:1: workload: expected a map, got nothing (the key is missing)");
}

TEST_CASE("A scenario without engine has vLLM's defaults", "[sim][scenario]") {
  const Scenario s =
      sim::read_scenario(core::parse_yaml("{hw: mi300x, model: llama3_8b, stack: vllm_v1, "
                                          "workload: {training: {microbatch: 1, sequence: 8}}}",
                                          "s.yaml"),
                         {}, tests::shipped());
  CHECK(s.name == "scenario");
  CHECK(s.seed == 0);
  CHECK(s.engine.max_num_seqs == 1024);
  CHECK(s.engine.max_model_len == 131072);
}

TEST_CASE("A machine without a rate for the model's numbers is refused", "[sim][scenario]") {
  CHECK(error_with({{"model.math", "bf16"}}) ==
        "tiny.yaml:9:8: model: plain has no matrix rate for bf16, in which the model computes; "
        "give hw.peak.bf16 or another "
        "model.math");
  CHECK(error_with({{"model.activations", "bf16"}, {"model.math", "fp16"}})
            .find("has no matrix rate for bf16") != std::string::npos);
}

TEST_CASE("Training of what is not simulated is refused, not trained as something else",
          "[sim][scenario]") {
  const Override training{"workload.training", "{microbatch: 1, sequence: 8}"};
  const std::string says = "training is simulated of dense models with full attention on one GPU";
  for (const Override& change : std::vector<Override>{{"model", "mixtral_8x7b"},
                                                      {"model", "deepseek_v2_lite"},
                                                      {"model", "gpt_oss_20b"},
                                                      {"model", "mistral_7b_v01"},
                                                      {"engine.tensor_parallel_size", "2"}}) {
    INFO(change.second);
    CHECK(error_of([&] {
            static_cast<void>(
                scenario("chat_8b", {{"engine.max_model_len", "1024"}, training, change}));
          }).find(says) != std::string::npos);
  }
  CHECK(error_of([&] { static_cast<void>(scenario("chat_8b", {training})); }).empty());
}

TEST_CASE("A trace takes the place of generated requests, and of another trace",
          "[sim][scenario]") {
  const tests::TemporaryFolder folder;
  const std::string a = folder.write("a.csv", kTrace).string();
  const std::string b = folder.write("b.csv", kTrace).string();
  const Scenario s = tiny({{"workload.trace", a}});
  CHECK(std::get<workloads::TraceWorkload>(s.workload).file.path == a);
  CHECK(s.document.find("workload")->find("arrivals") == nullptr);
  const Scenario t =
      tiny({{"workload.requests", "1"}, {"workload.trace", a}, {"workload.trace", b}});
  CHECK(std::get<workloads::TraceWorkload>(t.workload).file.path == b);
  CHECK(std::get<workloads::TraceWorkload>(t.workload).limit == 1);  // what is said beside it stays
  const Scenario u = tiny({{"workload.training", "{microbatch: 2, sequence: 8}"}});
  CHECK(std::get<workloads::TrainingWorkload>(u.workload).microbatch == 2);
}

TEST_CASE("A trace is looked for beside the file that names it, or where the user stands",
          "[sim][scenario]") {
  const tests::TemporaryFolder folder;
  const std::filesystem::path trace = folder.write("runs/a.csv", kTrace);
  const std::string text = std::string(tests::kTiny);
  const std::string with_trace =
      text.substr(0, text.find("workload:")) + "workload: {trace: a.csv}\n";
  const std::filesystem::path file = folder.write("runs/s.yaml", with_trace);
  const Scenario s = sim::load_scenario(file.string(), {}, tests::shipped());
  CHECK(std::get<workloads::TraceWorkload>(s.workload).file.path == trace);
  CHECK(s.document.find("workload")->find("trace")->scalar ==
        trace.string());  // absolute: it means the same anywhere
  const InFolder here(folder.path());
  CHECK(same(sim::load_scenario("runs/s.yaml", {}, tests::shipped()), s));
  CHECK(std::filesystem::equivalent(
      std::get<workloads::TraceWorkload>(tiny({{"workload.trace", "runs/a.csv"}}).workload)
          .file.path,
      trace));
}

TEST_CASE("A run's directory of the same name does not hide a shipped scenario",
          "[sim][scenario]") {
  const tests::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "chat_8b");
  const InFolder here(folder.path());
  CHECK(error_of([] { static_cast<void>(scenario("chat_8b")); }).empty());
}

TEST_CASE("The resolved document reads back as the same scenario", "[sim][scenario]") {
  const tests::TemporaryFolder folder;
  const std::string trace = folder.write("a.csv", kTrace).string();
  std::vector<Scenario> scenarios{
      tiny(), tiny({{"workload.trace", trace}}),
      tiny({{"workload.prompt_tokens", "{empirical: " + trace + "}"}}),
      scenario("chat_8b",
               {{"hw", "mi325x"}, {"engine.watermark", "1 %"}, {"model.weights", "fp8"}})};
  for (const std::string& hw : tests::shipped().names("hw"))
    scenarios.push_back(
        scenario("chat_8b", {{"hw", hw}, {"model.math", "fp16"}, {"model.activations", "fp16"}}));
  for (const std::string& model : tests::shipped().names("models"))
    scenarios.push_back(scenario("chat_8b", {{"model", model}, {"engine.max_model_len", "1024"}}));
  for (const std::string& stack : tests::shipped().names("stacks"))
    scenarios.push_back(scenario("chat_8b", {{"stack", stack}}));
  for (const std::string& name : tests::shipped().names("scenarios"))
    scenarios.push_back(scenario(name));
  const core::ConfigLibrary nowhere(folder.path());  // it needs no other file
  for (const Scenario& s : scenarios) {
    INFO(core::to_yaml(s.document));
    const std::string text = core::to_yaml(s.document);
    const Scenario again = sim::read_scenario(core::parse_yaml(text, "again.yaml"), {}, nowhere);
    CHECK(same(again, s));
    CHECK(core::to_yaml(again.document) == text);
  }
}
