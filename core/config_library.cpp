#include "core/config_library.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"
#include "core/spelling.hpp"

#ifndef RIDGELINE_CONFIG_ROOT
#define RIDGELINE_CONFIG_ROOT ""  // known only once it is installed
#endif

namespace ridgeline::core {
namespace {

std::filesystem::path& shipped_root() {
  static std::filesystem::path root{RIDGELINE_CONFIG_ROOT};
  return root;
}

}  // namespace

bool is_path(std::string_view reference) {
  return reference.find('/') != std::string_view::npos || reference.ends_with(".yaml") ||
         reference.ends_with(".yml");
}

std::filesystem::path path_from(const Node& scalar) {
  const std::filesystem::path path = scalar.scalar;
  if (path.is_absolute() || scalar.position.line == 0 || !scalar.position.file) return path;
  return std::filesystem::path(*scalar.position.file).parent_path() / path;
}

ConfigLibrary ConfigLibrary::standard() {
  const char* chosen = std::getenv("RIDGELINE_CONFIGS");
  std::error_code error;
  if (chosen == nullptr || *chosen == '\0') {
    if (!std::filesystem::is_directory(shipped_root(), error)) {
      throw ConfigError("the configurations that ship with the program are not at '" +
                        shipped_root().string() +
                        "': install it again, or set RIDGELINE_CONFIGS to a folder of them");
    }
    return ConfigLibrary{shipped_root()};
  }
  if (!std::filesystem::is_directory(chosen, error)) {
    throw ConfigError(std::string("RIDGELINE_CONFIGS: no such directory: ") + chosen);
  }
  return ConfigLibrary{chosen};
}

void ConfigLibrary::install(std::filesystem::path root) { shipped_root() = std::move(root); }

Node ConfigLibrary::resolve(std::string_view kind, const Node& node, std::string_view key) const {
  Reference reference{kind, key.empty() ? kind : key};
  return resolve(node, reference);
}

Node ConfigLibrary::load(std::string_view kind, const std::filesystem::path& file) const {
  Reference reference{kind, kind};
  return load(file, Position{}, reference);
}

std::vector<std::string> ConfigLibrary::names(std::string_view kind) const {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root_ / kind, error)) {
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::pair<std::string, std::string>> ConfigLibrary::words(std::string_view kind) const {
  std::vector<std::pair<std::string, std::string>> out;
  const std::vector<std::string> files = names(kind);
  for (const std::string& name : files) out.emplace_back(name, name);
  for (const std::string& name : files) {
    const Node own = load_yaml(root_ / kind / (name + ".yaml"));
    if (const Node* title = own.find("name")) out.emplace_back(title->scalar, name);
    const Node* aliases = own.find("aliases");
    if (aliases == nullptr) continue;
    for (const Node& alias : aliases->items) out.emplace_back(alias.scalar, name);
  }
  return out;
}

std::optional<std::string> ConfigLibrary::called(std::string_view kind,
                                                 const std::string& word) const {
  const std::vector<std::string> files = names(kind);
  if (std::find(files.begin(), files.end(), word) != files.end()) return word;
  const std::string wanted = plain(word);
  if (wanted.empty()) return std::nullopt;
  for (const auto& [known, name] : words(kind)) {
    if (plain(known) == wanted) return name;
  }
  return std::nullopt;
}

Node ConfigLibrary::resolve(const Node& node, Reference& reference) const {
  const auto fail = [&](const std::string& sentence) {
    throw ConfigError(node.position.text() + ": " + std::string(reference.key) + ": " + sentence);
  };
  if (node.kind == Node::Kind::scalar) {
    if (is_path(node.scalar)) return load(path_from(node), node.position, reference);
    const auto name = called(reference.kind, node.scalar);
    if (!name) fail("unknown name '" + node.scalar + "'" + suggestion_for(node.scalar, reference));
    return load(root_ / reference.kind / (*name + ".yaml"), node.position, reference);
  }
  if (node.kind != Node::Kind::map)
    fail("expected a name, a path or a map, got " + node.describe());
  const Node* base = node.find("base");
  if (base == nullptr) return node;
  Node top = node;
  std::erase_if(top.entries, [](const auto& entry) { return entry.first == "base"; });
  Node whole = overlay(resolve(*base, reference), top);
  whole.position = node.position;
  return whole;
}

/// The nearest of all words, or the list of names: aliases would make it unreadable.
std::string ConfigLibrary::suggestion_for(const std::string& word,
                                          const Reference& reference) const {
  std::vector<std::string> known;
  for (auto& [spelling, name] : words(reference.kind)) known.push_back(std::move(spelling));
  if (nearest_name(word, known).empty()) known = names(reference.kind);
  return suggestion(word, known);
}

Node ConfigLibrary::load(const std::filesystem::path& file, const Position& from,
                         Reference& reference) const {
  std::error_code error;
  auto& chain = reference.chain;
  const std::string identity = std::filesystem::weakly_canonical(file, error).string();
  if (std::find(chain.begin(), chain.end(), identity) != chain.end()) {
    std::string text;
    for (const std::string& link : chain)
      text += std::filesystem::path(link).filename().string() + " -> ";
    throw ConfigError(from.text() + ": base: cyclic reference: " + text + file.filename().string());
  }
  if (from.file && !std::filesystem::exists(file, error)) {
    throw ConfigError(from.text() + ": " + std::string(reference.key) +
                      ": no such file: " + file.string());
  }
  chain.push_back(identity);
  const Node document = load_yaml(file);
  if (document.kind != Node::Kind::map) {
    throw ConfigError(document.position.text() + ": document: expected a map, got " +
                      document.describe());
  }
  Node whole = resolve(document, reference);
  chain.pop_back();
  return whole;
}

}  // namespace ridgeline::core
