#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/command.hpp"
#include "core/error.hpp"

#ifndef RIDGELINE_PYTHON_EXECUTABLE
#define RIDGELINE_PYTHON_EXECUTABLE ""
#endif

namespace ridgeline::cli {
namespace {

/// `python3 -m ridgeline`, and a sentence instead of a traceback where there is no such package.
constexpr const char* kStart = R"(
import sys
sys.path[:] = [folder for folder in sys.path if folder]  # not the files of whatever folder we are in
import importlib.util, runpy, sys
if importlib.util.find_spec('ridgeline') is None:
    sys.exit("ridgeline: '" + sys.argv[1] + "' is a command of the Python package ridgeline, which " + sys.executable
             + " does not have; install it with: " + sys.executable + " -m pip install . (in the source tree),"
             + " or name another interpreter by RIDGELINE_PYTHON_EXECUTABLE")
runpy.run_module('ridgeline', run_name='__main__', alter_sys=True)
)";

std::filesystem::path folder_of_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

/// The interpreter that the environment names, else that of the test environment beside the program
/// (scripts/venv.sh), which has all packages, else the one that the package was built for, else the
/// one on the path.
std::string interpreter() {
  const char* chosen = std::getenv("RIDGELINE_PYTHON_EXECUTABLE");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  std::error_code error;
  const auto beside = folder_of_program() / "venv" / "bin" / "python";
  if (std::filesystem::exists(beside, error)) return beside.string();
  if (std::filesystem::exists(RIDGELINE_PYTHON_EXECUTABLE, error))
    return RIDGELINE_PYTHON_EXECUTABLE;
  return "python3";
}

/// The package that was built beside the program comes before any that is installed.
void find_package_beside_program() {
  std::error_code error;
  const auto beside = folder_of_program() / "python";
  if (!std::filesystem::exists(beside / "ridgeline" / "__init__.py", error)) return;
  const char* before = std::getenv("PYTHONPATH");
  const std::string path =
      beside.string() + (before != nullptr && *before != '\0' ? ":" + std::string(before) : "");
  ::setenv("PYTHONPATH", path.c_str(), 1);
}

int hand_over(const std::string& command, const std::vector<std::string>& rest) {
  find_package_beside_program();
  std::vector<std::string> words{interpreter(), "-c", kStart, command};
  words.insert(words.end(), rest.begin(), rest.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  throw core::SimulationError("'" + command + "' is a command in Python, and '" + words.front() +
                              "' cannot be started: " + std::strerror(errno) +
                              "; name an interpreter by RIDGELINE_PYTHON_EXECUTABLE");
}

/// All that stands after the command is the package's to read, --help included.
Action declare(CLI::App& app) {
  app.prefix_command();
  app.set_help_flag();
  app.allow_extras();
  return [&app] { return hand_over(app.get_name(), app.remaining()); };
}

constexpr std::array<Command, 5> kPython{{
    {"sweep", "run a scenario at many settings, on many cores or machines", declare},
    {"merge", "one table from the tables of a sweep's shards", declare},
    {"capacity", "the largest request rate that meets latency objectives", declare},
    {"sensitivity", "which values of a scenario a figure depends on, and how strongly", declare},
    {"plot", "pictures of runs, traces and sweeps: rooflines, ledgers, timelines, fronts", declare},
}};

}  // namespace

std::span<const Command> python_commands() { return kPython; }

}  // namespace ridgeline::cli
