// Predictions held against measurements that are themselves predictions, so that errors are known.

#include "fidelity/validate.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "fidelity/validate_files.hpp"
#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::Group;
using fidelity::kGemm;
using fidelity::Machines;
using fidelity::Row;
using fidelity::Table;

/// Products of many sizes, measured as predicted times `factor`.
std::string products(double factor, const std::string& hw = "MI300X",
                     const std::string& dtype = "int8") {
  Machines machines(shipped(), std::nullopt);
  std::string text = "hw,M,N,K,dtype,time_us\n";
  for (const long m : {1L, 16L, 100L, 512L, 3000L, 8192L}) {
    for (const long n : {1280L, 8192L, 28672L}) {
      for (const long k : {1024L, 5120L, 8192L}) {
        const std::string row = hw + "," + std::to_string(m) + "," + std::to_string(n) + "," +
                                std::to_string(k) + "," + dtype + ",";
        const Table one = table_of("hw,M,N,K,dtype,time_us\n" + row + "0\n");
        const double us = 1e6 * kGemm.predict(Row(one, 0), machines).seconds;
        text += row + std::to_string(us * factor) + "\n";
      }
    }
  }
  return text;
}

std::vector<Group> judged(const std::string& text) {
  Machines machines(shipped(), std::nullopt);
  return fidelity::validate(kGemm, table_of(text), machines);
}

TEST_CASE("predictions as measurements have no error", "[validate]") {
  const auto groups = judged(products(1.0));
  REQUIRE(groups.size() == 1);
  const Group& group = groups[0];
  CHECK(group.set == "gemm");
  CHECK(group.name == "MI300X int8");
  CHECK(group.rows.size() == 54);
  CHECK(group.errors(false).rows + group.errors(true).rows == 54);
  CHECK(group.errors(true).rows > 0);
  for (const bool held : {false, true}) {
    CHECK(group.errors(held).median < 1e-6);
    CHECK(group.errors(held).p90 < 1e-5);
    CHECK(group.errors(held).beyond_twice == 0);
  }
  CHECK(group.share_inside() == 1.0);
  CHECK(group.below_floor() == 0);
}

TEST_CASE("measurements half as long have an error of one, and none is inside", "[validate]") {
  const Group group = judged(products(0.5)).at(0);
  CHECK(group.errors(false).median == Approx(1.0).epsilon(1e-4));
  CHECK(group.errors(false).bias == Approx(1.0).epsilon(1e-4));
  CHECK(group.share_inside() < 0.2);  // but for those that the fixed time binds, +- 50 %
}

TEST_CASE("measurements one and a half times as short have an error of a half", "[validate]") {
  const Group group = judged(products(1.0 / 1.5)).at(0);
  for (const bool held : {false, true}) {
    CHECK(group.errors(held).median == Approx(0.5).epsilon(1e-4));
    CHECK(group.errors(held).p90 == Approx(0.5).epsilon(1e-4));
    CHECK(group.errors(held).bias == Approx(0.5).epsilon(1e-4));
    CHECK(group.errors(held).beyond_twice == 0);
  }
}

TEST_CASE("measurements a third as long are all beyond twice, and listed", "[validate]") {
  const auto groups = judged(products(1.0 / 3.0));
  CHECK(groups[0].errors(false).beyond_twice == groups[0].errors(false).rows);
  const auto json = fidelity::to_json(groups);
  CHECK(json[0]["misses_beyond_twice"].size() == 54);
  CHECK(json[0]["misses_beyond_twice"][0]["place"] == "t.csv: row 1");
  CHECK(json[0]["fitted"]["median_error"] == Approx(2.0).epsilon(1e-4));
  CHECK(json[0]["group"] == "MI300X int8");
  CHECK_FALSE(json[0].contains("why_not"));
}

TEST_CASE("rows are judged by machine, library and number format", "[validate]") {
  const auto groups = judged(
      "hw,M,N,K,dtype,lib,time_us\nMI300X,16,8192,8192,int8,ck,30\nMI300X,16,8192,8192,bf16,,30\n"
      "MI300X,32,8192,8192,int8,ck,30\nH100,16,8192,8192,bf16,,30\n");
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == "MI300X int8 ck");
  CHECK(groups[0].rows.size() == 2);
  CHECK(groups[1].name == "MI300X bf16");
  CHECK(groups[2].name == "H100 bf16");
}

