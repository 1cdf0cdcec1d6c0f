#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/experiment_text.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "core/error.hpp"
#include "diagnosis/prose.hpp"
#include "whatif/case.hpp"
#include "whatif/experiment.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string scenario;
  std::vector<std::string> changes;
  std::vector<std::string> overrides;
  bool verify = false;
  bool each = false;
  bool all = false;
  bool list = false;
  bool json = false;
  bool quiet = false;
};

int print_levers() {
  Table table({"change", "what it does"});
  for (const whatif::Lever& lever : whatif::levers()) {
    const std::string argument = lever.argument.empty() ? "" : ":" + std::string(lever.argument);
    table.add({std::string(lever.name) + argument, std::string(lever.meaning)});
  }
  table.add({"KEY=VALUE", "any value of the scenario, as --set"});
  fmt::print("{}\n", table.text({}));
  Table fixes({"fix of the diagnosis", "what it changes, or why nothing can"});
  for (const whatif::Intervention& fix : whatif::interventions())
    fixes.add({std::string(fix.fix),
               (fix.overrides == nullptr ? "not simulated: " : "") + std::string(fix.how)});
  fmt::print("{}", fixes.text({}));
  return kDone;
}

int what_if(const Options& options) {
  if (options.list) return print_levers();
  if (options.scenario.empty())
    throw core::ConfigError(
        "whatif: expected a scenario and changes, as in 'ridgeline whatif chat_8b quantize:int4'");
  if (options.changes.empty() != options.verify)
    throw core::ConfigError(options.verify
                                ? "--verify-diagnosis: takes no changes: it runs the fixes that "
                                  "the diagnosis names"
                                : "whatif: expected a change, as in 'ridgeline whatif chat_8b "
                                  "quantize:int4'; --list shows all");
  const auto library = core::ConfigLibrary::standard();
  std::vector<sim::Override> overrides;
  for (const std::string& text : options.overrides) overrides.push_back(sim::parse_override(text));
  const sim::Scenario scenario = whatif::open_scenario(options.scenario, overrides, library);

  Progress progress(!options.quiet);
  whatif::ExperimentOptions run;
  run.each = options.each;
  run.progress = [&progress](const std::string& running) {
    return progress.report(
        [&](double elapsed) { return fmt::format("running: {} ({:.0f} s)", running, elapsed); });
  };
  const auto experiment = options.verify ? whatif::verify_diagnosis(scenario, library, run)
                                         : whatif::what_if(scenario, options.changes, library, run);
  if (!experiment) {
    fmt::print(stderr, "ridgeline: stopped by Ctrl-C; a comparison needs all of its runs\n");
    return kInterrupted;
  }
  if (options.json)
    fmt::print("{}\n", to_json(*experiment).dump(2));
  else
    fmt::print("{}", to_text(*experiment, options.all));
  const auto& variants = experiment->variants;
  const bool nothing_ran =
      variants.size() > 1 &&
      std::none_of(variants.begin() + 1, variants.end(), [](const auto& v) { return v.ran(); });
  return nothing_ran ? kCannotRun : kDone;
}

}  // namespace

Action declare_whatif(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("scenario", options->scenario, "as 'run' takes it")->type_name("SCENARIO");
  app.add_option("changes", options->changes,
                 "quantize:int4, graphs:on, batch:64, gpu:h200, KEY=VALUE, the name of a fix ...")
      ->type_name("CHANGE");
  add_overrides(app, options->overrides);
  app.add_flag("--each", options->each, "every change alone too, then all of them together");
  app.add_flag("--verify-diagnosis", options->verify,
               "run again with every fix that the diagnosis names and every one it rejects");
  app.add_flag("--all", options->all, "every figure, not only those that people compare");
  app.add_flag("--list", options->list, "the changes there are");
  app.add_flag("--json", options->json, "for machines");
  app.add_flag("--quiet", options->quiet, "no progress on stderr");
  app.footer(
      "\nFor example:\n"
      "  ridgeline whatif chat_8b quantize:int4 graphs:off\n"
      "  ridgeline whatif chat_8b gpu:h200 engine.max_num_seqs=256 --each\n"
      "  ridgeline whatif chat_8b --verify-diagnosis\n"
      "  ridgeline whatif from-trace trace.json.gz --model qwen3_8b graphs:off\n"
      "\nThe changes are made one after the other. Rates are those of all data-parallel copies; "
      "a factor behind a number is after over before.");
  CLI::App* from_trace = app.add_subcommand(
      "from-trace", "the scenario that best explains a profiler's trace, and changes to it");
  return [options, from_trace, action = declare_whatif_from_trace(*from_trace)] {
    return from_trace->parsed() ? action() : what_if(*options);
  };
}

}  // namespace ridgeline::cli
