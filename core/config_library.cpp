#include "core/config_library.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"

#ifndef RIDGELINE_CONFIG_ROOT
#define RIDGELINE_CONFIG_ROOT "configs"
#endif

namespace ridgeline::core {
namespace {

bool looks_like_path(const std::string& reference) {
  return reference.find('/') != std::string::npos || reference.ends_with(".yaml") || reference.ends_with(".yml");
}

}  // namespace

std::filesystem::path path_from(const Node& scalar) {
  const std::filesystem::path path = scalar.scalar;
  if (path.is_absolute() || scalar.position.line == 0 || !scalar.position.file) return path;
  return std::filesystem::path(*scalar.position.file).parent_path() / path;
}

ConfigLibrary ConfigLibrary::standard() {
  if (const char* root = std::getenv("RIDGELINE_CONFIGS"); root != nullptr && *root != '\0') return ConfigLibrary{root};
  return ConfigLibrary{RIDGELINE_CONFIG_ROOT};
}

Node ConfigLibrary::resolve(std::string_view kind, const Node& reference) const {
  Chain chain;
  return resolve(kind, reference, chain);
}

Node ConfigLibrary::load(std::string_view kind, const std::filesystem::path& file) const {
  Chain chain;
  return load(kind, file, Position{}, chain);
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

Node ConfigLibrary::resolve(std::string_view kind, const Node& reference, Chain& chain) const {
  if (reference.kind == Node::Kind::scalar) {
    if (looks_like_path(reference.scalar)) return load(kind, path_from(reference), reference.position, chain);
    const auto known = names(kind);
    if (std::find(known.begin(), known.end(), reference.scalar) == known.end()) {
      throw ConfigError(reference.position.text() + ": " + std::string(kind) + ": unknown name '" + reference.scalar + "'" +
                        suggestion(reference.scalar, known));
    }
    return load(kind, root_ / kind / (reference.scalar + ".yaml"), reference.position, chain);
  }
  if (reference.kind != Node::Kind::map) {
    throw ConfigError(reference.position.text() + ": " + std::string(kind) + ": expected a name, a path or a map, got " +
                      reference.describe());
  }
  const Node* base = reference.find("base");
  if (base == nullptr) return reference;
  Node top = reference;
  std::erase_if(top.entries, [](const auto& entry) { return entry.first == "base"; });
  Node whole = overlay(resolve(kind, *base, chain), top);
  whole.position = reference.position;
  return whole;
}

Node ConfigLibrary::load(std::string_view kind, const std::filesystem::path& file, const Position& from, Chain& chain) const {
  std::error_code error;
  const std::string identity = std::filesystem::weakly_canonical(file, error).string();
  if (std::find(chain.begin(), chain.end(), identity) != chain.end()) {
    std::string text;
    for (const std::string& link : chain) text += std::filesystem::path(link).filename().string() + " -> ";
    throw ConfigError(from.text() + ": base: cyclic reference: " + text + file.filename().string());
  }
  chain.push_back(identity);
  Node whole = [&] {
    if (from.file && !std::filesystem::exists(file, error)) {
      throw ConfigError(from.text() + ": " + std::string(kind) + ": no such file: " + file.string());
    }
    return resolve(kind, load_yaml(file), chain);
  }();
  chain.pop_back();
  return whole;
}

}  // namespace ridgeline::core
