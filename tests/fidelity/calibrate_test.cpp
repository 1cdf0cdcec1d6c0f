// Constants that are found again in times that a changed machine made.

#include "fidelity/calibrate.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::Calibration;
using fidelity::Calibrator;
using fidelity::kAllReduce;
using fidelity::kGemm;
using fidelity::Machines;
using fidelity::Operation;
using fidelity::Recalibrated;
using fidelity::Row;
using fidelity::Table;

/// The rows of `shapes` (with an empty time_us at their end), measured on the shipped machine with
/// values changed.
Table measured_on(const std::string& changes, const Operation& operation, const std::string& header,
                  const std::vector<std::string>& shapes, double noise = 0.0) {
  const TemporaryFolder folder;
  const auto file = folder.write("changed.yaml", "base: mi300x\n" + changes);
  Machines machines(shipped(), file.string());
  std::mt19937 random(1);
  std::normal_distribution<double> error(0.0, noise);
  std::string text = header + ",time_us\n";
  for (const std::string& shape : shapes) {
    const Table one = table_of(header + ",time_us\n" + shape + ",0\n");
    const double us = 1e6 * operation.predict(Row(one, 0), machines).seconds;
    text += fmt::format("{},{:.8g}\n", shape, noise > 0.0 ? us * std::exp(error(random)) : us);
  }
  return table_of(text);
}

const std::string kGemmHeader = "hw,M,N,K,dtype";
std::vector<std::string> products(const std::string& dtype) {
  std::vector<std::string> shapes;
  for (const long m : {1L, 8L, 16L, 64L, 200L, 512L, 2048L, 8192L}) {
    for (const long n : {1280L, 3584L, 8192L, 28672L}) {
      for (const long k : {1024L, 5120L, 8192L, 16384L})
        shapes.push_back(fmt::format("MI300X,{},{},{},{}", m, n, k, dtype));
    }
  }
  return shapes;
}

const Recalibrated& constant(const Calibration& c, const std::string& key) {
  for (const Recalibrated& one : c.constants) {
    if (one.path == c.place + "." + key) return one;
  }
  FAIL(c.place + " has no " + key);
  return c.constants.front();
}
double number(const std::string& quantity) { return std::stod(quantity); }

TEST_CASE("a workgroup that loads at 0.8 of the shipped rate is found out", "[calibrate]") {
  // Shipped 67.2 GB/s; these times are of 53.76 GB/s.
  Calibrator calibrator(shipped(), "mi300x", false);
  calibrator.add(kGemm, measured_on("gemm: {families: {int8: {workgroup_bandwidth: 53.76 GB/s}}}\n",
                                    kGemm, kGemmHeader, products("int8")));
  const auto calibrations = calibrator.run("");
  REQUIRE(calibrations.size() == 1);
  const Calibration& c = calibrations[0];
  CHECK(c.place == "gemm.families.int8");
  CHECK(c.operation == "gemm");
  CHECK(c.why_not.empty());
  CHECK(c.before.rows + c.held_before.rows == 128);
  CHECK(c.fitted_rows == c.before.rows);
  CHECK(c.before.median > 0.03);
  CHECK(c.after.median < 0.01);
  CHECK(c.held_after.median < 0.01);
  const Recalibrated& loads = constant(c, "workgroup_bandwidth");
  CHECK(loads.shipped == "67.2 GB/s");
  CHECK(loads.fitted.ends_with(" GB/s"));
  CHECK(number(loads.fitted) == Approx(53.76).epsilon(0.03));
  CHECK_FALSE(loads.at_bound);
  // What was not changed stays.
  CHECK(number(constant(c, "rate").fitted) == Approx(0.826).epsilon(0.02));
  CHECK(number(constant(c, "fixed").fitted) == Approx(2.74).epsilon(0.05));
}

TEST_CASE("with noise the constants are found within a few standard errors", "[calibrate]") {
  Calibrator calibrator(shipped(), "mi300x", false);
  calibrator.add(
      kGemm, measured_on("gemm: {families: {int8: {rate: 0.7, workgroup_bandwidth: 53.76 GB/s}}}\n",
                         kGemm, kGemmHeader, products("int8"), 0.03));
  const Calibration c = calibrator.run("").at(0);
  const auto off = [&](const char* key, double truth) {
    const Recalibrated& found = constant(c, key);
    CHECK(found.error > 0.0);
    CHECK(found.error < 0.2);
    return std::abs(std::log(number(found.fitted) / truth)) / found.error;
  };
  CHECK(off("workgroup_bandwidth", 53.76) < 3.0);
  CHECK(off("rate", 0.7) < 3.0);
  CHECK(c.after.median < 0.03);  // two thirds of the noise
  CHECK(c.held_after.median < 0.04);
}

