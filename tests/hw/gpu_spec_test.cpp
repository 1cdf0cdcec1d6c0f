#include "hw/gpu_spec.hpp"

#include <catch2/catch.hpp>

#include "tests/hw/fixtures.hpp"

namespace {

using namespace ridgeline::hw;  // NOLINT: a test of this one folder
using ridgeline::tests::error_of;
using ridgeline::tests::shipped;
using ridgeline::tests::shipped_gpu;

struct Datasheet {
  const char* file;
  std::int64_t compute_units;
  double fp16_tflops;
  double fp8_tflops;
  double hbm_gb;
  double hbm_tbps;
};

// From the vendors' datasheets. Without an fp8 unit the multiply runs as fp16.
const std::vector<Datasheet> kDatasheets{
    {"mi300x", 304, 1307.4, 2614.9, 206.1, 5.3},  // as its driver reports it
    {"mi300x_datasheet", 304, 1307.4, 2614.9, 192, 5.3},
    {"mi325x", 304, 1307.4, 2614.9, 256, 6.0},
    {"mi250x", 220, 383, 383, 128, 3.2768},
    {"h100", 132, 989.4, 1978.9, 80, 3.35},
    {"h200", 132, 989.4, 1978.9, 141, 4.8},
    {"a100", 108, 312, 312, 80, 2.039},
    {"v100", 80, 125, 125, 32, 0.9},
    {"t4", 40, 65, 65, 16, 0.32},
    {"a40", 84, 149.7, 149.7, 48, 0.696},
    {"l40", 142, 181, 362, 48, 0.864},
    {"h800", 132, 989.4, 1978.9, 80, 3.35},
    {"mi100", 120, 184.6, 184.6, 32, 1.2288},
    // Sums in fp32, at half the rate of sums in fp16; capacities as drivers report them.
    {"rtx3090", 82, 71, 71, 25.4, 0.936},
    {"rtx4080", 76, 97.5, 194.9, 16.8, 0.7168},
    {"rtx5090", 170, 209.5, 419, 33.6, 1.792},
    {"rx7900_xtx", 96, 122.8, 122.8, 25.4, 0.96},
};

TEST_CASE("The shipped GPUs are what their datasheets say", "[hw][gpu_spec]") {
  for (const Datasheet& sheet : kDatasheets) {
    INFO(sheet.file);
    const GpuSpec gpu = shipped_gpu(sheet.file);
    CHECK(gpu.compute_units == sheet.compute_units);
    CHECK(gpu.peak[Dtype::fp16].value() == Approx(sheet.fp16_tflops * 1e12));
    if (sheet.file != std::string_view("mi100"))  // half as fast in bf16
      CHECK(gpu.peak[Dtype::bf16].value() == Approx(sheet.fp16_tflops * 1e12));
    CHECK(gpu.peak[Dtype::fp8].value() == Approx(sheet.fp8_tflops * 1e12));
    CHECK(gpu.hbm.capacity.value() == Approx(sheet.hbm_gb * 1e9));
    CHECK(gpu.hbm.bandwidth.value() == Approx(sheet.hbm_tbps * 1e12));
  }
}

TEST_CASE("Every GPU in configs/hw reads, every key accounted for, and is a plausible machine",
          "[hw][gpu_spec]") {
  for (const std::string& name : shipped().names("hw")) {
    INFO(name);
    const GpuSpec gpu = shipped_gpu(name);
    CHECK_FALSE(gpu.name.empty());
    CHECK(gpu.compute_units % gpu.dies == 0);
    CHECK_FALSE(gpu.gemm.tiles.empty());
    CHECK(gpu.hbm.ramp.value() < 20e-6);
    CHECK(gpu.cache.capacity < gpu.hbm.capacity);
    CHECK(gpu.cache.bandwidth > gpu.hbm.bandwidth);  // or nothing would be gained by staying there
    for (const auto& dtype : dtype_names()) {
      CHECK((gpu.sustained[dtype.value] > 0.0 && gpu.sustained[dtype.value] <= 1.0));
      // Parts for inference may have next to no fp64: H20 1 TFLOP/s beside 4 TB/s.
      if (gpu.supports(dtype.value) && dtype.value != Dtype::fp64)
        CHECK(gpu.ridge_point(dtype.value) > 1.0);
    }
    CHECK((gpu.supports(Dtype::fp16) && gpu.supports(Dtype::bf16)));
  }
}

TEST_CASE("Every shipped GPU says how fast it reaches the host", "[hw][gpu_spec]") {
  for (const std::string& name : shipped().names("hw")) {
    INFO(name);
    const GpuSpec gpu = shipped_gpu(name);
    REQUIRE(gpu.host_link);
    CHECK(gpu.host_link->rate <= gpu.hbm.bandwidth);
  }
  struct Link {
    const char* file;
    double gb_s;
  };
  // 16 lanes of PCIe 3.0, 4.0 and 5.0 at 8, 16 and 32 Gbit/s: 16, 32 and 64 GB/s. NVLink-C2C: half
  // of the 900 GB/s that are both directions' sum.
  for (const auto& [file, gb_s] : std::vector<Link>{{"v100", 16},
                                                    {"t4", 16},
                                                    {"a100", 32},
                                                    {"a100_pcie", 32},
                                                    {"a30", 32},
                                                    {"l40s", 32},
                                                    {"rtx3090", 32},
                                                    {"rtx4090", 32},
                                                    {"mi100", 32},
                                                    {"rx7900_xtx", 32},
                                                    {"h100", 64},
                                                    {"h800", 64},
                                                    {"b200", 64},
                                                    {"rtx5070_ti", 64},
                                                    {"rx9060_xt", 64},
                                                    {"mi300x", 64},
                                                    {"mi300x_datasheet", 64},
                                                    {"mi355x", 64},
                                                    {"gh200", 450},
                                                    {"gb300", 450}}) {
    INFO(file);
    CHECK(shipped_gpu(file).host_link->rate.value() == gb_s * 1e9);
  }
}

TEST_CASE("The datasheet MI300X has its ridge at 247 FLOP per byte", "[hw][gpu_spec]") {
  CHECK(shipped_gpu("mi300x_datasheet").ridge_point(Dtype::fp16) ==
        Approx(246.68).epsilon(1e-4));  // 1307.4 / 5.3
  CHECK_FALSE(shipped_gpu("mi300x").supports(Dtype::fp4));
}

const std::string kGood =
    "name: easy\ncompute_units: 10\npeak: {fp16: 5 TFLOP/s}\n"
    "hbm: {capacity: 1 GB, bandwidth: 1 TB/s}\ncache: {capacity: 1 MB, bandwidth: 10 TB/s}\n"
    "gemm: {tiles: [16x16, 32x64], tile_load: 0, extra_k: 0, max_splits: 1, split_cost: 0 us}\n";

GpuSpec read(const std::string& text) {
  const ridgeline::core::Node node = ridgeline::core::parse_yaml(text, "g.yaml");
  const ridgeline::core::Reader in(node);
  GpuSpec gpu = read_gpu_spec(in);
  in.finish();
  return gpu;
}

std::string error(const std::string& from, const std::string& to) {
  std::string text = kGood;
  text.replace(text.find(from), from.size(), to);
  return error_of([&] { static_cast<void>(read(text)); });
}

TEST_CASE("What a GPU need not say has a meaning", "[hw][gpu_spec]") {
  const GpuSpec gpu = read(kGood);
  CHECK((gpu.dies == 1 && gpu.wave_size == 64 && gpu.architecture.empty()));
  CHECK((gpu.hbm.sustained == 1.0 && gpu.hbm.ramp.value() == 0.0));
  CHECK(gpu.sustained[Dtype::fp16] == 1.0);
  CHECK_FALSE(gpu.host_link);
  CHECK(gpu.gemm.tiles == std::vector<GemmSpec::Tile>{{16, 16}, {32, 64}});
  CHECK(gpu.supports(Dtype::fp16));
  CHECK_FALSE(gpu.supports(Dtype::fp8));
}

TEST_CASE("What a GPU cannot be is refused where it stands", "[hw][gpu_spec]") {
  CHECK(error("fp16: 5", "fp15: 5") ==
        "g.yaml:3:8: peak.fp15: unknown dtype; did you mean 'fp16'?");
  CHECK(error("5 TFLOP/s", "5") ==
        "g.yaml:3:14: peak.fp16: expected a number with unit like '1307.4 TFLOP/s', got '5'");
  CHECK(error("5 TFLOP/s", "0 TFLOP/s") ==
        "g.yaml:3:14: peak.fp16: expected a rate above zero, got '0 TFLOP/s'");
  CHECK(error("5 TFLOP/s", "5 FLOP/s") ==
        "g.yaml:3:14: peak.fp16: expected a rate of at least 1 GFLOP/s, got '5 FLOP/s'");
  CHECK(error("compute_units: 10", "compute_units: 0") ==
        "g.yaml:2:16: compute_units: expected a whole number from 1 to 100000, got '0'");
  CHECK(error("capacity: 1 GB", "capacity: 0 GB") ==
        "g.yaml:4:17: hbm.capacity: expected a capacity above zero, got '0 GB'");
  CHECK(error("capacity: 1 GB", "sustained: 1.1, capacity: 1 GB") ==
        "g.yaml:4:18: hbm.sustained: expected a fraction between 0.01 and 1, got '1.1'");
  CHECK(error("capacity: 1 GB", "capasity: 1 GB") ==
        "g.yaml:4:6: hbm.capacity: expected a number with unit like '192 GB', got nothing (the key "
        "is missing)");
  CHECK(error("name: easy", "name: easy\nhost_link: {rate: 0.5 MB/s}") ==
        "g.yaml:2:19: host_link.rate: expected a bandwidth of at least 1 MB/s, got '0.5 MB/s'");
  CHECK(error("max_splits: 1", "max_splits: 65") ==
        "g.yaml:6:69: gemm.max_splits: expected a whole number from 1 to 64, got '65'");
  CHECK(error("tile_load: 0", "tile_load: -1") ==
        "g.yaml:6:42: gemm.tile_load: expected a number from 0 to 1e6, got '-1'");
  CHECK(error("[16x16, 32x64]", "[]") ==
        "g.yaml:6:15: gemm.tiles: expected at least one tile like 128x256, got a list");
  for (const char* tile : {"16", "x16", "16x", "0x16", "16x8192", "-16x16", "axb"}) {
    CHECK(error("16x16", tile) ==
          std::string("g.yaml:6:15: gemm.tiles: expected tiles like 128x256, got '") + tile + "'");
  }
  CHECK(error("name: easy\n", "name: easy\nnotes: x\n")
            .starts_with("g.yaml:2:1: notes: unknown key; "));
}

TEST_CASE("A tile has two sides and nothing after them", "[hw][gpu_spec]") {
  for (const char* tile : {"16x16x16", "16x16y", "16.5x16", "16 x16"}) {
    INFO(tile);
    CHECK_FALSE(error("16x16", tile).empty());
  }
}

}  // namespace
