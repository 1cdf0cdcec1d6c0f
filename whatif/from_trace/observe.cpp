#include "whatif/from_trace/observe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "diagnosis/diagnose_trace.hpp"
#include "hw/machine_names.hpp"
#include "sim/run_directory.hpp"
#include "sim/run_timeline.hpp"
#include "whatif/diagnose_run.hpp"

namespace ridgeline::whatif {
namespace {

/// Steps that are looked at: more tell nothing new and take time.
constexpr std::size_t kMostSteps = 400;

core::Node reference(const std::string& name, const std::string& origin) {
  core::Node node;
  node.kind = core::Node::Kind::scalar;
  node.scalar = name;
  node.position.file = std::make_shared<const std::string>(origin);
  return node;
}

/// Evenly, so that both halves see all of it.
std::vector<StepFacts> spread(std::vector<StepFacts> steps) {
  if (steps.size() <= kMostSteps) return steps;
  std::vector<StepFacts> out;
  for (std::size_t i = 0; i < kMostSteps; ++i)
    out.push_back(std::move(steps[i * steps.size() / kMostSteps]));
  return out;
}

bool mostly_graphs(const std::vector<StepFacts>& steps) {
  std::int64_t decode = 0;
  std::int64_t in_graphs = 0;
  for (const StepFacts& step : steps) {
    if (!step.decodes_only()) continue;
    ++decode;
    if (2 * step.graph_kernels > step.kernels) ++in_graphs;
  }
  return 2 * in_graphs > decode;
}

/// What is read off the steps, whoever recorded them.
void look_at_steps(const timeline::SpanSource& timeline, const TraceHints& hints,
                   TraceFacts& facts) {
  const ShapedTimeline shaped(timeline, hints.steps);
  std::vector<StepFacts> steps = step_facts(shaped);
  if (steps.empty()) {
    throw core::ConfigError(facts.file +
                            ": no annotation says what a step holds; say it with --decode N "
                            "--context TOKENS, or --prefill TOKENS");
  }
  const bool no_context = std::any_of(steps.begin(), steps.end(), [](const StepFacts& s) {
    return s.record.decode_sequences > 0 && s.record.decode_context <= s.record.decode_sequences;
  });
  if (no_context)
    facts.notes.emplace_back(
        "the annotations do not say the contexts of the decoding sequences: taken as one token; "
        "--context TOKENS says them");
  facts.steps = spread(std::move(steps));
  facts.graphs = mostly_graphs(facts.steps);
}

TraceFacts observe_recording(const std::filesystem::path& path, const TraceHints& hints,
                             const core::ConfigLibrary& library) {
  const diagnosis::TraceStudy study(path);
  TraceFacts facts;
  facts.file = study.recording.file;
  facts.device = study.timeline.device().name;
  for (const timeline::Gate& gate : study.gates) {
    if (!gate.passed && gate.decisive)
      throw core::ConfigError(facts.file + ": no scenario can be built from it: " + gate.sentence);
  }
  if (hints.model.empty())
    throw core::ConfigError(facts.file +
                            ": a trace does not say which model ran; name it with "
                            "--model, as 'ridgeline list models' has it");
  const std::string machine =
      hints.hw.empty() ? hw::MachineNames(library).in(facts.device) : hints.hw;
  if (machine.empty())
    throw core::ConfigError(fmt::format("{}: its device, '{}', is no known GPU; name it with --hw",
                                        facts.file, facts.device));
  facts.hw = reference(machine, hints.hw.empty() ? facts.file : "--hw");
  facts.model = reference(hints.model, "--model");
  facts.steps_in_trace = static_cast<std::int64_t>(study.steps.steps.size());
  facts.how_steps = study.steps.text;
  facts.notes = study.recording.missing;
  look_at_steps(study.timeline, hints, facts);

  const bool communicates =
      std::any_of(facts.steps.begin(), facts.steps.end(),
                  [](const StepFacts& step) { return step.count_of(KernelGroup::collective) > 0; });
  if (study.recording.world_size > 1 && communicates) {
    facts.tensor_parallel = study.recording.world_size;
    facts.notes.push_back(fmt::format(
        "{} ranks with collectives in the steps: taken as tensor parallelism over all of them; "
        "--set engine.tensor_parallel_size=N says otherwise",
        facts.tensor_parallel));
  }
  if (study.recording.with_stack)
    facts.notes.emplace_back(
        "recorded with Python stacks, which slows the host: its times are longer than without");

  const diagnosis::TraceDiagnosis answer = diagnosis::diagnose_trace(
      study, diagnosis::trace_context(study, machine, hints.model, library));
  facts.diagnosis = answer.diagnosis;
  facts.evidence = answer.evidence;
  if (!answer.cannot_tell.empty())
    facts.notes.push_back("the trace has no diagnosis of its own: " + answer.cannot_tell);
  return facts;
}

TraceFacts observe_directory(const std::filesystem::path& path, const TraceHints& hints,
                             const core::ConfigLibrary& library) {
  const sim::RunResult run = sim::read_run_directory(path, library);
  if (run.scenario.engine.speculative_config)
    throw core::ConfigError(path.string() +
                            ": its steps check drafts (engine.speculative_config), which cannot be "
                            "replayed; 'ridgeline whatif " +
                            (path / "scenario.yaml").string() + "' runs the scenario itself");
  TraceFacts facts;
  facts.file = path.string();
  facts.kv_cache_dtype = hw::name_of(run.scenario.engine.kv_cache_dtype);
  facts.device = run.scenario.gpu.name;
  const auto given = [&](const std::string& hint, const char* key) {
    return hint.empty() ? *run.scenario.document.find(key)
                        : reference(hint, std::string("--") + key);
  };
  facts.hw = given(hints.hw, "hw");
  facts.model = given(hints.model, "model");
  facts.steps_in_trace = static_cast<std::int64_t>(run.steps.size());
  facts.how_steps = fmt::format("{} steps of a simulated run", run.steps.size());
  facts.tensor_parallel = run.scenario.engine.parallelism.tensor;

  std::vector<std::size_t> chosen;
  const std::size_t most = std::min(run.steps.size(), kMostSteps);
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(i * run.steps.size() / most);
  look_at_steps(sim::RunTimeline(run, std::move(chosen)), hints, facts);

  const sim::Metrics metrics = sim::measure(run);
  facts.evidence = observe_run(run, metrics, telling_part(run));
  facts.diagnosis = diagnosis::diagnose(facts.evidence);
  return facts;
}

}  // namespace

TraceFacts observe_trace(const std::filesystem::path& path, const TraceHints& hints,
                         const core::ConfigLibrary& library) {
  std::error_code error;
  if (std::filesystem::exists(path / "scenario.yaml", error))
    return observe_directory(path, hints, library);
  return observe_recording(path, hints, library);
}

}  // namespace ridgeline::whatif