TEST_CASE("the fitted machine is YAML that reads back and predicts what was fitted",
          "[calibrate]") {
  const Table table = measured_on("gemm: {families: {int8: {workgroup_bandwidth: 53.76 GB/s}}}\n",
                                  kGemm, kGemmHeader, products("int8"));
  Calibrator calibrator(shipped(), "mi300x", false);
  calibrator.add(kGemm, table);
  const auto calibrations = calibrator.run("");
  const std::string text = core::to_yaml(calibrator.overlay(calibrations));
  INFO(text);
  CHECK(text.starts_with("base: "));
  const TemporaryFolder folder;
  Machines fitted(shipped(), folder.write("deep/mine.yaml", text).string());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    if (!fidelity::held_back(row.cells()))
      ratios.push_back(kGemm.predict(row, fitted).seconds / *kGemm.measured(row));
  }
  // Constants are written with four digits.
  CHECK(fidelity::summarize_errors(ratios).median ==
        Approx(calibrations[0].after.median).margin(0.001));
}

TEST_CASE("a machine fitted from a file builds on that file, wherever it is kept", "[calibrate]") {
  const TemporaryFolder folder;
  const auto mine = folder.write("mine.yaml", "base: mi300x\nname: Mine, it's\n");
  Calibrator calibrator(shipped(), mine.string(), true);
  calibrator.add(kGemm, measured_on("gemm: {families: {int8: {rate: 0.7}}}\n", kGemm, kGemmHeader,
                                    products("int8")));
  const auto calibrations = calibrator.run("");
  const auto out =
      folder.write("some/where/else.yaml", core::to_yaml(calibrator.overlay(calibrations)));
  Machines fitted(shipped(), out.string());
  CHECK(fitted.find("")->name == "Mine, it's, fitted");
  CHECK(fitted.find("")->gemm.family(hw::Dtype::int8)->rate == Approx(0.7).epsilon(0.02));
}

TEST_CASE("a collective library's constants are found", "[calibrate]") {
  std::vector<std::string> shapes;
  for (const int gpus : {2, 4, 8}) {
    for (double bytes = 1024; bytes < 5e8; bytes *= 2)
      shapes.push_back(fmt::format("MI300X,QR-FP16,{},{:.0f}", gpus, bytes));
  }
  Calibrator calibrator(shipped(), "mi300x", false);
  calibrator.add(
      kAllReduce,
      measured_on("interconnect: {libraries: {quick: {link_efficiency: 0.5, fixed: 9 us}}}\n",
                  kAllReduce, "hw,impl,n_gpu,bytes", shapes));
  const Calibration c = calibrator.run("").at(0);
  CHECK(c.place == "interconnect.libraries.quick");
  CHECK(number(constant(c, "link_efficiency").fitted) == Approx(0.5).epsilon(0.03));
  CHECK(number(constant(c, "fixed").fitted) == Approx(9.0).epsilon(0.05));
  CHECK(constant(c, "fixed").fitted.ends_with(" us"));
  // No row of these is packed: codecs stay undetermined.
  CHECK(std::isinf(constant(c, "codec_fixed").error));
  CHECK(fidelity::to_json({c})[0]["constants"].is_array());
}

TEST_CASE("an error that is not determined is no number in JSON", "[calibrate]") {
  Calibration c;
  c.place = "gemm.families.int8";
  c.constants.push_back({"gemm.families.int8.rate", "0.8", "0.7", INFINITY, false});
  c.constants.push_back({"gemm.families.int8.fixed", "2 us", "3 us", 0.1, true});
  const auto json = fidelity::to_json({c});
  CHECK(json[0]["constants"][0]["relative_error"].is_null());
  CHECK(json[0]["constants"][1]["relative_error"] == 0.1);
  CHECK(json[0]["constants"][1]["at_bound"] == true);
}

