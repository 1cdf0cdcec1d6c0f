#include "workloads/model_reference.hpp"

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "workloads/hf_config.hpp"

namespace ridgeline::workloads {
namespace {

using core::Node;

/// The model's name in "Qwen/Qwen2.5-7B-Instruct", as hubs write it: one slash, no ending of a
/// file.
std::string_view repository_of(std::string_view reference) {
  const std::size_t slash = reference.find('/');
  const bool one = slash != std::string_view::npos && slash == reference.rfind('/');
  if (!one || reference.starts_with('.') || slash == 0 || reference.ends_with(".yaml") ||
      reference.ends_with(".yml"))
    return "";
  return reference.substr(slash + 1);
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
  const std::string_view repository = repository_of(reference.scalar);
  if (!repository.empty() && !std::filesystem::exists(path, error)) {
    Node named = reference;
    named.scalar = repository;
    return library.resolve("models", named, key);
  }
  return library.resolve("models", reference, key);
}

}  // namespace ridgeline::workloads
