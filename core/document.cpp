#include "core/document.hpp"

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace ridgeline::core {
namespace {

constexpr std::size_t kDeepest = 64;  // levels of nesting
constexpr std::size_t kLargest =
    1 << 20;  // nodes, aliases expanded: stops documents that blow up when expanded

/// What is read, and what its errors call it.
struct Source {
  std::shared_ptr<const std::string> name;
  bool has_lines = true;  // a value of the command line has none that anybody counts

  [[nodiscard]] Position at(int line, int column) const {
    return has_lines ? Position{name, line, column} : Position{name, 0, 0};
  }
  [[nodiscard]] Position at(const YAML::Mark& mark) const {
    return mark.is_null() ? Position{name, 0, 0} : at(mark.line + 1, mark.column + 1);
  }
};

/// Builds the tree from the parser's events, which carry marks and, unlike yaml-cpp's own tree,
/// both copies of a duplicate key.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Source source) : source_(std::move(source)) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { place(make(mark), anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(mark);
    node.quoted = tag == "!";
    node.kind = (!node.quoted && (value == "~" || value == "null" || value.empty()))
                    ? Node::Kind::null
                    : Node::Kind::scalar;
    node.scalar = value;
    place(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) {
      throw ConfigError(at(mark).text() +
                        ": an alias refers to a value that contains it (cyclic reference)");
    }
    Node copy = it->second;
    count_ += size_of(copy);
    check_size(mark);
    check_depth(mark, stack_.size() + depth_of(copy));
    place(std::move(copy), 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    Position key_position;
    std::unordered_map<std::string, int> lines;  // of its keys so far
  };

  [[nodiscard]] Position at(const YAML::Mark& mark) const { return source_.at(mark); }
  /// The dotted path of what is being read, `key` last.
  [[nodiscard]] std::string path_to(const std::string& key) const {
    std::string path;
    for (auto it = stack_.begin(); it + 1 != stack_.end(); ++it) {
      if (it->node.kind == Node::Kind::list) {
        path += "[" + std::to_string(it->node.items.size()) + "]";
      } else {
        path += (path.empty() ? "" : ".") + it->key;
      }
    }
    return path.empty() ? key : path + "." + key;
  }
  Node make(const YAML::Mark& mark) {
    ++count_;
    check_size(mark);
    Node node;
    node.position = at(mark);
    return node;
  }
  void check_size(const YAML::Mark& mark) const {
    if (count_ > kLargest)
      throw ConfigError(at(mark).text() + ": the document expands to more than a million values");
  }
  static std::size_t size_of(const Node& node) {
    std::size_t n = 1;
    for (const Node& item : node.items) n += size_of(item);
    for (const auto& [key, value] : node.entries) n += size_of(value);
    return n;
  }
  void check_depth(const YAML::Mark& mark, std::size_t depth) const {
    if (depth > kDeepest) throw ConfigError(at(mark).text() + ": nested more than 64 levels deep");
  }
  static std::size_t depth_of(const Node& node) {
    std::size_t below = 0;
    for (const Node& item : node.items) below = std::max(below, depth_of(item));
    for (const auto& [key, value] : node.entries) below = std::max(below, depth_of(value));
    return node.items.empty() && node.entries.empty() ? 0 : below + 1;
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    check_depth(mark, stack_.size() + 1);
    Open opened;
    opened.node = make(mark);
    opened.node.kind = kind;
    opened.anchor = anchor;
    stack_.push_back(std::move(opened));
  }
  void close() {
    Open closed = std::move(stack_.back());
    stack_.pop_back();
    place(std::move(closed.node), closed.anchor);
  }
  void place(Node node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = node;
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      if (node.kind != Node::Kind::scalar) {
        throw ConfigError(node.position.text() + ": expected a key, got " + node.describe());
      }
      if (const auto [first, fresh] = parent.lines.emplace(node.scalar, node.position.line);
          !fresh) {
        throw ConfigError(node.position.text() + ": " + path_to(node.scalar) +
                          ": duplicate key; first given at line " + std::to_string(first->second));
      }
      parent.key = node.scalar;
      parent.key_position = node.position;
      parent.has_key = true;
    } else {
      node.key_position = parent.key_position;
      if (node.kind == Node::Kind::null)
        node.position = parent.key_position;  // nothing stands nowhere
      parent.node.entries.emplace_back(std::move(parent.key), std::move(node));
      parent.has_key = false;
    }
  }

  Source source_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, Node> anchors_;
  Node root_;
  std::size_t count_ = 0;
};

void emit(YAML::Emitter& out, const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      out << YAML::Null;
      return;
    case Node::Kind::scalar:
      if (node.quoted) out << YAML::DoubleQuoted;
      out << node.scalar;
      return;
    case Node::Kind::list:
      out << YAML::BeginSeq;
      for (const Node& item : node.items) emit(out, item);
      out << YAML::EndSeq;
      return;
    case Node::Kind::map:
      out << YAML::BeginMap;
      for (const auto& [key, value] : node.entries) {
        out << YAML::Key << key << YAML::Value;
        emit(out, value);
      }
      out << YAML::EndMap;
      return;
  }
}

/// Where the text stops being text, as a sentence.
void require_text(std::string_view text, const Source& source) {
  const bool binary = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  });
  if (binary) throw ConfigError(*source.name + ": expected YAML text, got binary data");
  const std::size_t bad = first_byte_not_utf8(text);
  if (bad == text.size()) return;
  const std::string_view before = text.substr(0, bad);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0: on the first line
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(text[bad]);
  throw ConfigError(
      source.at(static_cast<int>(line), static_cast<int>(bad - line_begin) + 1).text() +
      ": expected UTF-8 text, got the byte 0x" + kDigits[byte >> 4U] + kDigits[byte & 15U]);
}

