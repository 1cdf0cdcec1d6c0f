#pragma once
// What the tests of predictions share: tables from text, the shipped machines, and a machine for
// easy arithmetic.

#include <string>
#include <string_view>
#include <vector>

#include "core/config_library.hpp"
#include "core/reader.hpp"
#include "fidelity/machines.hpp"
#include "fidelity/operation.hpp"
#include "fidelity/table.hpp"
#include "tests/core/fixtures.hpp"

namespace ridgeline::tests {

/// A machine whose numbers are easy: ten units, 10 TFLOP/s in bf16 (1 TFLOP/s a unit) and twice
/// that in fp8, 1 TB/s (1 MB in 1 us), and kernels that cost their floor and a fixed time.
inline constexpr std::string_view kEasy = R"(
name: Easy 1
architecture: easy1
compute_units: 10
peak: {bf16: 10 TFLOP/s, fp8: 20 TFLOP/s}
hbm: {capacity: 10 GB, bandwidth: 1 TB/s}
cache: {capacity: 1 MB, bandwidth: 10 TB/s, resident: 0}
gemm:
  tiles: [10x10]
  tile_load: 0
  extra_k: 0
  max_splits: 1
  split_cost: 0 us
  families:
    bf16:
      extra_k: 0
      workgroup_bandwidth: 1000000 TB/s
      fixed: 3 us
      overlap: 64
      spread: {compute: 0.1, memory: 0.2, floor: 0.3}
    fp8_blockscale: {extra_k: 0, workgroup_bandwidth: 1000000 TB/s, fixed: 7 us, overlap: 64}
moe: {fixed: 5 us, rows: [10], columns: [10], spread: 0.1, anchored_to: 100}
interconnect:
  topology: full_mesh
  gpus: 4
  rate: 10 GB/s
  libraries:
    plain: {fixed: 2 us, per_step: 1 us, per_peer: 0.5 us, spread: 0.1}
    quick: {aliases: [qr-], fixed: 1 us, codec_fixed: 4 us, codec_rate: 100 GB/s}
)";

inline hw::GpuSpec gpu_from(const core::Node& document) {
  const core::Reader in(document, "hw");
  hw::GpuSpec gpu = hw::read_gpu_spec(in);
  in.finish();
  return gpu;
}

/// Every row is about the easy machine.
class EasyMachines {
 public:
  EasyMachines() : file_(folder_.write("easy.yaml", kEasy)), machines_(shipped(), file_.string()) {}
  operator fidelity::Machines&() { return machines_; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path file_;
  fidelity::Machines machines_;
};

inline fidelity::Table table_of(std::string_view text) {
  return fidelity::parse_table(text, "t.csv");
}

/// What is predicted of the first row.
inline fidelity::Prediction first_of(const fidelity::Operation& operation, std::string_view text,
                                     fidelity::Machines& machines) {
  const fidelity::Table table = table_of(text);
  return operation.predict(fidelity::Row(table, 0), machines);
}

/// The same on the machine that the row names.
inline fidelity::Prediction first_of(const fidelity::Operation& operation, std::string_view text) {
  static fidelity::Machines machines(shipped(), std::nullopt);
  return first_of(operation, text, machines);
}

}  // namespace ridgeline::tests
