// How far predictions lie from published measurements, rows that no constant was fitted to. Skipped
// where the data sets are not.

#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "fidelity/validate.hpp"
#include "tests/corpus.hpp"
#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::ErrorSummary;
using fidelity::Machines;
using fidelity::Operation;
using fidelity::Prediction;
using fidelity::Row;
using fidelity::Table;

/// Predicted over measured of the rows held back, by what `key` makes of a row; "" leaves it out.
/// No row may be below its floor.
using Key = std::function<std::string(const Row&, const hw::GpuSpec&, const Prediction&)>;
std::map<std::string, ErrorSummary> held_back_errors(const Operation& operation,
                                                     const std::filesystem::path& file,
                                                     const Key& key) {
  Machines machines(shipped(), std::nullopt);
  const Table table = fidelity::load_table(file);
  std::map<std::string, std::vector<double>> ratios;
  std::size_t below = 0;
  std::size_t predicted = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    try {
      const Prediction p = operation.predict(row, machines);
      ++predicted;
      if (p.seconds < p.floor * (1.0 - 1e-9) || p.low() < p.floor * (1.0 - 1e-9)) ++below;
      const auto measured = operation.measured(row);
      if (!measured || *measured <= 0.0 || !fidelity::held_back(row.cells())) continue;
      const std::string name = key(row, fidelity::machine_of(row, machines), p);
      if (!name.empty()) ratios[name].push_back(p.seconds / *measured);
    } catch (const core::ConfigError&) {  // a row without a shape, or of a machine nobody knows
    }
  }
  CHECK(predicted > 0);
  CHECK(below == 0);
  std::map<std::string, ErrorSummary> out;
  for (const auto& [name, r] : ratios) {
    const ErrorSummary s = fidelity::summarize_errors(r);
    std::cout << file.filename().string() << ": " << name << ": " << s.rows << " held back, median "
              << 100.0 * s.median << " %, p90 " << 100.0 * s.p90 << " %\n";
    out[name] = s;
  }
  return out;
}

void check_within(const std::map<std::string, ErrorSummary>& errors, const std::string& name,
                  double median, double p90, std::size_t rows) {
  INFO(name);
  REQUIRE(errors.contains(name));
  const ErrorSummary& s = errors.at(name);
  CHECK(s.rows >= rows);
  CHECK(s.median <= median);
  CHECK(s.p90 <= p90);
}

TEST_CASE("products in int8 and in fp8 by blocks are within 6 % of aiter's tuned kernels",
          "[corpus]") {
  const auto file = corpus("mi300x/gemm_aiter_all.csv");
  if (!file) return;
  const auto errors = held_back_errors(
      fidelity::kGemm, *file, [](const Row& row, const hw::GpuSpec& gpu, const Prediction&) {
        return fidelity::kGemm.constants(row, gpu);
      });
  check_within(errors, "gemm.families.int8", 0.06, 0.20, 60);
  check_within(errors, "gemm.families.fp8_blockscale", 0.06, 0.20, 4000);
  check_within(errors, "gemm.families.fp8_blockscale_preshuffled", 0.06, 0.20, 30);
}

TEST_CASE("products in int8 are within 6 % of a table of MI300X alone", "[corpus]") {
  const auto file = corpus("mi300x/gemm.csv");
  if (!file) return;
  const auto errors = held_back_errors(
      fidelity::kGemm, *file, [](const Row& row, const hw::GpuSpec& gpu, const Prediction&) {
        return fidelity::kGemm.constants(row, gpu);
      });
  check_within(errors, "gemm.families.int8", 0.06, 0.20, 90);
}

TEST_CASE("attention is within 12 % of aiter's kernels, forward and backward", "[corpus]") {
  const auto file = corpus("mi300x/attention.csv");
  if (!file) return;
  const auto errors = held_back_errors(
      fidelity::kAttention, *file, [](const Row& row, const hw::GpuSpec& gpu, const Prediction&) {
        const bool ours =
            gpu.name == "AMD Instinct MI300X" && row.text("kernel").starts_with("aiter asm");
        return ours ? std::string(row.text("phase")) : std::string();
      });
  check_within(errors, "fwd", 0.12, 0.20, 10);
  check_within(errors, "bwd", 0.12, 0.20, 40);
}

TEST_CASE("all-reduces of MI300X are within 15 %", "[corpus]") {
  const auto file = corpus("mi300x/allreduce.csv");
  if (!file) return;
  const auto errors = held_back_errors(
      fidelity::kAllReduce, *file, [](const Row&, const hw::GpuSpec& gpu, const Prediction&) {
        return gpu.name == "AMD Instinct MI300X" ? std::string("all") : std::string();
      });
  check_within(errors, "all", 0.15, 0.30, 40);
}

TEST_CASE("experts are within 15 %", "[corpus]") {
  const auto file = corpus("mi300x/moe.csv");
  if (!file) return;
  const auto errors = held_back_errors(
      fidelity::kMoe, *file,
      [](const Row&, const hw::GpuSpec&, const Prediction&) { return std::string("all"); });
  check_within(errors, "all", 0.15, 0.30, 20);
}

TEST_CASE("products of A100 and H100 are within 10 % of what Vidur measured", "[corpus]") {
  const auto file = corpus("other_gpus/ops_vidur.csv");
  if (!file) return;
  const auto errors = held_back_errors(fidelity::kGemm, *file,
                                       [](const Row& row, const hw::GpuSpec&, const Prediction&) {
                                         return std::string(row.text("gpu"));
                                       });
  check_within(errors, "A100", 0.10, 0.25, 300);
  check_within(errors, "H100", 0.10, 0.25, 200);
}

}  // namespace
}  // namespace ridgeline::tests
