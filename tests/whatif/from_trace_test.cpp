// A trace made from a scenario gives the scenario's behaviour back: its steps' lengths, and what
// changes do to them.

#include "whatif/from_trace/from_trace.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "diagnosis/trace_study.hpp"
#include "sim/run_directory.hpp"
#include "sim/run_timeline.hpp"
#include "tests/corpus.hpp"
#include "tests/sim/fixtures.hpp"
#include "timeline/writers/kineto.hpp"
#include "whatif/compare.hpp"

using namespace ridgeline;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / "ridgeline_from_trace";
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
};

/// A server unlike every shipped one: kernels of other speeds, launches and a host of other costs.
sim::Scenario server(const std::vector<sim::Override>& more = {}) {
  std::vector<sim::Override> overrides{
      {"workload.requests", "24"},
      {"workload.arrivals", "{closed_loop: {concurrency: 8}}"},
      {"workload.prompt_tokens", "{uniform: {low: 300, high: 700}}"},
      {"workload.output_tokens", "{uniform: {low: 20, high: 60}}"},
      {"stack.efficiency.time", "{gemm: 1.3, norm: 2}"},
      {"stack.efficiency.bandwidth.attention_decode", "0.5"},
      {"stack.launch.issue", "11 us"},
      {"stack.launch.graph_dispatch", "1 us"},
      {"stack.host.exposed", "0.7 ms"}};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return sim::load_scenario("chat_8b", overrides, tests::shipped());
}

whatif::TraceHints hints(const std::string& model = "llama3_8b") {
  whatif::TraceHints out;
  out.model = model;
  return out;
}

whatif::FromTrace answer_of(const fs::path& path, const std::vector<std::string>& changes,
                            const whatif::TraceHints& said = hints()) {
  return *whatif::from_trace(path, said, changes, tests::shipped());
}

double error_of(const std::vector<whatif::ErrorRow>& rows, const std::string& name) {
  for (const whatif::ErrorRow& row : rows) {
    if (row.name == name) return row.median_error;
  }
  throw std::runtime_error("no row " + name);
}

/// How much faster the truth's own steps are after a change.
double true_gain(const sim::RunResult& run, const std::string& change) {
  std::vector<sim::StepRecord> steps = run.steps;
  const auto after = whatif::with_changes(run.scenario, {change}, tests::shipped());
  const auto before_ns = whatif::replay_steps(run.scenario, steps).end().ns;
  const auto after_ns = whatif::replay_steps(after.scenario, steps).end().ns;
  return static_cast<double>(before_ns) / static_cast<double>(after_ns);
}

/// Runs `truth`, writes its trace, and holds the answer against the truth.
void check_round_trip(const sim::Scenario& truth, const std::vector<std::string>& changes,
                      double most_error) {
  const Folder folder;
  const sim::RunResult run = sim::run(truth);
  const fs::path file = folder.path / "trace.json.gz";
  timeline::write_kineto_file(sim::RunTimeline(run), {}, file, {});
  for (const std::string& change : changes) {
    const whatif::FromTrace answer = answer_of(file, {change});
    INFO(change << "\n" << answer.yaml);
    const whatif::Agreement& after = answer.calibration.after;
    REQUIRE(answer.calibration.held_back_steps > 10);
    CHECK(error_of(after.held_back, "step") < most_error);
    CHECK(error_of(after.held_back, "busy") < most_error);
    CHECK(error_of(answer.calibration.before.held_back, "step") >
          error_of(after.held_back, "step"));
    REQUIRE(answer.replay.has_value());
    CHECK(answer.replay->variants.back().gain ==
          Approx(true_gain(run, change)).epsilon(most_error));
  }
}

}  // namespace

TEST_CASE("A server's trace explains the steps that were held back, and what changes do to them",
          "[whatif][from_trace]") {
  check_round_trip(server(), {"quantize:int4", "gpu:h200"}, 0.03);
}

TEST_CASE("A trace of kernels launched one by one gives the launches back",
          "[whatif][from_trace]") {
  check_round_trip(
      server({{"engine.enforce_eager", "true"}, {"stack.lowering.fused_add_norm", "false"}}),
      {"graphs:on"}, 0.03);
}

TEST_CASE("A run's directory is read as its trace is, its scenario unseen",
          "[whatif][from_trace]") {
  const Folder folder;
  const sim::RunResult run = sim::run(server());
  sim::write_run_directory(run, folder.path / "run");
  const whatif::FromTrace answer = answer_of(folder.path / "run", {"kv_cache:fp8"}, hints(""));
  CHECK(answer.scenario.model.name == run.scenario.model.name);
  CHECK(error_of(answer.calibration.after.held_back, "step") < 0.03);
  CHECK(answer.replay->variants.back().gain ==
        Approx(true_gain(run, "kv_cache:fp8")).epsilon(0.03));
}

