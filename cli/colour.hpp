#pragma once
// Whether an answer on standard output is coloured.

#include <string>

#include "cli/command.hpp"

namespace ridgeline::cli {

/// Adds `--color auto|always|never`.
void add_colour(CLI::App& app, std::string& when);

/// "auto": on a terminal, unless $NO_COLOR is set (https://no-color.org) or $TERM is "dumb".
[[nodiscard]] bool coloured(const std::string& when);

}  // namespace ridgeline::cli
