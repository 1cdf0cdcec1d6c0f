#include "workloads/model_reference.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "workloads/hf_config.hpp"

namespace ridgeline::workloads {
namespace {

using core::Node;

/// Letters and digits alone, small, without the organisation before a slash.
std::string bare(std::string_view name) {
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  std::string out;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0) out += static_cast<char>(std::tolower(u));
  }
  return out;
}

/// The shipped model that a word means by its alias or in other letters, if exactly that.
std::optional<std::string> model_called(const core::ConfigLibrary& library,
                                        const std::string& word) {
  const std::string wanted = bare(word);
  if (wanted.empty()) return std::nullopt;
  const std::vector<std::string> names = library.names("models");
  for (const std::string& name : names) {
    if (bare(name) == wanted) return name;
  }
  for (const std::string& name : names) {
    const Node document = core::load_yaml(library.root() / "models" / (name + ".yaml"));
    const Node* title = document.find("name");
    if (title != nullptr && bare(title->scalar) == wanted) return name;
    const Node* aliases = document.find("aliases");
    if (aliases == nullptr) continue;
    for (const Node& alias : aliases->items) {
      if (bare(alias.scalar) == wanted) return name;
    }
  }
  return std::nullopt;
}

}  // namespace

Node resolve_model(const core::ConfigLibrary& library, const Node& reference,
                   std::string_view key) {
  if (reference.kind == Node::Kind::map) {
    const Node* base = reference.find("base");
    if (base == nullptr) return library.resolve("models", reference, key);
    Node top = reference;
    std::erase_if(top.entries, [](const auto& entry) { return entry.first == "base"; });
    Node whole = core::overlay(resolve_model(library, *base, key), top);
    whole.position = reference.position;
    return whole;
  }
  if (reference.kind != Node::Kind::scalar) return library.resolve("models", reference, key);

  const std::filesystem::path path = core::path_from(reference);
  std::error_code error;
  // A plain word is a name, whatever folder of that name there is.
  const bool may_be_path = core::is_path(reference.scalar) || path.extension() == ".json";
  if (may_be_path && is_hf_config(path)) {
    if (!std::filesystem::exists(path, error)) {
      throw core::ConfigError(reference.position.text() + ": " + std::string(key) +
                              ": no such file: " + path.string());
    }
    return hf_model_document(path);
  }
  const std::vector<std::string> names = library.names("models");
  const bool is_name = std::find(names.begin(), names.end(), reference.scalar) != names.end();
  if (!is_name && !std::filesystem::exists(path, error)) {
    if (const auto called = model_called(library, reference.scalar)) {
      Node named = reference;
      named.scalar = *called;
      return library.resolve("models", named, key);
    }
  }
  return library.resolve("models", reference, key);
}

}  // namespace ridgeline::workloads
