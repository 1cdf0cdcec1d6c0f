#include "cli/arguments.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace ridgeline::cli {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool looks_like_option(const std::string& argument) {
  return argument.size() > 1 && argument.front() == '-';
}

/// Of the program, or of a command that has commands of its own.
std::string about_group(const CLI::App& app, const std::vector<std::string>& rest) {
  if (rest.empty())
    return fmt::format("expected a command, got nothing; known: {}",
                       fmt::join(commands_of(app), ", "));
  const std::string& first = rest.front();
  if (looks_like_option(first))
    return fmt::format("unknown option '{}'{}", first, core::suggestion(first, options_of(app)));
  return fmt::format("unknown command '{}'{}", first, core::suggestion(first, commands_of(app)));
}

/// What CLI11 found wrong with the arguments of a command. An unknown option comes first: it may be
/// why something else is missing.
std::string about_command(const CLI::App& command, const std::string& name,
                          const std::vector<std::string>& rest, const CLI::ParseError& error) {
  for (const std::string& argument : rest) {
    if (looks_like_option(argument))
      return fmt::format("unknown option '{}'{}", argument,
                         core::suggestion(argument, options_of(command)));
  }
  const std::string help = fmt::format("; see 'ridgeline {} --help'", name);
  if (!rest.empty()) return fmt::format("unexpected argument '{}'{}", rest.front(), help);
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_required() && option->count() == 0)
      return fmt::format("expected {}, got nothing{}", option->get_type_name(), help);
  }
  const std::string what = error.what();
  const std::string named =
      what.substr(0, what.find(':'));  // "--set: 1 required KEY=VALUE missing"
  if (const CLI::Option* option = command.get_option_no_throw(named);
      error.get_name() == "ArgumentMismatch" && option != nullptr) {
    return fmt::format("{}: expected {}, got nothing{}", named, option->get_type_name(), help);
  }
  return what + help;
}

}  // namespace

std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    const CLI::App* command = &app;
    std::string name;  // "evidence read"
    while (!command->get_subcommands().empty()) {
      command = command->get_subcommands().front();
      name += (name.empty() ? "" : " ") + command->get_name();
    }
    const std::vector<std::string> rest = command->remaining();
    const std::string what = command->get_require_subcommand_min() == 0
                                 ? about_command(*command, name, rest, error)
                                 : about_group(*command, rest);
    throw core::ConfigError(name.empty() ? what : name + ": " + what);
  }
}

}  // namespace ridgeline::cli
