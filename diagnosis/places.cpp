#include "diagnosis/places.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>

namespace ridgeline::diagnosis {
namespace {

/// "file:line"; files of the library by their path within it, wherever it is installed.
std::string place_of(const core::Position& at, const std::filesystem::path& root) {
  if (!at.file) return "";
  const std::string within =
      std::filesystem::path(*at.file).lexically_relative(root).generic_string();
  const bool inside = !within.empty() && !within.starts_with("..") && within != *at.file;
  const std::string file = inside ? (root.filename() / within).generic_string() : *at.file;
  return at.line > 0 ? fmt::format("{}:{}", file, at.line) : file;
}

const core::Node* down(const core::Node& node, std::string_view dotted) {
  const core::Node* at = &node;
  while (at != nullptr && !dotted.empty()) {
    const std::size_t dot = dotted.find('.');
    at = at->find(dotted.substr(0, dot));
    dotted = dot == std::string_view::npos ? "" : dotted.substr(dot + 1);
  }
  return at;
}

}  // namespace

Places::Places(const core::Node& document, const core::ConfigLibrary& library) {
  const std::function<void(const std::string&, const core::Node&)> walk =
      [&](const std::string& path, const core::Node& node) {
        lines_[path] = place_of(node.position, library.root());
        for (const auto& [key, child] : node.entries)
          walk(path.empty() ? key : path + "." + key, child);
      };
  for (const auto& [key, child] : document.entries) walk(key, child);

  const core::Node* machine = document.find("machine");
  if (machine == nullptr) return;
  if (machine->kind == core::Node::Kind::map && machine->find("base") == nullptr) return;
  const core::Node gpu = library.resolve("hw", *machine, "machine");
  const auto stands_at = [&](const std::string& quantity, const core::Node* node) {
    if (node != nullptr) lines_[quantity] = place_of(node->position, library.root());
  };
  stands_at("machine.hbm_bandwidth", down(gpu, "hbm.bandwidth"));
  stands_at("machine.hbm_capacity", down(gpu, "hbm.capacity"));
  if (const core::Node* peak = gpu.find("peak")) {
    for (const auto& [dtype, rate] : peak->entries) stands_at("machine.peak." + dtype, &rate);
  }
}

std::string Places::of(std::string_view quantity) const {
  for (;;) {
    if (const auto it = lines_.find(quantity); it != lines_.end()) return it->second;
    const std::size_t dot = quantity.rfind('.');
    if (dot == std::string_view::npos) break;
    quantity = quantity.substr(0, dot);
  }
  return "";
}

}  // namespace ridgeline::diagnosis
