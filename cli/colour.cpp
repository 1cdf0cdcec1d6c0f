#include "cli/colour.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "core/error.hpp"

namespace ridgeline::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

void add_colour(CLI::App& app, std::string& when) {
  app.add_option("--color", when, "auto: on a terminal, unless NO_COLOR is set or TERM is dumb")
      ->type_name("auto|always|never");
}

bool coloured(const std::string& when) {
  if (when == "always") return true;
  if (when == "never") return false;
  if (when != "auto") {
    throw core::ConfigError(fmt::format("--color: expected one of auto, always, never, got '{}'{}",
                                        when, core::suggestion(when, {"auto", "always", "never"})));
  }
  return ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

}  // namespace ridgeline::cli
