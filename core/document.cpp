#include "core/document.hpp"

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>

#include "core/error.hpp"

namespace ridgeline::core {
namespace {

constexpr std::size_t kDeepest = 64;      // levels of nesting
constexpr std::size_t kLargest = 1 << 20;  // nodes, aliases expanded: stops documents that blow up when expanded

/// Builds the tree from the parser's events, which carry marks and, unlike yaml-cpp's own tree, both copies of a duplicate key.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const std::string> file) : file_(std::move(file)) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { place(make(mark), anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    Node node = make(mark);
    node.quoted = tag == "!";
    node.kind = (!node.quoted && (value == "~" || value == "null" || value.empty())) ? Node::Kind::null : Node::Kind::scalar;
    node.scalar = value;
    place(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) {
      throw ConfigError(at(mark).text() + ": an alias refers to a value that contains it (cyclic reference)");
    }
    Node copy = it->second;
    count_ += size_of(copy);
    check_size(mark);
    check_depth(mark, stack_.size() + depth_of(copy));
    place(std::move(copy), 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
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
    std::unordered_map<std::string, int> lines;  // of its keys so far
  };

  [[nodiscard]] Position at(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }
  Node make(const YAML::Mark& mark) {
    ++count_;
    check_size(mark);
    Node node;
    node.position = at(mark);
    return node;
  }
  void check_size(const YAML::Mark& mark) const {
    if (count_ > kLargest) throw ConfigError(at(mark).text() + ": the document expands to more than a million values");
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
      if (const auto [first, fresh] = parent.lines.emplace(node.scalar, node.position.line); !fresh) {
        throw ConfigError(node.position.text() + ": " + node.scalar + ": duplicate key; first given at line " +
                          std::to_string(first->second));
      }
      parent.key = node.scalar;
      parent.has_key = true;
    } else {
      parent.node.entries.emplace_back(std::move(parent.key), std::move(node));
      parent.has_key = false;
    }
  }

  std::shared_ptr<const std::string> file_;
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

void give_position(Node& node, const Position& position) {
  node.position = position;
  for (Node& item : node.items) give_position(item, position);
  for (auto& [key, value] : node.entries) give_position(value, position);
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
  if (error || !std::filesystem::exists(status)) throw ConfigError(path.string() + ": no such file");
  if (std::filesystem::is_directory(status)) throw ConfigError(path.string() + ": expected a file, got a directory");
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, error) > limit) {
    throw ConfigError(path.string() + ": larger than " + std::to_string(limit >> 20U) + " MiB");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ConfigError(path.string() + ": cannot be opened for reading");
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

Node parse_yaml(std::string_view text, const std::string& file_name) {
  const auto file = std::make_shared<const std::string>(file_name);
  const bool binary = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  });
  if (binary) throw ConfigError(file_name + ": expected YAML text, got binary data");
  TreeBuilder builder(file);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(builder)) throw ConfigError(file_name + ": the file is empty; expected a YAML document");
    Node root = builder.take();
    if (root.kind == Node::Kind::null) throw ConfigError(file_name + ": the file is empty; expected a YAML document");
    TreeBuilder rest(file);
    if (parser.HandleNextDocument(rest)) throw ConfigError(file_name + ": expected one YAML document, got several");
    return root;
  } catch (const YAML::Exception& e) {
    Position where{file, e.mark.line + 1, e.mark.column + 1};
    if (e.mark.is_null()) where = {file, 0, 0};
    throw ConfigError(where.text() + ": YAML syntax: " + e.msg);
  }
}

Node load_yaml(const std::filesystem::path& path) { return parse_yaml(read_text_file(path), path.string()); }

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

void set_path(Node& root, std::string_view dotted, std::string_view value, const std::string& origin) {
  const Position position{std::make_shared<const std::string>(origin), 0, 0};
  Node parsed;
  if (value.empty()) {
    parsed.kind = Node::Kind::scalar;
  } else {
    parsed = parse_yaml(value, origin);
  }
  give_position(parsed, position);

  Node* at = &root;
  std::string_view rest = dotted;
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string_view key = rest.substr(0, dot);
    if (key.empty()) {
      throw ConfigError(origin + ": expected a dotted key like 'engine.max_num_seqs', got '" + std::string(dotted) + "'");
    }
    if (at->kind == Node::Kind::list) {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
      if (error != std::errc{} || end != key.data() + key.size() || index >= at->items.size()) {
        throw ConfigError(origin + ": " + std::string(dotted) + ": expected a list index below " +
                          std::to_string(at->items.size()) + ", got '" + std::string(key) + "'");
      }
      at = &at->items[index];
    } else {
      if (at->kind != Node::Kind::map) {  // a value becomes a map when something is set inside it
        *at = Node{};
        at->kind = Node::Kind::map;
        at->position = position;
      }
      Node* next = at->find(key);
      if (next == nullptr) {
        at->entries.emplace_back(std::string(key), Node{});
        next = &at->entries.back().second;
        next->position = position;
      }
      at = next;
    }
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
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