/// Where a line up to `last` (from 1) has a tab in its indentation: most likely what a syntax error
/// there is about, and never what yaml-cpp says it is about.
std::optional<Position> tab_in_indentation(std::string_view text, const Source& source, int last) {
  std::size_t begin = 0;
  for (int line = 1; line <= last && begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t indented = std::min(text.find_first_not_of(" \t\r", begin), end);
    const std::size_t tab = text.find('\t', begin);
    if (tab < indented && indented < end) return source.at(line, static_cast<int>(tab - begin) + 1);
    begin = end + 1;
  }
  return std::nullopt;
}

/// The one document of a text; a null node when it holds nothing.
Node parse(std::string_view text, const Source& source) {
  require_text(text, source);
  TreeBuilder builder(source);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(builder)) return {};
    Node root = builder.take();
    TreeBuilder rest(source);
    if (parser.HandleNextDocument(rest))
      throw ConfigError(*source.name + ": expected one YAML document, got several");
    return root;
  } catch (const YAML::Exception& e) {
    if (const auto tab = tab_in_indentation(text, source, e.mark.line + 1)) {
      throw ConfigError(tab->text() +
                        ": YAML syntax: a tab in the indentation; YAML indents by spaces");
    }
    throw ConfigError(source.at(e.mark).text() + ": YAML syntax: " + e.msg);
  }
}

}  // namespace

std::string Position::text() const {
  std::string out = file ? *file : std::string("input");
  if (line > 0) out += ":" + std::to_string(line) + ":" + std::to_string(column);
  return out;
}

const Node* Node::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

std::string Node::describe() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar: {
      constexpr std::size_t kShown = 60;
      return scalar.size() <= kShown ? "'" + scalar + "'" : "'" + scalar.substr(0, kShown) + "...'";
    }
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  throw InvariantError("unknown kind of node");
}

std::string read_text_file(const std::filesystem::path& path, std::uintmax_t limit) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status))
    throw ConfigError(path.string() + ": no such file");
  if (std::filesystem::is_directory(status))
    throw ConfigError(path.string() + ": expected a file, got a directory");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ConfigError(path.string() + ": cannot be opened for reading");
  std::string text;
  std::vector<char> block(std::size_t{1} << 20U);
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > limit)
      throw ConfigError(path.string() + ": larger than " + std::to_string(limit >> 20U) + " MiB");
  }
  if (in.bad()) throw ConfigError(path.string() + ": cannot be read to its end");
  return text;
}

Node parse_yaml(std::string_view text, const std::string& file_name) {
  Node root = parse(text, {std::make_shared<const std::string>(file_name)});
  if (root.kind == Node::Kind::null)
    throw ConfigError(file_name + ": the file is empty; expected a YAML document");
  return root;
}

Node load_yaml(const std::filesystem::path& path) {
  return parse_yaml(read_text_file(path), path.string());
}

Node overlay(Node base, const Node& top) {
  if (base.kind != Node::Kind::map || top.kind != Node::Kind::map) return top;
  for (const auto& [key, value] : top.entries) {
    if (Node* existing = base.find(key)) {
      *existing = overlay(std::move(*existing), value);
    } else {
      base.entries.emplace_back(key, value);
    }
  }
  return base;
}

void set_path(Node& root, std::string_view dotted, std::string_view value,
              const std::string& origin) {
  const Source source{std::make_shared<const std::string>(origin), false};
  const Position position = source.at(0, 0);
  Node parsed;
  if (value.empty()) {
    parsed.kind = Node::Kind::scalar;
    parsed.position = position;
  } else {
    parsed = parse(value, source);
  }
  parsed.key_position = position;

  Node* at = &root;
  Node* parent = nullptr;  // a map
  std::string_view rest = dotted;
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string_view key = rest.substr(0, dot);
    if (key.empty()) {
      throw ConfigError(origin + ": expected a dotted key like 'engine.max_num_seqs', got '" +
                        std::string(dotted) + "'");
    }
    if (at->kind == Node::Kind::list) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      if (error != std::errc{} || end != key.data() + key.size() || index >= at->items.size()) {
        throw ConfigError(origin + ": " + std::string(dotted) + ": expected a list index below " +
                          std::to_string(at->items.size()) + ", got '" + std::string(key) + "'");
      }
      at = &at->items[index];
      parent = nullptr;
    } else {
      if (at->kind != Node::Kind::map) {  // a value becomes a map when something is set inside it
        *at = Node{};
        at->kind = Node::Kind::map;
        at->position = at->key_position = position;
      }
      Node* next = at->find(key);
      if (next == nullptr) {
        at->entries.emplace_back(std::string(key), Node{});
        next = &at->entries.back().second;
        next->position = next->key_position = position;
      }
      parent = at;
      at = next;
    }
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (parsed.kind == Node::Kind::null && parent != nullptr) {
    std::erase_if(parent->entries, [at](const auto& entry) { return &entry.second == at; });
    return;
  }
  *at = std::move(parsed);
}

std::string to_yaml(const Node& node) {
  YAML::Emitter out;
  out.SetIndent(2);
  emit(out, node);
  return std::string(out.c_str()) + "\n";
}

}  // namespace ridgeline::core
