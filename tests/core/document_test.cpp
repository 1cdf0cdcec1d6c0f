#include "core/document.hpp"

#include <catch2/catch.hpp>

#include "core/random.hpp"
#include "tests/core/fixtures.hpp"

namespace {

using namespace ridgeline::core;  // NOLINT: a test of this one folder
using ridgeline::tests::error_of;
using ridgeline::tests::TemporaryFolder;

std::string parse_error(std::string_view text) {
  return error_of([&] { static_cast<void>(parse_yaml(text, "f.yaml")); });
}

bool same_tree(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.scalar != b.scalar || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size())
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!same_tree(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].first != b.entries[i].first ||
        !same_tree(a.entries[i].second, b.entries[i].second))
      return false;
  }
  return true;
}

TEST_CASE("Every value of a document knows where it stood", "[core][document]") {
  const Node root = parse_yaml("hbm:\n  capacity: 192 GB\n  list: [a, b]\nname: x\n", "m.yaml");
  REQUIRE(root.kind == Node::Kind::map);
  const Node* capacity = root.find("hbm")->find("capacity");
  REQUIRE(capacity != nullptr);
  CHECK(capacity->scalar == "192 GB");
  CHECK(capacity->position.text() == "m.yaml:2:13");
  CHECK(root.find("hbm")->find("list")->items[1].position.text() == "m.yaml:3:13");
  CHECK(root.find("name")->position.text() == "m.yaml:4:7");
  CHECK(root.find("name")->key_position.text() == "m.yaml:4:1");
  CHECK(parse_yaml("{a: 1, b: }", "m.yaml").find("b")->position.text() ==
        "m.yaml:1:8");  // nothing stands at its key
  CHECK(root.find("nowhere") == nullptr);
  CHECK(Position{}.text() == "input");
}

TEST_CASE("No scalar has a type before somebody asks", "[core][document]") {
  const Node root =
      parse_yaml("{a: 010, b: no, c: 1e3, d: '5', e: ~, f: , g: null, h: 'null'}", "f.yaml");
  CHECK(root.find("a")->scalar == "010");
  CHECK(root.find("b")->scalar == "no");
  CHECK(root.find("c")->scalar == "1e3");
  CHECK((root.find("d")->scalar == "5" && root.find("d")->quoted));
  CHECK(root.find("e")->kind == Node::Kind::null);
  CHECK(root.find("f")->kind == Node::Kind::null);
  CHECK(root.find("g")->kind == Node::Kind::null);
  CHECK(root.find("h")->kind == Node::Kind::scalar);
}

TEST_CASE("A document that is none says what is wrong and where", "[core][document]") {
  CHECK(parse_error("") == "f.yaml: the file is empty; expected a YAML document");
  CHECK(parse_error("# only a comment\n") == "f.yaml: the file is empty; expected a YAML document");
  CHECK(parse_error("~") == "f.yaml: the file is empty; expected a YAML document");
  CHECK(parse_error(std::string_view("\x7f"
                                     "ELF\x02\x01\0",
                                     7)) == "f.yaml: expected YAML text, got binary data");
  CHECK(parse_error("a: 1\nb: 2\na: 3\n") == "f.yaml:3:1: a: duplicate key; first given at line 1");
  CHECK(parse_error("x: {a: 1, a: 1}\n") ==
        "f.yaml:1:11: x.a: duplicate key; first given at line 1");
  CHECK(parse_error("l: [{b: 1}, {b: 1, b: 2}]\n") ==
        "f.yaml:1:20: l[1].b: duplicate key; first given at line 1");
  CHECK(parse_error("a: &x [1, *x]\n") ==
        "f.yaml:1:11: an alias refers to a value that contains it (cyclic reference)");
  CHECK(parse_error("a: 1\n---\nb: 2\n") == "f.yaml: expected one YAML document, got several");
  CHECK(parse_error("? [1]\n: 2\n") == "f.yaml:1:3: expected a key, got a list");
  CHECK(parse_error("? {a: 1}\n: 2\n") == "f.yaml:1:3: expected a key, got a map");
  CHECK(parse_error("~: 2\n") == "f.yaml:1:1: expected a key, got nothing");
  CHECK(parse_error("a: *nobody\n") ==
        "f.yaml:1:4: YAML syntax: the referenced anchor is not defined");
  CHECK(parse_error("a: [1, 2\n") == "f.yaml:2:1: YAML syntax: end of sequence flow not found");
  CHECK(parse_error("a: 1\n b: 2\n") == "f.yaml:2:3: YAML syntax: illegal map value");
  CHECK(parse_error("a:\n  b: 1\n\tc: 2\n") ==
        "f.yaml:3:1: YAML syntax: a tab in the indentation; YAML indents by spaces");
  CHECK(parse_error("a: 1\nb: \xff\n") == "f.yaml:2:4: expected UTF-8 text, got the byte 0xff");
}

