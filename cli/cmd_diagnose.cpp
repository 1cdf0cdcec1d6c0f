#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "diagnosis/report.hpp"
#include "diagnosis/trace_report.hpp"
#include "whatif/diagnose_run.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string path;
  std::string hw;
  std::string model;
  bool json = false;
};

int diagnose_trace(const Options& options, const core::ConfigLibrary& library) {
  const diagnosis::TraceStudy study(options.path);
  const auto context = diagnosis::trace_context(study, options.hw, options.model, library);
  const diagnosis::TraceDiagnosis answer = diagnosis::diagnose_trace(study, context);
  if (options.json) {
    fmt::print("{}\n", diagnosis::json_text(diagnosis::to_json(answer)));
    return kDone;
  }
  for (const timeline::Gate& gate : answer.gates) {
    if (!gate.passed && !gate.decisive) fmt::print("careful: {}\n", gate.sentence);
  }
  for (const std::string& note : answer.notes) fmt::print("note: {}\n", note);
  if (answer.diagnosis) {
    fmt::print("\n{}", diagnosis::to_text(*answer.diagnosis));
  } else {
    fmt::print("\nThis trace cannot tell: {}.\n", answer.cannot_tell);
  }
  return kDone;
}

int diagnose(const Options& options) {
  const auto library = core::ConfigLibrary::standard();
  if (diagnosis::looks_like_trace(options.path)) return diagnose_trace(options, library);
  if (!options.hw.empty() || !options.model.empty()) {
    throw core::ConfigError(
        "--hw and --model go with a trace; evidence and runs say their machine and model "
        "themselves");
  }
  const diagnosis::Diagnosis answer =
      diagnosis::diagnose(whatif::open_evidence(options.path, library));
  if (options.json) {
    fmt::print("{}\n", diagnosis::to_json(answer).dump(2));
  } else {
    fmt::print("{}", diagnosis::to_text(answer));
  }
  return kDone;
}

}  // namespace

Action declare_diagnose(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option(
         "path", options->path,
         "evidence as YAML, the directory of a run, or a profiler's trace as 'inspect' reads it")
      ->required()
      ->type_name("EVIDENCE.yaml|RUN_DIR|TRACE");
  app.add_option("--hw", options->hw,
                 "of a trace: the GPU it was recorded on, where it does not say")
      ->type_name("NAME");
  app.add_option("--model", options->model,
                 "of a trace: the model that ran, from which bytes and FLOP follow")
      ->type_name("NAME");
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nFor example:\n"
      "  ridgeline diagnose my_server.yaml    a few numbers that a person typed\n"
      "  ridgeline diagnose runs/chat         what 'ridgeline run --out runs/chat' left\n"
      "  ridgeline diagnose trace.json.gz --hw mi300x --model qwen3_8b\n"
      "\nEvidence is any subset of what is known; see configs/cases/*.evidence.yaml. The least "
      "that helps:\n"
      "  machine: mi300x\n"
      "  model: {parameters: 8e9, weight_dtype: bf16}\n"
      "  serving: {concurrency: 32}\n"
      "  measured: {throughput: 1150 /s}\n"
      "Numbers carry their doubt: '78 %' is 77.5 to 78.5, '6-30 us' a range, '~40 GB' 35 to 45, "
      "'=26 GB' exact.");
  return [options] { return diagnose(*options); };
}

}  // namespace ridgeline::cli
