// Which machine a text is about, in a library of made-up machines; what shipped machines are called
// is in tests/fidelity/machines_test.cpp.

#include "hw/machine_names.hpp"

#include <catch2/catch.hpp>

#include "tests/core/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::tests::TemporaryFolder;

class Shelf {
 public:
  Shelf() : names_(library()) {}
  [[nodiscard]] std::string in(std::string_view text) const { return names_.in(text); }

 private:
  [[nodiscard]] ridgeline::core::ConfigLibrary library() const {
    for (const char* name : {"x4", "k90", "k90_ti", "k900", "m300x", "m300x_pcie"})
      folder_.write("hw/" + std::string(name) + ".yaml", "{units: 1}");
    folder_.write("hw/v100.yaml", "{name: Vendor V100 32GB, aliases: [V100-SX2-32GB]}");
    folder_.write("hw/v100_16gb.yaml", "{base: v100, aliases: [V100-SX2-16GB]}");
    return ridgeline::core::ConfigLibrary(folder_.path());
  }
  TemporaryFolder folder_;
  MachineNames names_;
};

TEST_CASE("A machine is named by the longest name at the first place", "[hw][machine_names]") {
  const Shelf shelf;
  CHECK(shelf.in("8x Vendor M300X (OAM)") == "m300x");
  CHECK(shelf.in("Vendor M300X-PCIe") == "m300x_pcie");
  CHECK(shelf.in("M300X, faster than a K900") == "m300x");
  CHECK(shelf.in("two M300Xs") == "m300x");
  CHECK(shelf.in("Old V100-SX2-16GB") == "v100_16gb");
  CHECK(shelf.in("vendor v100, 32 GB") == "v100");
  CHECK(shelf.in("V100 SX2 16GB") == "v100_16gb");
  CHECK(shelf.in("").empty());
}

TEST_CASE("A number that goes on is another machine's", "[hw][machine_names]") {
  const Shelf shelf;
  CHECK(shelf.in("K900") == "k900");
  CHECK(shelf.in("K9000").empty());
  CHECK(shelf.in("M3000X").empty());
}

TEST_CASE("A suffix that vendors give to another part names another part", "[hw][machine_names]") {
  const Shelf shelf;
  CHECK(shelf.in("Vendor K90 24GB") == "k90");
  CHECK(shelf.in("Vendor K90 Ti") == "k90_ti");
  CHECK(shelf.in("K90Ti, 12 GB") == "k90_ti");
  for (const char* other : {"K90 SUPER", "K90 Ti SUPER", "K90 Laptop GPU", "K900 D", "K90super"}) {
    INFO(other);
    CHECK(shelf.in(other).empty());
  }
  CHECK(shelf.in("K90 timings") == "k90");
}

TEST_CASE("A name of two characters stands alone", "[hw][machine_names]") {
  const Shelf shelf;
  CHECK(shelf.in("X4") == "x4");
  CHECK(shelf.in("Vendor X4, 70 W") == "x4");
  CHECK(shelf.in("4xX4") == "x4");
  CHECK(shelf.in("max4").empty());
  CHECK(shelf.in("max4 on an X4") == "x4");
}

TEST_CASE("A shipped machine answers to its title without the maker", "[hw][machine_names]") {
  const auto& library = ridgeline::tests::shipped();
  const MachineNames names(library);
  for (const std::string& name : library.names("hw")) {
    const auto own = ridgeline::core::load_yaml(library.root() / "hw" / (name + ".yaml"));
    std::string title = own.find("name")->scalar;
    CHECK(names.in(title) == name);
    for (const char* maker : {"NVIDIA ", "AMD ", "Instinct "}) {
      if (title.starts_with(maker)) title = title.substr(std::string_view(maker).size());
    }
    INFO(title);
    CHECK(library.called("hw", title) == name);
    CHECK(names.in("8x " + title) == name);
  }
}

}  // namespace
