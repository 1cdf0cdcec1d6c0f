#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "core/error.hpp"
#include "diagnosis/report.hpp"
#include "sim/run_directory.hpp"
#include "whatif/diagnose_run.hpp"

namespace ridgeline::cli {
namespace {

int diagnose(const std::string& path, bool json) {
  const auto library = core::ConfigLibrary::standard();
  diagnosis::Evidence evidence;
  if (std::filesystem::is_directory(path)) {
    const sim::RunResult result = sim::read_run_directory(path, library);
    evidence = whatif::observe_run(result, sim::measure(result), whatif::telling_part(result));
  } else {
    evidence = whatif::load_evidence_file(path, library);
  }
  const diagnosis::Diagnosis answer = diagnosis::diagnose(evidence);
  if (json) {
    fmt::print("{}\n", diagnosis::to_json(answer).dump(2));
  } else {
    fmt::print("{}", diagnosis::to_text(answer));
  }
  return kDone;
}

}  // namespace

Action declare_diagnose(CLI::App& app) {
  struct Options {
    std::string path;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  app.add_option("path", options->path, "evidence as YAML, or the directory of a run")->required()->type_name("EVIDENCE.yaml|RUN_DIR");
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nEvidence is any subset of what is known; see configs/cases/*.evidence.yaml. The least that helps:\n"
      "  machine: mi300x\n"
      "  model: {parameters: 8e9, weight_dtype: bf16}\n"
      "  serving: {concurrency: 32}\n"
      "  measured: {throughput: 1150 /s}\n"
      "Numbers carry their doubt: '78 %' is 77.5 to 78.5, '6-30 us' a range, '~40 GB' 35 to 45, '=26 GB' exact.");
  return [options] { return diagnose(options->path, options->json); };
}

}  // namespace ridgeline::cli
