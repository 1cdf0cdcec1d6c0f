#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "core/config_library.hpp"
#include "core/error.hpp"

namespace ridgeline::cli {
namespace {

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> names{"hw", "models", "stacks", "scenarios", "cases"};
  return names;
}

int list(const std::string& kind, bool json) {
  const auto library = core::ConfigLibrary::standard();
  nlohmann::ordered_json out;
  for (const std::string& each : kinds()) {
    if (!kind.empty() && kind != each) continue;
    std::vector<std::string> names = library.names(each);
    std::erase_if(names, [](const std::string& name) { return name.find('.') != std::string::npos; });  // a case's evidence
    out[each] = names;
    if (!json) fmt::print("{}\n  {}\n", each, fmt::join(names, "\n  "));
  }
  if (json) fmt::print("{}\n", out.dump(2));
  return kDone;
}

}  // namespace

Action declare_list(CLI::App& app) {
  struct Options {
    std::string kind;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  app.add_option("kind", options->kind, "only one kind: hw, models, stacks, scenarios or cases")->check(CLI::IsMember(kinds()));
  app.add_flag("--json", options->json, "for machines");
  return [options] { return list(options->kind, options->json); };
}

}  // namespace ridgeline::cli