TEST_CASE(
    "rows without a measurement or of another kind are passed over, others that cannot be "
    "predicted are counted",
    "[validate]") {
  const auto groups = judged(
      "hw,M,N,K,dtype,time_us\nMI300X,16,8192,8192,int8,\nMI300X,16,8192,8192,int8,0\n"
      "MI300X,16,8192,8192,int8,-1\nMI300X,16,8192,,int8,30\nMI300X,16,0,8192,int8,30\nMI300X,16,"
      "8192,8192,int8,30\n"
      "Abacus,16,8192,8192,int8,30\n");
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].rows.size() == 1);
  CHECK(groups[0].rows[0].place == "t.csv: row 6");
  CHECK(groups[0].not_predicted == 1);
  CHECK(groups[0].why_not == "t.csv: row 5: N: expected a whole number of at least 1, got '0'");
  CHECK(groups[1].rows.empty());
  CHECK(groups[1].not_predicted == 1);
  CHECK(fidelity::to_json(groups)[1]["why_not"].get<std::string>().find("Abacus") !=
        std::string::npos);
}

TEST_CASE("the kind of a table is known by its columns", "[validate]") {
  const auto kind = [](const char* header) {
    const fidelity::Operation* operation = fidelity::recognize(table_of(header));
    return operation == nullptr ? std::string_view{} : operation->name;
  };
  CHECK(kind("K,N,M,x\n") == "gemm");
  CHECK(kind("phase,q_heads,seqlen_q,batch\n") == "attention");
  CHECK(kind("tokens,experts,topk,model_dim,inter_dim_per_gpu\n") == "moe");
  CHECK(kind("n_gpu,bytes\n") == "allreduce");
  CHECK(kind("M,N\n").empty());
}

TEST_CASE("tables are found in a folder and those below it, in order", "[validate]") {
  const TemporaryFolder folder;
  const auto b = folder.write("b.csv", "x\n");
  const auto a = folder.write("deep/er/a.csv", "x\n");
  folder.write("notes.md", "x\n");
  CHECK(fidelity::tables_in(folder.path()) == std::vector<std::filesystem::path>{b, a});
  CHECK(fidelity::tables_in(folder.path() / "notes.md").size() == 1);
}

TEST_CASE("files and folders are judged together, other tables passed over", "[validate]") {
  const TemporaryFolder folder;
  folder.write("one/gemm.csv", products(1.0));
  folder.write("one/bandwidth.csv", "hw,level,value\nMI300X,hbm,4\n");
  const auto two = folder.write("two.csv", products(1.0, "H100", "bf16"));
  const auto groups =
      fidelity::validate_files({folder.path() / "one", two}, shipped(), std::nullopt, std::nullopt);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].name == "MI300X int8");
  CHECK(groups[1].name == "H100 bf16");
  CHECK(error_of([&] {
          (void)fidelity::validate_files({folder.path() / "one/bandwidth.csv"}, shipped(),
                                         std::nullopt, std::nullopt);
        }).find("no table with measured kernels") != std::string::npos);
  CHECK_FALSE(error_of([&] {
                (void)fidelity::validate_files({folder.path() / "gone.csv"}, shipped(),
                                               std::nullopt, std::nullopt);
              }).empty());
}

TEST_CASE("a machine for every row replaces what the rows say", "[validate]") {
  const TemporaryFolder folder;
  const auto file = folder.write("gemm.csv", products(1.0, "MI300X", "bf16"));
  const auto as_h100 = fidelity::validate_files({file}, shipped(), "h100", std::nullopt);
  CHECK(as_h100[0].errors(false).median > 0.05);
  CHECK(error_of([&] {
          (void)fidelity::validate_files({file}, shipped(), "h1000", std::nullopt);
        }) == "--hw: hw: unknown name 'h1000'; did you mean 'h100'?");
}

}  // namespace
}  // namespace ridgeline::tests
