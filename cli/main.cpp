// The program `ridgeline`: chooses a command, runs it, and turns errors into a sentence on stderr
// and an exit code.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <system_error>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/program.hpp"
#include "core/error.hpp"

namespace ridgeline::cli {
namespace {

constexpr Command kCommands[] = {
    {"cases", "run the five cases: what must come out, what came out, and both diagnoses",
     declare_cases},
    {"run", "simulate a scenario and diagnose it", declare_run},
    {"whatif",
     "the same scenario before and after changes, and what the diagnosis had said of them",
     declare_whatif},
    {"diagnose", "say what binds: from typed evidence, a run's directory or a profiler's trace",
     declare_diagnose},
    {"inspect",
     "what a profiler's trace holds: kernels, gaps and their causes, whether to believe it",
     declare_inspect},
    {"compare", "a profiler's trace beside a simulation of the same steps", declare_compare},
    {"trace", "write the kernel timeline of a run's window for Perfetto and other trace tools",
     declare_trace},
    {"predict",
     "how long kernels take: a table of shapes in, the same with times and error bars out",
     declare_predict},
    {"calibrate", "fit a machine's constants to tables of measured kernels", declare_calibrate},
    {"validate", "predictions held against tables of measured kernels", declare_validate},
    {"evidence", "evidence from text that people paste: summaries, logs, kernel tables, commands",
     declare_evidence},
    {"corpus", "random servers with known limiters, labelled, at three depths of evidence",
     declare_corpus},
    {"score", "the diagnosis held against cases, public reports, a labelled corpus, real traces",
     declare_score},
    {"drill", "say what binds yourself: exercises against a clock, marked by running them again",
     declare_drill},
    {"list", "names of the shipped machines, models, stacks, scenarios and cases", declare_list},
};

constexpr const char* kFooter =
    "\nA first look:\n"
    "  ridgeline cases                        the five cases\n"
    "  ridgeline run chat_8b                  two thousand chat requests on one MI300X\n"
    "  ridgeline run chat_8b --set hw=mi325x --set engine.max_num_seqs=64\n"
    "  ridgeline run chat_8b --out runs/chat && ridgeline trace runs/chat --window 10s..10.2s\n"
    "  ridgeline diagnose my_server.yaml      a few numbers a person typed\n"
    "  ridgeline diagnose trace.json.gz --hw mi300x --model qwen3_8b\n"
    "\nExit codes: 0 done, 1 a check failed, 2 wrong input, 3 the input cannot run, 130 stopped by "
    "Ctrl-C.";

int run_program(int argc, char** argv) {
  CLI::App app{
      "Ridgeline simulates an LLM inference server on a GPU and says what its speed is bound by."};
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "ridgeline " RIDGELINE_VERSION);
  Action chosen;
  const auto add = [&app, &chosen](const Command& command) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->callback([&chosen, action = command.declare(*sub)] { chosen = action; });
  };
  for (const Command& command : kCommands) add(command);
  for (const Command& command : python_commands()) add(command);
  try {
    if (const auto done = parse_arguments(app, argc, argv)) return *done;
    return chosen();
  } catch (const core::ConfigError& e) {
    fmt::print(stderr, "ridgeline: {}\n", e.what());
    return kBadInput;
  } catch (const core::SimulationError& e) {
    fmt::print(stderr, "ridgeline: {}\n", e.what());
    return kCannotRun;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ridgeline: out of memory on this computer\n");
    return kCannotRun;
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0) {  // with_output_written says it
      if (const auto* failure = dynamic_cast<const std::system_error*>(&e))
        errno = failure->code().value();
      return kCannotRun;
    }
    fmt::print(stderr, "ridgeline: this is a bug, please report it: {}\n", e.what());
    return kBug;
  }
}

/// What was printed must arrive: a full disk shows only when the last of it is written. Returns the
/// exit code.
int with_output_written(int code) {
  if (std::ferror(stdout) == 0) errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  const std::string why = errno != 0 ? fmt::format(": {}", std::strerror(errno)) : "";
  fmt::print(stderr, "ridgeline: standard output: cannot be written{}\n", why);
  return kCannotRun;
}

}  // namespace

void add_overrides(CLI::App& app, std::vector<std::string>& overrides) {
  app.add_option("--set", overrides,
                 "change one value of the scenario, e.g. engine.max_num_seqs=64, hw=mi325x, "
                 "workload.trace=conv.csv, stack.launch.issue='20 us'; may be given several times")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

int program(int argc, char** argv) { return with_output_written(run_program(argc, argv)); }

}  // namespace ridgeline::cli
