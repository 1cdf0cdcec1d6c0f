#pragma once
// A command of the program: it declares its options on a CLI11 subcommand and leaves behind what to
// do when it is chosen.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace ridgeline::cli {

/// What a chosen command does; returns the exit code.
using Action = std::function<int()>;

struct Command {
  const char* name;
  const char* summary;
  Action (*declare)(CLI::App& app);
};

/// Every command, in the order in which --help shows them. A new command is one file and one line
/// in main.cpp.
Action declare_cases(CLI::App& app);
Action declare_run(CLI::App& app);
Action declare_whatif(CLI::App& app);
Action declare_whatif_from_trace(CLI::App& app);  // of declare_whatif
Action declare_diagnose(CLI::App& app);
Action declare_trace(CLI::App& app);
Action declare_inspect(CLI::App& app);
Action declare_compare(CLI::App& app);
Action declare_predict(CLI::App& app);
Action declare_calibrate(CLI::App& app);
Action declare_validate(CLI::App& app);
Action declare_evidence(CLI::App& app);
Action declare_corpus(CLI::App& app);
Action declare_score(CLI::App& app);
Action declare_drill(CLI::App& app);
Action declare_list(CLI::App& app);
/// Commands that are written in Python (bindings/python/ridgeline/commands.py): the process becomes
/// the interpreter.
[[nodiscard]] std::span<const Command> python_commands();

/// Exit codes: the user's input was wrong; the input was right but cannot run; stopped by Ctrl-C;
/// our bug.
enum ExitCode {
  kDone = 0,
  kFailedCheck = 1,
  kBadInput = 2,
  kCannotRun = 3,
  kBug = 4,
  kInterrupted = 130
};

/// Adds `--set KEY=VALUE`, which may be given several times.
void add_overrides(CLI::App& app, std::vector<std::string>& overrides);

}  // namespace ridgeline::cli
