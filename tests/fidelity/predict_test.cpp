// A table with a prediction beside every row.

#include "fidelity/predict.hpp"

#include <catch2/catch.hpp>
#include <sstream>

#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

fidelity::Table predicted(std::string_view text, fidelity::Machines& machines) {
  std::ostringstream out;
  fidelity::predict(fidelity::kGemm, table_of(text), machines, out);
  return fidelity::parse_table(out.str(), "out");
}

TEST_CASE("a table comes out again with predictions behind its own columns", "[predict]") {
  EasyMachines machines;
  const auto out = predicted(
      "note,M,N,K,dtype\n\"a, \"\"b\"\"\nc\",100,100,1000,bf16\n,100,100,1000,?\n", machines);
  CHECK(out.header == std::vector<std::string>{"note", "M", "N", "K", "dtype", "predicted_us",
                                               "low_us", "high_us", "binds", "flags"});
  REQUIRE(out.rows.size() == 2);
  // 5 us, a spread of 0.3: e^(1.645 x 0.3) = 1.638 either way.
  CHECK(out.rows[0] == std::vector<std::string>{"a, \"b\"\nc", "100", "100", "1000", "bf16", "5",
                                                "3.052", "8.19", "floor", ""});
  CHECK(out.rows[1].back() == "dtype unknown, taken as bf16");
}

TEST_CASE("a row that cannot be predicted says why, and the others are", "[predict]") {
  EasyMachines machines;
  const auto out =
      predicted("M,N,K,dtype\n100,100,1000,bf16\n100,x,1000,bf16\n100,100,1000,int8\n", machines);
  REQUIRE(out.rows.size() == 3);
  CHECK(out.rows[0][4] == "5");
  for (const std::size_t row : {1U, 2U}) {
    for (const std::size_t column : {4U, 5U, 6U, 7U}) CHECK(out.rows[row][column].empty());
  }
  CHECK(out.rows[1][8] == "t.csv: row 2: N: expected a whole number of at least 1, got 'x'");
  CHECK(out.rows[2][8] ==
        "t.csv: row 3: dtype: expected a number format that Easy 1 multiplies, got 'int8'");
}

TEST_CASE("several flags are separated", "[predict]") {
  fidelity::Machines machines(shipped(), std::nullopt);
  const auto out = predicted("hw,M,N,K,dtype\nMI325X,16,8192,8192,?\n", machines);
  CHECK(out.rows[0].back() == "dtype unknown, taken as bf16; extrapolated");
}

TEST_CASE("a table without rows comes out without", "[predict]") {
  EasyMachines machines;
  CHECK(predicted("M,N,K,dtype\n", machines).rows.empty());
}

}  // namespace
}  // namespace ridgeline::tests
