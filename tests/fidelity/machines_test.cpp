// Which machine a text is about.

#include "fidelity/machines.hpp"

#include <catch2/catch.hpp>

#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::Machines;

TEST_CASE("a machine is found in the text that names it", "[machines]") {
  struct Named {
    const char* text;
    const char* name;
  };
  const auto named = GENERATE(
      Named{"MI300X", "mi300x"}, Named{"AMD Instinct MI300X", "mi300x"},
      Named{"AMD Instinct MI300X OAM (gfx942:sramecc+:xnack-)", "mi300x"},
      Named{"8x mi300x, ROCm 6.2", "mi300x"}, Named{"mi300x_datasheet", "mi300x_datasheet"},
      Named{"MI325", "mi325x"}, Named{"MI355X", "mi355x"}, Named{"MI355", "mi355x"},
      Named{"MI250", "mi250"}, Named{"AMD Instinct MI250X / MI250", "mi250x"},
      Named{"H100 SXM", "h100"}, Named{"NVIDIA H100 80GB HBM3", "h100"},
      Named{"NVIDIA H100 PCIe", "h100_pcie"}, Named{"NVIDIA H100 NVL", "h100_nvl"},
      Named{"NVIDIA H200", "h200"}, Named{"NVIDIA H20", "h20"}, Named{"GH200 480GB", "gh200"},
      Named{"NVIDIA B200", "b200"}, Named{"NVIDIA GB200", "gb200"},
      Named{"NVIDIA A100-SXM4-80GB", "a100"}, Named{"A100 80GB", "a100"},
      Named{"NVIDIA A100 80GB PCIe", "a100_pcie"}, Named{"A100 PCIe", "a100_pcie"},
      Named{"NVIDIA A100-SXM4-40GB", "a100_40gb"}, Named{"A100 40GB", "a100_40gb"},
      Named{"NVIDIA A10", "a10"}, Named{"NVIDIA L4", "l4"}, Named{"NVIDIA L40S", "l40s"},
      Named{"NVIDIA GeForce RTX 4090", "rtx4090"}, Named{"RTX PRO 6000", "rtx_pro_6000"},
      Named{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000"},
      Named{"NVIDIA A100-PCIE-40GB", "a100_pcie_40gb"}, Named{"NVIDIA A800-SXM4-80GB", "a800"},
      Named{"NVIDIA A800 80GB PCIe", "a800_pcie"}, Named{"NVIDIA H800", "h800"},
      Named{"NVIDIA H800 PCIe", "h800_pcie"}, Named{"Tesla V100-SXM2-32GB", "v100"},
      Named{"V100-SXM2", "v100"}, Named{"Tesla V100-SXM2-16GB", "v100_16gb"},
      Named{"Tesla V100-PCIE-16GB", "v100_pcie_16gb"}, Named{"V100 PCIe", "v100_pcie"},
      Named{"Tesla V100S-PCIE-32GB", "v100s"}, Named{"Tesla T4", "t4"}, Named{"4x T4", "t4"},
      Named{"NVIDIA A10G", "a10g"}, Named{"NVIDIA A30", "a30"}, Named{"NVIDIA A40", "a40"},
      Named{"NVIDIA RTX A6000", "rtx_a6000"}, Named{"2x A6000", "rtx_a6000"},
      Named{"NVIDIA RTX 6000 Ada Generation", "rtx_6000_ada"}, Named{"NVIDIA L40", "l40"},
      Named{"NVIDIA L20", "l20"}, Named{"NVIDIA GeForce RTX 3060", "rtx3060"},
      Named{"RTX 3080", "rtx3080"}, Named{"2x RTX 3090 24GB", "rtx3090"},
      Named{"GeForce RTX 4070 Ti", "rtx4070_ti"}, Named{"RTX4080", "rtx4080"},
      Named{"NVIDIA GeForce RTX 5070 Ti", "rtx5070_ti"}, Named{"RTX5070Ti", "rtx5070_ti"},
      Named{"RTX 5080", "rtx5080"}, Named{"NVIDIA GeForce RTX 5090", "rtx5090"},
      Named{"NVIDIA GB10", "gb10"}, Named{"DGX Spark", "gb10"},
      Named{"NVIDIA B300 SXM6 AC", "b300"}, Named{"NVIDIA GB300", "gb300"},
      Named{"AMD Instinct MI100", "mi100"}, Named{"Radeon RX 7900 XTX", "rx7900_xtx"},
      Named{"AMD Radeon RX 9070 XT", "rx9070_xt"}, Named{"RX9060XT", "rx9060_xt"});
  Machines machines(shipped(), std::nullopt);
  INFO(named.text);
  CHECK(machines.name_of(named.text) == named.name);
  REQUIRE(machines.find(named.text) != nullptr);
  CHECK(machines.find(named.text) == &machines.named(named.name));
}

TEST_CASE("an architecture names the machine that has constants of its own", "[machines]") {
  Machines machines(shipped(), std::nullopt);
  CHECK(machines.name_of("gfx942 304 CU") == "mi300x");
  CHECK(machines.name_of("gfx942:sramecc+:xnack-") == "mi300x");
  CHECK(machines.name_of("MI300 (gfx942)") == "mi300x");
}

TEST_CASE("of two machines the text is about the one named first", "[machines]") {
  Machines machines(shipped(), std::nullopt);
  CHECK(machines.name_of("gfx942 304 CU (MI300X or MI325X)") == "mi300x");
  CHECK(machines.name_of("MI325X, 1.2x an MI300X") == "mi325x");
}

TEST_CASE("a machine whose number only begins like a known one is unknown", "[machines]") {
  Machines machines(shipped(), std::nullopt);
  for (const char* text :
       {"NVIDIA L400", "RTX A1000", "H2000", "RTX PRO 60000", "TPU v5e", "gfx906", "MI1000", "",
        "GPU", "RTX 3080 Ti", "NVIDIA GeForce RTX 4070 Ti SUPER", "RTX 4080 SUPER", "RTX 4090 D",
        "int4", "NVIDIA GeForce RTX 3060 Laptop GPU", "RTX 5070"}) {
    INFO(text);
    CHECK(machines.name_of(text).empty());
    CHECK(machines.find(text) == nullptr);
  }
}

TEST_CASE("a row about a machine that nobody knows lists those there are", "[machines]") {
  Machines machines(shipped(), std::nullopt);
  const auto table = table_of("hw,M\nAbacus 9,1\n");
  const std::string error =
      error_of([&] { (void)fidelity::machine_of(fidelity::Row(table, 0), machines); });
  CHECK(error.starts_with("t.csv: row 1: hw: expected a machine, one of a10, a100, "));
  CHECK(error.find("mi300x") != std::string::npos);
  CHECK(error.ends_with("within the text, or --hw, got 'Abacus 9'"));
}

TEST_CASE("the gpu column says the machine where there is one, else the hw column", "[machines]") {
  Machines machines(shipped(), std::nullopt);
  const auto both = table_of("hw,gpu\nMI300X,H100\nMI300X,\n");
  CHECK(&fidelity::machine_of(fidelity::Row(both, 0), machines) == &machines.named("h100"));
  CHECK(&fidelity::machine_of(fidelity::Row(both, 1), machines) == &machines.named("mi300x"));
}

TEST_CASE("a machine that every row is about is found whatever a row says", "[machines]") {
  Machines machines(shipped(), "h100");
  CHECK(machines.name_of("MI300X") == "h100");
  CHECK(machines.find("") == &machines.named("h100"));
  CHECK(error_of([] { Machines(shipped(), "h1000"); }) ==
        "--hw: hw: unknown name 'h1000'; did you mean 'h100'?");
}

TEST_CASE("a machine can be put in the place of a shipped one", "[machines]") {
  Machines machines(shipped(), std::nullopt);
  hw::GpuSpec gpu = machines.named("mi300x");
  gpu.name = "another";
  machines.replace("mi300x", gpu);
  CHECK(machines.find("MI300X")->name == "another");
}

}  // namespace
}  // namespace ridgeline::tests
