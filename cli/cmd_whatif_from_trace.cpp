// `ridgeline whatif from-trace`: the scenario behind a recorded trace, and changes to it.

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.hpp"
#include "cli/from_trace_text.hpp"
#include "cli/progress.hpp"
#include "core/error.hpp"
#include "timeline/writers/output_file.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string trace;
  std::vector<std::string> changes;
  std::vector<std::string> overrides;
  whatif::TraceHints hints;
  std::int64_t decode = 0;
  std::int64_t context = 0;
  std::int64_t prefill = 0;
  std::int64_t prefill_sequences = 1;
  std::optional<std::string> out;
  bool each = false;
  bool all = false;
  bool json = false;
  bool quiet = false;
};

/// What the user says of the steps' batches.
whatif::StepHints steps_of(const Options& options) {
  whatif::StepHints hints;
  hints.context = options.context;
  if (options.decode == 0 && options.prefill == 0) return hints;
  workloads::StepShape shape;
  for (std::int64_t i = 0; i < options.decode; ++i)
    shape.add_decode(std::max<std::int64_t>(1, options.context));
  if (options.prefill > 0) {
    if (options.prefill % options.prefill_sequences != 0)
      throw core::ConfigError(
          fmt::format("--prefill: expected a multiple of --prefill-sequences ({}), got {}",
                      options.prefill_sequences, options.prefill));
    const std::int64_t each = options.prefill / options.prefill_sequences;
    for (std::int64_t i = 0; i < options.prefill_sequences; ++i)
      shape.add_prefill(each, each, true);
  }
  hints.shape = shape;
  return hints;
}

int from_trace(Options options) {
  options.hints.steps = steps_of(options);
  for (const std::string& text : options.overrides)
    options.hints.overrides.push_back(sim::parse_override(text));
  if (options.out && options.out->empty())
    throw core::ConfigError("--out: expected a file, got ''");
  Progress progress(!options.quiet);
  whatif::ExperimentOptions run;
  run.each = options.each;
  run.progress = [&progress](const std::string& running) {
    return progress.report(
        [&](double elapsed) { return fmt::format("running: {} ({:.0f} s)", running, elapsed); });
  };
  const auto answer = whatif::from_trace(options.trace, options.hints, options.changes,
                                         core::ConfigLibrary::standard(), run);
  if (!answer) {
    fmt::print(stderr, "ridgeline: stopped by Ctrl-C; nothing was written\n");
    return kInterrupted;
  }
  if (options.out) timeline::write_file(*options.out, [&](std::ostream& s) { s << answer->yaml; });
  if (options.json)
    fmt::print("{}\n", to_json(*answer).dump(2));
  else
    fmt::print("{}", to_text(*answer, options.all));
  return kDone;
}

}  // namespace

Action declare_whatif_from_trace(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("trace", options->trace,
                 "a profiler's file, as 'inspect' reads it, or what 'run --out' left")
      ->required()
      ->type_name("TRACE");
  app.add_option("changes", options->changes, "as 'whatif' takes them; none: only the fit")
      ->type_name("CHANGE");
  app.add_option("--model", options->hints.model, "the model that ran: no trace says it")
      ->type_name("NAME");
  app.add_option("--hw", options->hints.hw, "the GPU, where the trace does not name a known one")
      ->type_name("NAME");
  app.add_option("--stack", options->hints.stack,
                 "the shipped stack to begin with; the nearest if left out")
      ->type_name("NAME");
  app.add_option("--decode", options->decode,
                 "sequences decoding in a step, where no annotation says it")
      ->check(CLI::Range(1, 65536));
  app.add_option("--context", options->context, "tokens of each of them")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--prefill", options->prefill, "prompt tokens in a step, likewise")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--prefill-sequences", options->prefill_sequences, "over so many equal prompts")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  add_overrides(app, options->overrides);
  app.add_option("--out", options->out, "file that the fitted scenario is written to, for 'run'")
      ->type_name("FILE");
  app.add_flag("--each", options->each, "every change alone too, then all of them together");
  app.add_flag("--all", options->all, "every figure of a served scenario");
  app.add_flag("--json", options->json, "for machines");
  app.add_flag("--quiet", options->quiet, "no progress on stderr");
  app.footer(
      "\nFor example:\n"
      "  ridgeline whatif from-trace trace.json.gz --model qwen3_8b\n"
      "  ridgeline whatif from-trace trace.json.gz --model qwen3_8b quantize:int4 --out mine.yaml\n"
      "\nHalf of the steps are held back from the fit; errors are given for both halves. Changes "
      "are answered on the recorded steps where these stay as they are; a change of the batch is "
      "answered by serving the scenario.");
  return [options] { return from_trace(*options); };
}

}  // namespace ridgeline::cli
