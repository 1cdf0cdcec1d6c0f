#pragma once
// Configurations that build on one another. A reference to a configuration is
//   a name    hw: mi300x                      -> <root>/hw/mi300x.yaml
//   a path    hw: ./my_gpu.yaml               -> relative to the file that says so (to the working directory from --set)
//   a map     hw: {base: mi300x, hbm: {…}}    -> the base, with the map laid over it
// and a file may itself begin with `base:`. A chain that comes back to itself is an error that shows the chain.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/document.hpp"

namespace ridgeline::core {

class ConfigLibrary {
 public:
  explicit ConfigLibrary(std::filesystem::path root) : root_(std::move(root)) {}

  /// The library that ships with the program: $RIDGELINE_CONFIGS if set, else the folder it was built or installed with.
  [[nodiscard]] static ConfigLibrary standard();

  /// The whole document that `reference` means, bases resolved. `kind` is the folder: "hw", "models", "stacks", "scenarios".
  [[nodiscard]] Node resolve(std::string_view kind, const Node& reference) const;
  /// A file with its bases resolved.
  [[nodiscard]] Node load(std::string_view kind, const std::filesystem::path& file) const;

  /// Names known for a kind, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view kind) const;
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  using Chain = std::vector<std::string>;
  [[nodiscard]] Node resolve(std::string_view kind, const Node& reference, Chain& chain) const;
  [[nodiscard]] Node load(std::string_view kind, const std::filesystem::path& file, const Position& from, Chain& chain) const;

  std::filesystem::path root_;
};

/// A path written in a document, seen from the working directory: relative to the document's own folder.
[[nodiscard]] std::filesystem::path path_from(const Node& scalar);

}  // namespace ridgeline::core
