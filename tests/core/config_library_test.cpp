#include "core/config_library.hpp"

#include <catch2/catch.hpp>

#include <map>

#include "core/spelling.hpp"
#include "tests/core/fixtures.hpp"

namespace {

using namespace ridgeline::core;  // NOLINT: a test of this one folder
using ridgeline::tests::error_of;
using ridgeline::tests::TemporaryFolder;

/// What `text`, standing in `file`, means as a GPU.
Node resolve(const ConfigLibrary& library, std::string_view text,
             const std::string& file = "s.yaml") {
  return library.resolve("hw", parse_yaml(text, file));
}

TEST_CASE("A name is the file of that name in the folder of its kind", "[core][config_library]") {
  const TemporaryFolder folder;
  folder.write("hw/small.yaml", "{units: 4}");
  folder.write("hw/large.yaml", "{units: 8}");
  folder.write("hw/notes.txt", "not a configuration");
  const ConfigLibrary library(folder.path());
  CHECK(resolve(library, "large").find("units")->scalar == "8");
  CHECK(library.names("hw") == std::vector<std::string>{"large", "small"});
  CHECK(library.names("models").empty());
}

TEST_CASE("A name may be the title or an alias, in any spelling", "[core][config_library]") {
  const TemporaryFolder folder;
  folder.write("hw/small.yaml", "{name: Vendor X-300, aliases: [X300 80GB], units: 4}");
  folder.write("hw/small_b.yaml", "{base: small, name: Vendor X-300B, units: 5}");
  folder.write("hw/x_300b.yaml", "{units: 6}");
  const ConfigLibrary library(folder.path());
  for (const char* word : {"small", "Small", "Vendor X300", "vendor-x-300", "x300-80gb"}) {
    INFO(word);
    CHECK(library.called("hw", word) == "small");
    CHECK(resolve(library, word).find("units")->scalar == "4");
  }
  CHECK(library.called("hw", "vendor x300b") == "small_b");  // the base's alias stays the base's
  CHECK(library.called("hw", "X-300B") == "x_300b");
  CHECK_FALSE(library.called("hw", "X300"));
  CHECK_FALSE(library.called("hw", "X3 00 80GB"));  // other numbers
  CHECK_FALSE(library.called("hw", "-"));
  CHECK(resolve(library, "{base: Vendor X-300, dies: 2}").find("units")->scalar == "4");
  CHECK(error_of([&] { static_cast<void>(resolve(library, "X300 90GB")); }) ==
        "s.yaml:1:1: hw: unknown name 'X300 90GB'; did you mean 'X300 80GB'?");
}

TEST_CASE("No word names two shipped configurations", "[core][config_library]") {
  const ConfigLibrary library(RIDGELINE_SOURCE_DIR "/configs");
  for (const char* kind : {"hw", "models", "stacks", "scenarios"}) {
    std::map<std::string, std::string> meant;
    for (const auto& [word, name] : library.words(kind)) {
      INFO(kind << ": " << word);
      CHECK(meant.emplace(plain(word), name).first->second == name);
    }
  }
}

TEST_CASE("A name that is unknown gets the nearest one, or all of them", "[core][config_library]") {
  const TemporaryFolder folder;
  folder.write("hw/small.yaml", "{units: 4}");
  folder.write("hw/large.yaml", "{units: 8}");
  const ConfigLibrary library(folder.path());
  CHECK(error_of([&] { static_cast<void>(resolve(library, "smal")); }) ==
        "s.yaml:1:1: hw: unknown name 'smal'; did you mean 'small'?");
  CHECK(error_of([&] { static_cast<void>(resolve(library, "gigantic")); }) ==
        "s.yaml:1:1: hw: unknown name 'gigantic'; known: large, small");
  CHECK(error_of([&] { static_cast<void>(resolve(library, "[small]")); }) ==
        "s.yaml:1:1: hw: expected a name, a path or a map, got a list");
}

TEST_CASE("A map with a base is the base with the map laid over it", "[core][config_library]") {
  const TemporaryFolder folder;
  folder.write("hw/small.yaml", "{units: 4, hbm: {capacity: 1 GB, ramp: 1 us}}");
  folder.write("hw/medium.yaml", "{base: small, hbm: {capacity: 2 GB}}");
  const Node whole = resolve(ConfigLibrary(folder.path()), "{base: medium, units: 6}");
  CHECK(whole.find("base") == nullptr);
  CHECK(whole.find("units")->scalar == "6");
  CHECK(whole.find("hbm")->find("capacity")->scalar == "2 GB");
  CHECK(whole.find("hbm")->find("ramp")->scalar == "1 us");  // through two bases
}

TEST_CASE("A path is relative to the file that says so", "[core][config_library]") {
  const TemporaryFolder folder;
  folder.write("mine/parts/gpu.yaml", "{base: ../common.yaml, units: 5}");
  folder.write("mine/common.yaml", "{units: 1, dies: 2}");
  const ConfigLibrary library(folder.path());
  const Node whole =
      resolve(library, "parts/gpu.yaml", (folder.path() / "mine" / "scenario.yaml").string());
  CHECK(whole.find("units")->scalar == "5");
  CHECK(whole.find("dies")->scalar == "2");

  Node typed;  // from --set there is no file: relative to the working directory
  set_path(typed, "hw", "gpu.yaml", "--set");
  CHECK(path_from(*typed.find("hw")) == "gpu.yaml");
}

TEST_CASE("A path to no file names the place that says so", "[core][config_library]") {
  const TemporaryFolder folder;
  const ConfigLibrary library(folder.path());
  CHECK(error_of([&] {
          static_cast<void>(resolve(library, "{base: ./none.yaml}", "/nowhere/s.yaml"));
        }) == "/nowhere/s.yaml:1:8: hw: no such file: /nowhere/./none.yaml");
  const auto missing = folder.path() / "none.yaml";
  CHECK(error_of([&] { static_cast<void>(library.load("hw", missing)); }) ==
        missing.string() + ": no such file");
}

TEST_CASE("Bases that come back to themselves are shown as the chain they are",
          "[core][config_library]") {
  const TemporaryFolder folder;
  folder.write("hw/a.yaml", "base: b\n");
  folder.write("hw/b.yaml", "{base: ./c.yaml}");
  folder.write("hw/c.yaml", "# by another road\nbase: a\n");
  const ConfigLibrary library(folder.path());
  CHECK(error_of([&] { static_cast<void>(resolve(library, "a")); }) ==
        (folder.path() / "hw" / "./c.yaml").string() +
            ":2:7: base: cyclic reference: a.yaml -> b.yaml -> c.yaml -> a.yaml");
  const auto self = folder.write("hw/self.yaml", "base: self\n");
  CHECK(error_of([&] { static_cast<void>(resolve(library, "self")); }) ==
        self.string() + ":1:7: base: cyclic reference: self.yaml -> self.yaml");
}

TEST_CASE("Two configurations may share a base", "[core][config_library]") {
  const TemporaryFolder folder;
  folder.write("hw/root.yaml", "{units: 1}");
  folder.write("hw/a.yaml", "{base: root}");
  const ConfigLibrary library(folder.path());
  CHECK(resolve(library, "{base: {base: a, x: 1}, y: 2}").find("units")->scalar == "1");
  CHECK(resolve(library, "a").find("units")->scalar == "1");  // and again: no chain is left over
}

TEST_CASE("Every shipped configuration resolves by its name", "[core][config_library]") {
  const ConfigLibrary library(RIDGELINE_SOURCE_DIR "/configs");
  for (const char* kind : {"hw", "models", "stacks"}) {
    CHECK_FALSE(library.names(kind).empty());
    for (const std::string& name : library.names(kind)) {
      INFO(kind << "/" << name);
      const Node whole = library.resolve(kind, parse_yaml(name, "f.yaml"));
      CHECK(whole.kind == Node::Kind::map);
      CHECK(whole.find("base") == nullptr);
      CHECK(whole.find("name") != nullptr);
    }
  }
}

}  // namespace
