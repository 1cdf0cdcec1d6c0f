// A simulated timeline written in each format and read back: the same spans to the nanosecond, the
// same summary, the same diagnosis.

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>

#include "core/config_library.hpp"
#include "diagnosis/diagnose_trace.hpp"
#include "sim/run.hpp"
#include "sim/run_timeline.hpp"
#include "timeline/writers/kineto.hpp"
#include "timeline/writers/rocprofv3.hpp"
#include "whatif/case.hpp"

namespace {

using namespace ridgeline;
namespace fs = std::filesystem;

struct Kernel {
  std::int64_t start;
  std::int64_t duration;
  std::string name;
  bool operator==(const Kernel&) const = default;
};

class KernelCollector : public timeline::SpanVisitor {
 public:
  void on_kernel(const timeline::KernelSpan& k) override {
    kernels.push_back({k.start.ns, k.duration.count, std::string(k.name)});
  }
  std::vector<Kernel> kernels;
};

std::vector<Kernel> kernels_of(const timeline::SpanSource& source) {
  KernelCollector collector;
  source.visit({}, collector);
  return collector.kernels;
}

/// Kernels of a recording, counted from the first one's start in `base`.
std::vector<Kernel> kernels_of(const timeline::Recording& recording, std::int64_t first) {
  std::vector<Kernel> out;
  for (const timeline::DeviceEvent& e : recording.device_events) {
    out.push_back({e.start.ns - recording.device_events.front().start.ns + first, e.duration.count,
                   std::string(recording.name(e.name))});
  }
  return out;
}

struct Files {
  fs::path folder = fs::temp_directory_path() / "ridgeline_round_trip";
  Files() { fs::create_directories(folder); }
  ~Files() { fs::remove_all(folder); }
};

sim::RunResult run_of(const std::string& scenario, const std::vector<sim::Override>& overrides) {
  return sim::run(whatif::open_scenario(scenario, overrides, core::ConfigLibrary::standard()));
}

TEST_CASE("A simulated run written in any format reads back kernel by kernel, to the nanosecond",
          "[whatif][round_trip]") {
  const Files files;
  for (const auto& [scenario, overrides] : std::map<std::string, std::vector<sim::Override>>{
           {"e_gaps", {{"workload.output_tokens", "5"}}},
           {"chat_8b", {{"workload.requests", "4"}}}}) {
    const sim::RunResult result = run_of(scenario, overrides);
    const sim::RunTimeline timeline(result);
    const std::vector<Kernel> ours = kernels_of(timeline);
    REQUIRE(ours.size() > 1000);

    const fs::path kineto = files.folder / (scenario + ".json.gz");
    timeline::write_kineto_file(timeline, {}, kineto, {});
    const diagnosis::TraceStudy study(kineto);
    CHECK(kernels_of(study.recording, ours.front().start) == ours);

    const fs::path json = files.folder / (scenario + "_results.json");
    timeline::write_rocprofv3_json(timeline, {}, json, {});
    CHECK(kernels_of(diagnosis::TraceStudy(json).recording, ours.front().start) == ours);

    const fs::path csv = files.folder / scenario / "";
    timeline::write_rocprofv3_csv(timeline, {}, csv, {});
    CHECK(kernels_of(diagnosis::TraceStudy(csv).recording, ours.front().start) == ours);
  }
}

TEST_CASE("A Kineto file of a run gives the run's own summary back", "[whatif][round_trip]") {
  const Files files;
  const sim::RunResult result = run_of("chat_8b", {{"workload.requests", "4"}});
  const sim::RunTimeline timeline(result);
  const fs::path file = files.folder / "summary.json";
  timeline::write_kineto_file(timeline, {}, file, {});
  const diagnosis::TraceStudy study(file);

  const timeline::Summary ours = timeline::summarize(timeline);
  const timeline::Summary theirs = timeline::summarize(study.timeline);
  CHECK(theirs.steps == ours.steps);
  CHECK(theirs.busy == ours.busy);
  CHECK(theirs.total.count == ours.total.count);
  CHECK(theirs.decode_sequences == ours.decode_sequences);
  CHECK(theirs.decode_context == ours.decode_context);
  CHECK(theirs.prefill_tokens == ours.prefill_tokens);
  CHECK(theirs.kernel_lengths == ours.kernel_lengths);
  for (const auto& [cls, row] : ours.by_class) {
    INFO(timeline::name_of(cls));
    REQUIRE(theirs.by_class.contains(cls));
    CHECK(theirs.by_class.at(cls).count == row.count);
    CHECK(theirs.by_class.at(cls).time == row.time);
  }
  for (const timeline::Gate& gate : study.gates) {
    INFO(gate.sentence);
    CHECK((gate.passed || !gate.decisive));
  }
}

TEST_CASE("The diagnosis of a run is the diagnosis of its trace", "[whatif][round_trip]") {
  const Files files;
  for (const std::string scenario : {"a_chatbot", "e_gaps"}) {
    const sim::RunResult result =
        run_of(scenario, {{"workload.requests", scenario == "e_gaps" ? "32" : "1"},
                          {"workload.output_tokens", "60"}});
    const sim::RunTimeline timeline(result);
    const fs::path file = files.folder / (scenario + ".json.gz");
    timeline::write_kineto_file(timeline, {}, file, {});
    const diagnosis::TraceStudy study(file);
    const auto library = core::ConfigLibrary::standard();
    diagnosis::TraceContext context;
    context.gpu = result.scenario.gpu;
    context.model = result.scenario.model;
    const diagnosis::TraceDiagnosis answer = diagnosis::diagnose_trace(study, context);
    REQUIRE(answer.diagnosis.has_value());
    const diagnosis::Regime expected = scenario == "e_gaps" ? diagnosis::Regime::overhead_bound
                                                            : diagnosis::Regime::bandwidth_bound;
    INFO(scenario << " " << (answer.notes.empty() ? "" : answer.notes.back()));
    CHECK(answer.diagnosis->regime == expected);
    CHECK(answer.diagnosis->phase == diagnosis::Phase::decode);
    const std::string first_fix =
        scenario == "e_gaps" ? "graph_capture" : "weight_quantization_4bit";
    REQUIRE_FALSE(answer.diagnosis->fixes.empty());
    CHECK(answer.diagnosis->fixes.front().name == first_fix);
  }
}

}  // namespace