TEST_CASE("The fitted scenario is a document that reads back and runs", "[whatif][from_trace]") {
  const Folder folder;
  // Long enough that its start and its end, when clients come and go, are few of the steps.
  sim::write_run_directory(sim::run(server({{"workload.requests", "60"}})), folder.path / "run");
  whatif::TraceHints said = hints("");
  said.overrides = {{"stack.launch.floor", "3 us"}};
  const whatif::FromTrace answer = answer_of(folder.path / "run", {}, said);
  CHECK_FALSE(answer.replay.has_value());
  const sim::Scenario again =
      sim::read_scenario(core::parse_yaml(answer.yaml, "mine.yaml"), {}, tests::shipped());
  CHECK(again.stack == answer.scenario.stack);
  CHECK(again.engine == answer.scenario.engine);
  CHECK(again.stack.launch.floor == core::Nanoseconds{3000});
  const auto& workload = std::get<workloads::GeneratedWorkload>(again.workload);
  CHECK(std::get<workloads::ClosedLoop>(workload.arrivals).concurrency == 8);
  CHECK_FALSE(sim::run(again).steps.empty());
}

TEST_CASE("A stack that computes prompts whole is fitted to steps of more tokens than its budget",
          "[whatif][from_trace]") {
  const Folder folder;
  const sim::Scenario truth = sim::load_scenario(
      "chat_8b",
      {{"stack", "vllm_v0"},
       {"stack.host.exposed", "0.7 ms"},
       {"workload.requests", "24"},
       {"workload.arrivals", "{closed_loop: {concurrency: 8}}"},
       {"workload.prompt_tokens", "{uniform: {low: 1300, high: 1700}}"},  // 8 at once: 12,000
       {"workload.output_tokens", "{uniform: {low: 20, high: 60}}"}},
      tests::shipped());
  sim::write_run_directory(sim::run(truth), folder.path / "run");
  whatif::TraceHints said = hints();
  said.stack = "vllm_v0";
  const whatif::FromTrace answer = answer_of(folder.path / "run", {}, said);
  CHECK(answer.scenario.engine.scheduler == "vllm_v0");
  CHECK(answer.scenario.engine.max_num_batched_tokens >= 8 * 1300);
  CHECK(error_of(answer.calibration.after.held_back, "step") < 0.03);
}

TEST_CASE("A change of the batch is served, since recorded steps cannot answer it",
          "[whatif][from_trace]") {
  CHECK(whatif::changes_steps({{"workload.arrivals.closed_loop.concurrency", "9"}}) ==
        "workload.arrivals.closed_loop.concurrency");
  CHECK(whatif::changes_steps({{"hw", "h200"}, {"engine.max_num_batched_tokens", "9"}}) ==
        "engine.max_num_batched_tokens");
  CHECK(whatif::changes_steps({{"model.quantization", "awq"}, {"hw", "h200"}}).empty());

  const Folder folder;
  sim::write_run_directory(sim::run(server()), folder.path / "run");
  const whatif::FromTrace answer = answer_of(folder.path / "run", {"batch:16"}, hints(""));
  CHECK_FALSE(answer.replay.has_value());
  REQUIRE(answer.served.has_value());
  CHECK(answer.why_served == "workload.arrivals.closed_loop.concurrency");
  CHECK(answer.served->variants.back().gain > 1.2);  // twice the rows of the same weights
}

TEST_CASE("A batch that would not fit the changed server's memory is not replayed",
          "[whatif][from_trace]") {
  const Folder folder;
  sim::write_run_directory(sim::run(server()), folder.path / "run");
  const whatif::FromTrace answer = answer_of(folder.path / "run", {"model:llama3_405b"}, hints(""));
  REQUIRE(answer.replay.has_value());
  CHECK_FALSE(answer.replay->variants.back().ran());
  CHECK_FALSE(answer.replay->variants.back().cannot_run.empty());
}

