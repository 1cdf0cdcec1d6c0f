// The program `ridgeline`: chooses a command, runs it, and turns errors into a sentence on stderr and an exit code.

#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "core/error.hpp"

namespace ridgeline::cli {
namespace {

constexpr Command kCommands[] = {
    {"cases", "run the five cases: what must come out, what came out, and both diagnoses", declare_cases},
    {"run", "simulate a scenario and diagnose it", declare_run},
    {"diagnose", "say what binds: from typed evidence or from a run's directory", declare_diagnose},
    {"trace", "write the kernel timeline of a run's window for Perfetto and other trace tools", declare_trace},
    {"list", "names of the shipped machines, models, stacks, scenarios and cases", declare_list},
};

constexpr const char* kFooter =
    "\nA first look:\n"
    "  ridgeline cases                        the five cases\n"
    "  ridgeline run chat_8b                  two thousand chat requests on one MI300X\n"
    "  ridgeline run chat_8b --set hw=mi325x --set engine.max_num_seqs=64\n"
    "  ridgeline run chat_8b --out runs/chat && ridgeline trace runs/chat --window 10s..10.2s\n"
    "  ridgeline diagnose my_server.yaml      a few numbers a person typed\n"
    "\nExit codes: 0 done, 1 a check failed, 2 wrong input, 3 the input cannot run, 130 stopped by Ctrl-C.";

int run_program(int argc, char** argv) {
  CLI::App app{"Ridgeline simulates an LLM inference server on a GPU and says what its speed is bound by."};
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "ridgeline 0.1.0");
  Action chosen;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->callback([&chosen, action = command.declare(*sub)] { chosen = action; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kDone : kBadInput;
  }
  try {
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
    fmt::print(stderr, "ridgeline: this is a bug, please report it: {}\n", e.what());
    return kBug;
  }
}

}  // namespace

void add_overrides(CLI::App& app, std::vector<std::string>& overrides) {
  app.add_option("--set", overrides, "change one value of the scenario, e.g. engine.max_num_seqs=64, hw=mi325x, "
                                     "workload.trace=conv.csv, stack.launch.issue='20 us'; may be given several times")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace ridgeline::cli

int main(int argc, char** argv) { return ridgeline::cli::run_program(argc, argv); }
