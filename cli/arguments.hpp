#pragma once
// The command line, and what is wrong with it in this program's words: one sentence, with the
// nearest name.

#include <optional>

#include <CLI/CLI.hpp>

namespace ridgeline::cli {

/// Parses the command line. The exit code when nothing is left to do (--help, --version), else
/// nothing. ConfigError for a command line that is wrong.
[[nodiscard]] std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv);

}  // namespace ridgeline::cli