TEST_CASE("Kernels that beat the machine's peak are named, and not followed",
          "[whatif][from_trace]") {
  const Folder folder;
  // Recorded on a machine of 4.8 TB/s, and said to be one of 2.04.
  const sim::RunResult run =
      sim::run(sim::load_scenario("chat_8b",
                                  {{"hw", "h200"},
                                   {"workload.requests", "8"},
                                   {"workload.arrivals", "{closed_loop: {concurrency: 4}}"},
                                   {"workload.output_tokens", "30"}},
                                  tests::shipped()));
  sim::write_run_directory(run, folder.path / "run");
  whatif::TraceHints said = hints("");
  said.hw = "a100";
  const whatif::FromTrace answer = answer_of(folder.path / "run", {}, said);
  const auto& values = answer.calibration.values;
  const auto gemm = std::find_if(values.begin(), values.end(), [](const auto& v) {
    return v.key == "stack.efficiency.time.gemm";
  });
  REQUIRE(gemm != values.end());
  CHECK(gemm->bound.find("peak") != std::string::npos);
  // No decode step is shorter than its weights at 2.04 TB/s.
  const double weights = 2.0 * 7.5e9;  // bytes, without the embeddings that are not read
  for (const whatif::ErrorRow& row : answer.calibration.after.fitted) {
    if (row.name == "gemm") CHECK(row.simulated_seconds > 0.98 * weights / 2.04e12);
  }
}

TEST_CASE("What the user says of the scenario is not fitted", "[whatif][from_trace]") {
  const Folder folder;
  sim::write_run_directory(sim::run(server({{"engine.enforce_eager", "true"}})),
                           folder.path / "run");
  whatif::TraceHints said = hints("");
  said.overrides = {{"stack.launch.issue", "30 us"}};
  const whatif::FromTrace answer = answer_of(folder.path / "run", {}, said);
  CHECK(answer.scenario.stack.launch.issue == core::Nanoseconds{30'000});
  for (const whatif::FittedValue& value : answer.calibration.values)
    CHECK(value.key != "stack.launch.issue");
}

TEST_CASE("What a trace does not say is asked for", "[whatif][from_trace]") {
  const Folder folder;
  const sim::RunResult run = sim::run(server({{"workload.requests", "2"}}));
  const fs::path file = folder.path / "trace.json";
  timeline::write_kineto_file(sim::RunTimeline(run), {}, file, {});
  const auto error = [&](const whatif::TraceHints& said) {
    return tests::text_of<core::ConfigError>([&] { answer_of(file, {}, said); });
  };
  CHECK(error(hints("")).find("--model") != std::string::npos);
  CHECK(error(hints("lama3_8b")).find("llama3_8b") != std::string::npos);
  whatif::TraceHints unknown = hints();
  unknown.stack = "vllm_v2";
  CHECK(error(unknown).find("did you mean 'vllm_v") != std::string::npos);
}

TEST_CASE("A real decode step is explained by the stack that made it, and its diagnosis agrees",
          "[whatif][from_trace][real]") {
  const auto path =
      tests::corpus("traces/tracelens/mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz");
  if (!path) return;
  const whatif::FromTrace answer = answer_of(*path, {"quantize:int4"}, hints("qwen3_8b"));
  CHECK(answer.calibration.choice.draft.stack() == "sglang");
  CHECK(answer.calibration.held_back_steps == 0);  // there is but one step
  CHECK(error_of(answer.calibration.after.fitted, "step") < 0.01);
  REQUIRE(answer.replay->predictions.size() == 1);
  CHECK(answer.replay->predictions.front().holds());
}

TEST_CASE("What was fitted to a server's real decode step holds of its real prefill",
          "[whatif][from_trace][real]") {
  const auto decode =
      tests::corpus("traces/tracelens/mi300x_sglang_qwen3-8b_decode_bs32_fullgraph.json.gz");
  const auto prefill =
      tests::corpus("traces/tracelens/mi300x_sglang_qwen3-8b_prefill_15360tok_eager.json.gz");
  if (!decode || !prefill) return;
  const whatif::FromTrace fitted = answer_of(*decode, {}, hints("qwen3_8b"));
  const whatif::Comparison other =
      whatif::compare(diagnosis::TraceStudy(*prefill), fitted.scenario, std::nullopt);
  CHECK(*other.step.ratio() == Approx(1.0).margin(0.08));  // the aim for whole steps
}

TEST_CASE("No scenario is built from a graph's capture", "[whatif][from_trace][real]") {
  const auto path =
      tests::corpus("traces/tracelens/mi300x_sglang_qwen3-8b_graphcapture_bs32.json.gz");
  if (!path) return;
  CHECK(tests::text_of<core::ConfigError>([&] {
          answer_of(*path, {}, hints("qwen3_8b"));
        }).find("capture") != std::string::npos);
}