TEST_CASE("few rows are not fitted, and say so", "[calibrate]") {
  Calibrator calibrator(shipped(), "mi300x", false);
  auto shapes = products("int8");
  shapes.resize(4);
  calibrator.add(kGemm, measured_on("", kGemm, kGemmHeader, shapes));
  const Calibration c = calibrator.run("").at(0);
  CHECK(c.constants.empty());
  CHECK(c.why_not.find(" rows for ") != std::string::npos);
  CHECK(c.before.rows + c.held_before.rows == 4);
  CHECK(c.after.median == c.before.median);
  // Nothing is written about it but the machine that it stays.
  const core::Node overlay = calibrator.overlay({c});
  REQUIRE(overlay.find("base") != nullptr);
  CHECK(overlay.entries.size() == 1);
}

TEST_CASE("a place without constants is not fitted, and says so", "[calibrate]") {
  Calibrator calibrator(shipped(), "mi300x", false);
  calibrator.add(fidelity::kAttention,
                 table_of("hw,kernel,phase,dtype,batch,q_heads,seqlen_q,time_ms\n"
                          "MI300X,Triton,fwd,bf16,1,32,4096,1\n"));
  const Calibration c = calibrator.run("").at(0);
  CHECK(c.place == "attention.kernels");
  CHECK(c.why_not == "the machine's file has no constants there");
  CHECK(c.constants.empty());
}

TEST_CASE("places are fitted by name", "[calibrate]") {
  Calibrator calibrator(shipped(), "mi300x", false);
  calibrator.add(kGemm, measured_on("", kGemm, kGemmHeader, products("int8")));
  calibrator.add(kGemm, measured_on("", kGemm, kGemmHeader, products("fp8")));
  const auto calibrations = calibrator.run("int8");
  REQUIRE(calibrations.size() == 1);
  CHECK(calibrations[0].place == "gemm.families.int8");
  CHECK(error_of([&] { (void)calibrator.run("nothing"); }) ==
        "--only: no place that prices a row has 'nothing' in its name; there are "
        "gemm.families.int8, gemm.families.fp8");
}

TEST_CASE("rows of another machine are not this one's unless every row is", "[calibrate]") {
  const Table table = measured_on("", kGemm, kGemmHeader, products("int8"));
  Calibrator h100(shipped(), "h100", false);
  h100.add(kGemm, table);
  CHECK(error_of([&] { (void)h100.run(""); }) ==
        "no row speaks of h100; --every-row takes all rows for this machine's");
  Calibrator every(shipped(), "h100", true);
  every.add(kGemm, table);
  CHECK(every.run("").at(0).before.rows > 90);
}

TEST_CASE("rows that say nothing are passed over", "[calibrate]") {
  Calibrator calibrator(shipped(), "mi300x", false);
  calibrator.add(kGemm, table_of("hw,M,N,K,dtype,time_us\nMI300X,16,8192,8192,int8,30\n"
                                 "MI300X,16,8192,8192,int8,\nMI300X,16,x,8192,int8,30\n"
                                 "Abacus,16,8192,8192,int8,30\n"));
  // One GPU reduces nothing, in no time: its logarithm is no residual.
  calibrator.add(kAllReduce, table_of("hw,impl,n_gpu,bytes,time_us\nMI300X,RCCL,1,1024,5\n"));
  const auto calibrations = calibrator.run("");
  REQUIRE(calibrations.size() == 1);
  CHECK(calibrations[0].before.rows + calibrations[0].held_before.rows == 1);
}

TEST_CASE("a machine that nobody knows is refused at once", "[calibrate]") {
  CHECK(error_of([] { Calibrator(shipped(), "mi30x", false); }) ==
        "--hw: hw: unknown name 'mi30x'; did you mean 'mi300x'?");
}

TEST_CASE("tables to fit to are taken from files and folders", "[calibrate]") {
  const TemporaryFolder folder;
  folder.write("a/gemm.csv", "hw,M,N,K,dtype,time_us\nMI300X,16,8192,8192,int8,30\n");
  folder.write("a/other.csv", "x\n1\n");
  Calibrator calibrator(shipped(), "mi300x", false);
  calibrator.add_files({folder.path()});
  CHECK(calibrator.run("").at(0).place == "gemm.families.int8");
  Calibrator none(shipped(), "mi300x", false);
  CHECK(error_of([&] {
          none.add_files({folder.path() / "a/other.csv"});
        }).find("no table with measured kernels") != std::string::npos);
}

}  // namespace
}  // namespace ridgeline::tests
