#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/colour.hpp"
#include "cli/command.hpp"
#include "core/error.hpp"
#include "diagnosis/explain.hpp"
#include "diagnosis/markdown.hpp"
#include "diagnosis/memo.hpp"
#include "diagnosis/report.hpp"
#include "diagnosis/trace_report.hpp"
#include "whatif/diagnose_run.hpp"
#include "whatif/told_evidence.hpp"

namespace ridgeline::cli {
namespace {

struct Options {
  std::string path;
  std::string hw;
  std::string model;
  std::string colour = "auto";
  std::string quantity;  // whose number is explained; all of them if empty
  bool explain = false;
  bool json = false;
  bool markdown = false;
  bool memo = false;
};

/// The answer in the form that was asked for; not JSON, which holds more.
std::string told(const Options& options, const diagnosis::Evidence& evidence,
                 const diagnosis::Diagnosis& answer, const diagnosis::Places& places) {
  if (options.memo) return to_memo(answer, diagnosis::explain(evidence, answer, places));
  if (options.markdown) return to_markdown(answer);
  if (!options.explain) return to_text(answer, diagnosis::Palette(coloured(options.colour)));
  const std::string numbers =
      to_text(diagnosis::explain(evidence, answer, places), options.quantity);
  if (!options.quantity.empty()) return numbers;
  return to_text(answer, diagnosis::Palette(coloured(options.colour))) + "\n" + numbers;
}

void print_aside(const Options& options, std::string_view what, const std::string& sentence) {
  if (options.markdown || options.memo) {
    fmt::print("> {}: {}\n>\n", what, diagnosis::markdown::escaped(sentence));
  } else {
    fmt::print("{}: {}\n", what, sentence);
  }
}

nlohmann::ordered_json with_derivations(nlohmann::ordered_json json, const Options& options,
                                        const diagnosis::Evidence& evidence,
                                        const diagnosis::Diagnosis& answer,
                                        const diagnosis::Places& places) {
  if (options.explain)
    json["derivations"] = to_json(diagnosis::explain(evidence, answer, places), options.quantity);
  return json;
}

int diagnose_trace(const Options& options, const core::ConfigLibrary& library) {
  const diagnosis::TraceStudy study(options.path);
  const auto context = diagnosis::trace_context(study, options.hw, options.model, library);
  const diagnosis::TraceDiagnosis answer = diagnosis::diagnose_trace(study, context);
  if (options.json) {
    auto json = diagnosis::to_json(answer);
    if (answer.diagnosis)
      json = with_derivations(std::move(json), options, answer.evidence, *answer.diagnosis, {});
    fmt::print("{}\n", diagnosis::json_text(json));
    return kDone;
  }
  for (const timeline::Gate& gate : answer.gates) {
    if (!gate.passed && !gate.decisive) print_aside(options, "careful", gate.sentence);
  }
  for (const std::string& note : answer.notes) print_aside(options, "note", note);
  if (answer.diagnosis) {
    fmt::print("\n{}", told(options, answer.evidence, *answer.diagnosis, {}));
  } else {
    fmt::print("\nThis trace cannot tell: {}.\n",
               options.markdown || options.memo ? diagnosis::markdown::escaped(answer.cannot_tell)
                                                : answer.cannot_tell);
  }
  return kDone;
}

/// Standard input is text or a trace: what profilers write for programs begins like JSON, gzip or
/// a row of quoted cells.
bool holds_trace(const std::string& path) {
  if (path != "-") return diagnosis::looks_like_trace(path);
  const int first = std::getc(stdin);
  if (first == EOF) return false;
  std::ungetc(first, stdin);
  constexpr int kGzip = 0x1f;
  return first == '{' || first == '[' || first == '"' || first == kGzip;
}

struct Opened {
  diagnosis::Evidence evidence;
  diagnosis::Places places;  // a run's numbers were all read off it
  std::vector<std::string> notes;
};

Opened open(const std::string& path, const core::ConfigLibrary& library) {
  if (std::filesystem::is_directory(path)) return {whatif::open_evidence(path, library), {}, {}};
  diagnosis::EvidenceDocument told = whatif::open_told(path, library);
  return {std::move(told.evidence), {told.document, library}, std::move(told.notes)};
}

void require_one_form(const Options& options) {
  const bool marked_up = options.markdown || options.memo;
  const char* form = options.memo ? "--memo" : "--markdown";
  if (options.json && marked_up) {
    throw core::ConfigError(
        fmt::format("diagnose: --json and {} are two forms of one answer; choose one", form));
  }
  if (options.explain && marked_up) {
    throw core::ConfigError(fmt::format(
        "diagnose: --explain goes with the plain answer and with --json, not with {}", form));
  }
}

int diagnose(Options options) {
  // "--explain PATH": what is a file is no quantity.
  if (options.path.empty()) std::swap(options.path, options.quantity);
  if (options.path.empty()) {
    throw core::ConfigError(
        "diagnose: expected EVIDENCE.yaml|TEXT|RUN_DIR|TRACE, got nothing; see 'ridgeline diagnose "
        "--help'");
  }
  require_one_form(options);
  static_cast<void>(coloured(options.colour));  // a word that it is not is wrong in every form
  const auto library = core::ConfigLibrary::standard();
  if (holds_trace(options.path)) return diagnose_trace(options, library);
  if (!options.hw.empty() || !options.model.empty()) {
    throw core::ConfigError(
        "--hw and --model go with a trace; evidence and runs say their machine and model "
        "themselves");
  }
  const Opened opened = open(options.path, library);
  const diagnosis::Diagnosis answer = diagnosis::diagnose(opened.evidence);
  if (options.json) {
    auto json = with_derivations(to_json(answer), options, opened.evidence, answer, opened.places);
    if (!opened.notes.empty()) json["notes"] = opened.notes;
    fmt::print("{}\n", json.dump(2));
    return kDone;
  }
  for (const std::string& note : opened.notes) print_aside(options, "note", note);
  if (!opened.notes.empty()) fmt::print("\n");
  fmt::print("{}", told(options, opened.evidence, answer, opened.places));
  return kDone;
}

}  // namespace

Action declare_diagnose(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option(
         "path", options->path,
         "evidence as YAML, text as tools print it, the directory of a run, or a profiler's trace "
         "as 'inspect' reads it; '-' is standard input")
      ->type_name("EVIDENCE.yaml|TEXT|RUN_DIR|TRACE");
  app.add_option("--hw", options->hw,
                 "of a trace: the GPU it was recorded on, where it does not say")
      ->type_name("NAME");
  app.add_option("--model", options->model,
                 "of a trace: the model that ran, from which bytes and FLOP follow")
      ->type_name("NAME");
  app.add_flag("--json", options->json, "for machines");
  const CLI::Option* explain =
      app.add_option("--explain", options->quantity,
                     "from what each number came, down to where it was given, read or assumed; or "
                     "one number by its name: a line of the ledger, a fix, 'confidence', 'HBM "
                     "bandwidth'")
          ->type_name("[QUANTITY]")
          ->expected(0, 1);
  app.add_flag("--markdown", options->markdown, "to paste into an issue");
  app.add_flag("--memo", options->memo,
               "a page in markdown for whoever decides: what to do, what it gains and costs");
  add_colour(app, options->colour);
  app.footer(
      "\nFor example:\n"
      "  ridgeline diagnose my_server.yaml    a few numbers that a person typed\n"
      "  ridgeline diagnose server.log        what a log or a benchmark printed\n"
      "  ridgeline diagnose runs/chat         what 'ridgeline run --out runs/chat' left\n"
      "  ridgeline diagnose trace.json.gz --hw mi300x --model qwen3_8b\n"
      "  ridgeline diagnose my_server.yaml --explain 'HBM bandwidth'\n"
      "  ridgeline diagnose my_server.yaml --memo > memo.md\n"
      "\nEvidence is any subset of what is known; see docs/evidence.md. The least "
      "that helps:\n"
      "  machine: mi300x\n"
      "  model: {parameters: 8e9, weight_dtype: bf16}\n"
      "  serving: {concurrency: 32}\n"
      "  measured: {throughput: 1150 /s}\n"
      "Numbers carry their doubt: '78 %' is 77.5 to 78.5, '6-30 us' a range, '~40 GB' 35 to 45, "
      "'=26 GB' exact.");
  return [options, explain] {
    options->explain = explain->count() > 0;
    return diagnose(*options);
  };
}

}  // namespace ridgeline::cli
