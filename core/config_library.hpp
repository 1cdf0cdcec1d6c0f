#pragma once
// Configurations that build on one another. A reference to a configuration is
//   a name    hw: mi300x                      -> <root>/hw/mi300x.yaml
//   a path    hw: ./my_gpu.yaml               -> relative to the file that says so (to the working
//   directory from --set) a map     hw: {base: mi300x, hbm: {…}}    -> the base, with the map laid
//   over it
// and a file may itself begin with `base:`. A chain that comes back to itself is an error that
// shows the chain. A name is that of the file, or what people write: the `name:` and the `aliases:`
// that the file itself gives (those of its base are the base's), in any spelling
// (core/spelling.hpp).

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/document.hpp"

namespace ridgeline::core {

class ConfigLibrary {
 public:
  explicit ConfigLibrary(std::filesystem::path root) : root_(std::move(root)) {}

  /// The library that ships with the program: $RIDGELINE_CONFIGS if set, else the folder that
  /// `install` named, else the one of the source tree it was built in. ConfigError when there is
  /// none.
  [[nodiscard]] static ConfigLibrary standard();
  /// Says where an installed program has its configurations. Not while others call `standard`.
  static void install(std::filesystem::path root);

  /// The whole document that `reference` means, bases resolved. `kind` is the folder: "hw",
  /// "models", "stacks", "scenarios"; `key` is what the reference stands at ("model"), for errors,
  /// and the folder's name if left out.
  [[nodiscard]] Node resolve(std::string_view kind, const Node& reference,
                             std::string_view key = {}) const;
  /// A file, which holds a map, with its bases resolved.
  [[nodiscard]] Node load(std::string_view kind, const std::filesystem::path& file) const;

  /// Names known for a kind, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view kind) const;
  /// Every word that names a configuration of a kind, with that configuration's name: first the
  /// names themselves, then titles and aliases.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> words(std::string_view kind) const;
  /// The name of the configuration that a word means; nothing if none.
  [[nodiscard]] std::optional<std::string> called(std::string_view kind,
                                                  const std::string& word) const;
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  struct Reference {  // what is being resolved: for errors, and to stop at a chain that comes back
                      // to itself
    std::string_view kind;
    std::string_view key;
    std::vector<std::string> chain{};
  };
  [[nodiscard]] Node resolve(const Node& node, Reference& reference) const;
  [[nodiscard]] Node load(const std::filesystem::path& file, const Position& from,
                          Reference& reference) const;
  [[nodiscard]] std::string suggestion_for(const std::string& word,
                                           const Reference& reference) const;

  std::filesystem::path root_;
};

/// Whether a reference is a path rather than a name: it has a folder, or ends like a YAML file.
[[nodiscard]] bool is_path(std::string_view reference);

/// A path written in a document, seen from the working directory: relative to the document's own
/// folder.
[[nodiscard]] std::filesystem::path path_from(const Node& scalar);

}  // namespace ridgeline::core
