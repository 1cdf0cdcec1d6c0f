#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "core/config_library.hpp"
#include "core/document.hpp"
#include "core/error.hpp"

namespace ridgeline::cli {
namespace {

const std::vector<std::string> kKinds{"hw", "models", "stacks", "scenarios", "cases"};

struct Options {
  std::string kind;
  std::string name;
  bool json = false;
};

std::vector<std::string> names_of(const std::string& kind, const core::ConfigLibrary& library) {
  std::vector<std::string> names = library.names(kind);
  std::erase_if(names, [](const std::string& name) {
    return name.find('.') != std::string::npos;
  });  // a case's evidence
  return names;
}

core::Node open(const std::string& kind, const std::string& name,
                const core::ConfigLibrary& library) {
  return library.load(kind, library.root() / kind / (name + ".yaml"));
}

/// What people call it, where that is not the name of its file.
std::string title_of(const core::Node& document, const std::string& file_name) {
  const core::Node* what = document.find("case");
  const core::Node* title = what != nullptr ? what->find("title") : document.find("name");
  return title == nullptr || title->scalar == file_name ? "" : title->scalar;
}

void print_kind(const std::string& kind, const core::ConfigLibrary& library) {
  const auto names = names_of(kind, library);
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  fmt::print("{}\n", kind);
  for (const std::string& name : names) {
    const std::string title = title_of(open(kind, name, library), name);
    fmt::print("{}\n",
               title.empty() ? "  " + name : fmt::format("  {:<{}}  {}", name, width, title));
  }
}

void require_known(const std::string& what, const std::string& word,
                   const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw core::ConfigError(
      fmt::format("list: unknown {} '{}'{}", what, word, core::suggestion(word, known)));
}

int list(const Options& options) {
  const auto library = core::ConfigLibrary::standard();
  if (!options.kind.empty()) require_known("kind", options.kind, kKinds);
  if (!options.name.empty()) {
    // A model may be asked for by its repository: "Qwen/Qwen3-8B".
    const std::string word = options.name.substr(options.name.rfind('/') + 1);
    const std::string name = library.called(options.kind, word).value_or(options.name);
    require_known("name", name, names_of(options.kind, library));
    if (options.json)
      throw core::ConfigError(
          "list: --json cannot stand beside a name: a configuration is shown as YAML");
    fmt::print("{}", core::to_yaml(open(options.kind, name, library)));
    return kDone;
  }
  nlohmann::ordered_json json;
  for (const std::string& kind : kKinds) {
    if (!options.kind.empty() && kind != options.kind) continue;
    if (options.json) {
      json[kind] = names_of(kind, library);
    } else {
      print_kind(kind, library);
    }
  }
  if (options.json) fmt::print("{}\n", json.dump(2));
  return kDone;
}

}  // namespace

Action declare_list(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("kind", options->kind, "only one kind: hw, models, stacks, scenarios or cases")
      ->type_name("KIND");
  app.add_option("name", options->name, "show this one as YAML, with what it builds on")
      ->type_name("NAME");
  app.add_flag("--json", options->json, "for machines");
  app.footer(
      "\nFor example:\n"
      "  ridgeline list hw            the machines\n"
      "  ridgeline list hw mi300x     one of them, with all its numbers");
  return [options] { return list(*options); };
}

}  // namespace ridgeline::cli