TEST_CASE("A document nests 64 levels deep and not 65", "[core][document]") {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  CHECK(parse_error(nested(64)).empty());
  CHECK(parse_error(nested(65)) == "f.yaml:1:65: nested more than 64 levels deep");
  CHECK(parse_error(nested(100'000)) == "f.yaml:1:65: nested more than 64 levels deep");
}

TEST_CASE("A document that blows up when its aliases are expanded is refused", "[core][document]") {
  // A billion laughs: each line ten of the line before. Line i holds 10^i laughs, so the sixth
  // crosses a million values.
  std::string text = "l0: &l0 ha\n";
  for (int i = 1; i <= 9; ++i) {
    const std::string below = "*l" + std::to_string(i - 1);
    text += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + below;
    for (int j = 1; j < 10; ++j) text += ", " + below;
    text += "]\n";
  }
  const std::string error = parse_error(text);
  CHECK(error.starts_with("f.yaml:7:"));
  CHECK(error.ends_with(": the document expands to more than a million values"));
}

TEST_CASE("Aliases do not nest deeper than 64 levels either", "[core][document]") {
  // Each line puts the line before into forty lists of its own: 80, 120 ... levels.
  std::string text = "l0: &l0 ha\n";
  for (int i = 1; i <= 3; ++i) {
    const std::string name = "l" + std::to_string(i);
    text += name + ": &" + name + " " + std::string(40, '[') + "*l" + std::to_string(i - 1) +
            std::string(40, ']') + "\n";
  }
  CHECK_THAT(parse_error(text), Catch::EndsWith(": nested more than 64 levels deep"));
}

TEST_CASE("An alias is a copy of what it names", "[core][document]") {
  const Node root = parse_yaml("a: &x {k: 1}\nb: *x\nc: [*x, *x]\n", "f.yaml");
  CHECK(same_tree(*root.find("a"), *root.find("b")));
  CHECK(same_tree(*root.find("a"), root.find("c")->items[1]));
}

TEST_CASE("A file that cannot be read is named", "[core][document]") {
  const TemporaryFolder folder;
  const auto missing = folder.path() / "none.yaml";
  CHECK(error_of([&] { static_cast<void>(load_yaml(missing)); }) ==
        missing.string() + ": no such file");
  CHECK(error_of([&] { static_cast<void>(load_yaml(folder.path())); }) ==
        folder.path().string() + ": expected a file, got a directory");
  const auto large = folder.write("large.yaml", std::string((1U << 20U) + 1, 'a'));
  CHECK(error_of([&] { static_cast<void>(read_text_file(large, 1U << 20U)); }) ==
        large.string() + ": larger than 1 MiB");
  CHECK(error_of([&] { static_cast<void>(read_text_file("/dev/zero", 1U << 20U)); }) ==
        "/dev/zero: larger than 1 MiB");
  const auto empty = folder.write("empty.yaml", "");
  CHECK(error_of([&] { static_cast<void>(load_yaml(empty)); }) ==
        empty.string() + ": the file is empty; expected a YAML document");
  const auto good = folder.write("good.yaml", "a: 1\n");
  CHECK(load_yaml(good).find("a")->position.text() == good.string() + ":1:4");
}

TEST_CASE("What an error found is described in a few words", "[core][document]") {
  CHECK(parse_yaml("[1]", "f").describe() == "a list");
  CHECK(parse_yaml("{a: 1}", "f").describe() == "a map");
  CHECK(parse_yaml("word", "f").describe() == "'word'");
  CHECK(Node{}.describe() == "nothing");
  CHECK(parse_yaml(std::string(61, 'x'), "f").describe() == "'" + std::string(60, 'x') + "...'");
}

TEST_CASE("An overlay merges maps key by key and replaces the rest", "[core][document]") {
  const Node base =
      parse_yaml("{a: 1, hbm: {capacity: 192 GB, ramp: 7 us}, tiles: [1, 2]}", "base.yaml");
  const Node top = parse_yaml("{hbm: {capacity: 256 GB}, tiles: [3], b: {c: 4}}", "top.yaml");
  const Node whole = overlay(base, top);
  CHECK(same_tree(
      whole,
      parse_yaml("{a: 1, hbm: {capacity: 256 GB, ramp: 7 us}, tiles: [3], b: {c: 4}}", "f")));
  CHECK(*whole.find("hbm")->find("capacity")->position.file ==
        "top.yaml");  // each value names the file it came from
  CHECK(*whole.find("hbm")->find("ramp")->position.file == "base.yaml");
  CHECK(same_tree(overlay(parse_yaml("{a: {b: 1}}", "f"), parse_yaml("{a: 2}", "f")),
                  parse_yaml("{a: 2}", "f")));
  CHECK(same_tree(overlay(base, parse_yaml("{}", "f")), base));
}

TEST_CASE("A dotted path sets a value, making maps on the way", "[core][document]") {
  Node root = parse_yaml("{engine: {max_num_seqs: 1}, free: [a, {b: 1}]}", "f.yaml");
  set_path(root, "engine.max_num_seqs", "64", "--set");
  set_path(root, "new.deep.key", "[1, 2]", "--set");
  set_path(root, "free.1.b", "{c: 2}", "--set");
  set_path(root, "free.0", "", "--set");
  CHECK(same_tree(
      root, parse_yaml(
                "{engine: {max_num_seqs: 64}, free: ['', {b: {c: 2}}], new: {deep: {key: [1, 2]}}}",
                "f")));
  CHECK(root.find("engine")->find("max_num_seqs")->position.text() ==
        "--set");                                             // no line to point at
  set_path(root, "engine.max_num_seqs.inner", "1", "--set");  // a value becomes a map
  CHECK(root.find("engine")->find("max_num_seqs")->find("inner")->scalar == "1");
}

TEST_CASE("A dotted path that leads nowhere is an error", "[core][document]") {
  Node root = parse_yaml("{free: [a, b]}", "f.yaml");
  const auto error = [&](std::string_view path, std::string_view value) {
    return error_of([&] { set_path(root, path, value, "--set"); });
  };
  CHECK(error("", "1") == "--set: expected a dotted key like 'engine.max_num_seqs', got ''");
  CHECK(error("a..b", "1") ==
        "--set: expected a dotted key like 'engine.max_num_seqs', got 'a..b'");
  CHECK(error("free.2", "1") == "--set: free.2: expected a list index below 2, got '2'");
  CHECK(error("free.x", "1") == "--set: free.x: expected a list index below 2, got 'x'");
  CHECK(error("a", "[1") == "--set: YAML syntax: end of sequence flow not found");
}

TEST_CASE("Nothing takes a key away", "[core][document]") {
  Node root = parse_yaml("a: {b: 1, c: 2, d: 3}\nlist: [1, 2]\n", "f.yaml");
  set_path(root, "a.c", "null", "--set");
  set_path(root, "a.never", "~", "--set");
  CHECK(to_yaml(root) == to_yaml(parse_yaml("a: {b: 1, d: 3}\nlist: [1, 2]\n", "f.yaml")));
  set_path(root, "a", "null", "--set");
  CHECK(root.find("a") == nullptr);
}

/// A tree of up to `depth` levels, with scalars that YAML would rather read as something else.
Node random_tree(const RandomStream& random, std::uint64_t& n, int depth) {
  static const std::vector<std::string> nasty{
      "plain", "5.3 TB/s", "010",   "",   "~",    "null", "true", "- a", "# x", "a: b", "a #b",
      "&x",    "*x",       "!t",    "%x", "@x",   "`",    "'",    "\"",  "\\",  "\n",   "a\nb",
      "\tx",   " x ",      "[1, 2", "}",  "é 語", "---",  "...",  "? x", "| x", "a\\nb"};
  Node node;
  const std::int64_t kind = depth == 0 ? 0 : random.uniform_int(n++, 0, 3);
  const auto count = random.uniform_int(n++, 0, 4);
  if (kind <= 1) {
    node.kind = random.uniform(n++) < 0.1 ? Node::Kind::null : Node::Kind::scalar;
    if (node.kind == Node::Kind::null) return node;
    node.quoted = true;  // as a quoted scalar that was read
    node.scalar = nasty[static_cast<std::size_t>(
        random.uniform_int(n++, 0, static_cast<std::int64_t>(nasty.size()) - 1))];
  } else if (kind == 2) {
    node.kind = Node::Kind::list;
    for (std::int64_t i = 0; i < count; ++i)
      node.items.push_back(random_tree(random, n, depth - 1));
  } else {
    node.kind = Node::Kind::map;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto& key = nasty[static_cast<std::size_t>(
          random.uniform_int(n++, 0, static_cast<std::int64_t>(nasty.size()) - 1))];
      if (node.find(key) == nullptr)
        node.entries.emplace_back(key, random_tree(random, n, depth - 1));
    }
  }
  return node;
}

TEST_CASE("A tree written as YAML reads back as the same tree", "[core][document]") {
  const RandomStream random(1, "trees");
  std::uint64_t n = 0;
  for (int i = 0; i < 2000; ++i) {
    Node tree;
    tree.kind = Node::Kind::map;
    tree.entries.emplace_back("root", random_tree(random, n, 4));
    const std::string text = to_yaml(tree);
    INFO(text);
    REQUIRE(same_tree(parse_yaml(text, "f.yaml"), tree));
  }
}

TEST_CASE("Every shipped configuration reads, and reads back as it was written",
          "[core][document]") {
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(RIDGELINE_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".yaml") continue;
    INFO(entry.path().string());
    const Node tree = load_yaml(entry.path());
    CHECK(same_tree(parse_yaml(to_yaml(tree), "f.yaml"), tree));
    ++files;
  }
  CHECK(files > 0);
}

}  // namespace
