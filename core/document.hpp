#pragma once
// YAML documents that remember where each value stood, so that an error about a value can point at
// it: file:line:column. A document is a plain tree; files may build on one another (`overlay`), and
// a value keeps the position of the file it came from.
//
// Stricter than YAML where YAML is careless: a duplicate key is an error, an alias that contains
// itself is an error, and no scalar is given a type before somebody asks for one (so `010` is ten,
// and `no` is a word).

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridgeline::core {

struct Position {
  std::shared_ptr<const std::string>
      file;        // what the reader of an error calls it: a path, or "--set"
  int line = 0;    // from 1; 0 when there is no line to point at
  int column = 0;  // from 1

  /// "file:line:column", or as much of it as is known.
  [[nodiscard]] std::string text() const;
};

struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string scalar;
  bool quoted = false;
  std::vector<Node> items;                            // of a list
  std::vector<std::pair<std::string, Node>> entries;  // of a map, in file order
  Position position;        // of a value that is not written (`key:`): its key's
  Position key_position{};  // of a map's value: where its key stands

  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
  /// "a list", "the text 'abc'": how an error names what it found.
  [[nodiscard]] std::string describe() const;
};

/// The text of a file. Errors (ConfigError, naming the file): missing, a directory, unreadable,
/// larger than `limit`, which is counted while reading, since a device or a pipe has no size.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path,
                                         std::uintmax_t limit = 256U << 20U);

/// One YAML document. Errors (ConfigError, with position): syntax, duplicate key, cyclic alias,
/// several documents, not UTF-8, unreasonably deep or large. An empty document is an error too:
/// nobody means one.
[[nodiscard]] Node parse_yaml(std::string_view text, const std::string& file_name);
[[nodiscard]] Node load_yaml(const std::filesystem::path& path);

/// `base` with `top` laid over it: maps merge key by key, anything else in `top` replaces what was
/// there.
[[nodiscard]] Node overlay(Node base, const Node& top);

/// Sets the value at a dotted path ("engine.max_num_seqs"), creating maps on the way; list items by
/// index ("free.0"). `value` is read as YAML, so that "[1, 2]" and "{a: 1}" work; nothing ("null")
/// takes the key away, as if nobody had written it. `origin` is what errors about it will call its
/// file, without lines.
void set_path(Node& root, std::string_view dotted, std::string_view value,
              const std::string& origin);

/// The document as YAML text that parses back to the same tree.
[[nodiscard]] std::string to_yaml(const Node& node);

}  // namespace ridgeline::core
