// Tables of measurements: cells as they were written, errors that say where, rows held back.

#include "fidelity/table.hpp"

#include <catch2/catch.hpp>

#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::held_back;
using fidelity::Row;
using fidelity::Table;

using Cells = std::vector<std::string>;

TEST_CASE("cells are kept as they were written", "[table]") {
  const Table table = table_of("hw,M,note\r\nMI300X,016,\"a, \"\"b\"\"\nc\"\r\n\r\nH100,1e3,\n");
  CHECK(table.header == Cells{"hw", "M", "note"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] == Cells{"MI300X", "016", "a, \"b\"\nc"});
  CHECK(table.rows[1] == Cells{"H100", "1e3", ""});
}

TEST_CASE("a byte order mark is no part of the first name", "[table]") {
  CHECK(table_of("\xEF\xBB\xBFhw,M\na,1\n").header == Cells{"hw", "M"});
}

TEST_CASE("a table in a file is the one in its text", "[table]") {
  const TemporaryFolder folder;
  const Table table = fidelity::load_table(folder.write("t.csv", "hw,M\nMI300X,16\n"));
  CHECK(table.name == (folder.path() / "t.csv").string());
  CHECK(table.rows == table_of("hw,M\nMI300X,16\n").rows);
}

TEST_CASE("what is no table says so", "[table]") {
  const TemporaryFolder folder;
  const std::string gone = (folder.path() / "gone.csv").string();
  CHECK(error_of([&] { (void)fidelity::load_table(gone); }) == gone + ": no such file");
  CHECK(error_of([&] { (void)table_of(""); }) ==
        "t.csv: the file is empty; expected a table with a header");
  CHECK(error_of([&] { (void)table_of("a,b\n1,2\n3\n4,5\n"); }) ==
        "t.csv:3: expected 2 fields as in the header, got 1");
}

TEST_CASE("a header alone is a table without rows", "[table]") {
  CHECK(table_of("a,b\n").rows.empty());
}

TEST_CASE("a column that is not there is named with the nearest and with all", "[table]") {
  const Table table = table_of("hw,M,dtype\nMI300X,1,bf16\n");
  CHECK(table.column("M") == 1);
  CHECK_FALSE(table.column("m"));
  CHECK(error_of([&] { (void)table.required("dtypes"); }) ==
        "t.csv: no column 'dtypes'; did you mean 'dtype'?");
}

TEST_CASE("a cell without what it must have says file, row and column", "[table]") {
  const Table table = table_of("M,x\n1.5,-1\n,abc\n1e13,inf\n16,2.5e1\n");
  CHECK(error_of([&] { (void)Row(table, 0).count("M"); }) ==
        "t.csv: row 1: M: expected a whole number of at least 1, got '1.5'");
  CHECK(error_of([&] { (void)Row(table, 1).count("M"); }) ==
        "t.csv: row 2: M: expected a whole number of at least 1, got ''");
  CHECK_FALSE(error_of([&] { (void)Row(table, 2).count("M"); }).empty());  // beyond 1e12
  CHECK(error_of([&] { (void)Row(table, 0).number("x"); }) ==
        "t.csv: row 1: x: expected a number of at least 0.000000, got '-1'");
  CHECK(error_of([&] { (void)Row(table, 0).number("y"); }) == "t.csv: no column 'y'; known: M, x");
  CHECK(Row(table, 3).count("M") == 16);
  CHECK(Row(table, 3).number("x") == 25.0);
}

TEST_CASE("a cell that may be missing is nothing where it is no finite number", "[table]") {
  const Table table = table_of("x\n\"\"\nabc\ninf\nnan\n5 us\n0.5\n");
  for (std::size_t i = 0; i < 5; ++i) CHECK_FALSE(Row(table, i).maybe("x"));
  CHECK(Row(table, 5).maybe("x") == 0.5);
  CHECK_FALSE(Row(table, 5).maybe("no such column"));
  CHECK(Row(table, 5).text("no such column").empty());
  CHECK_FALSE(Row(table, 0).has("x"));
  CHECK(Row(table, 5).has("x"));
}

TEST_CASE("a row is held back where a hash of seed and cells is divisible by four", "[table]") {
  // 64-bit FNV-1a of "1" and the cells joined with 0x1f, by a few lines of Python.
  CHECK_FALSE(held_back({"a"}));                                     //    574317837237729479, 3
  CHECK_FALSE(held_back({"MI300X", "1"}));                           //   1858107626615981565, 1
  CHECK(held_back({""}));                                            // 12638134423997487868, 0
  CHECK(held_back({"x", "y,z", "q\"t"}));                            // 10672023717345339508, 0
  CHECK(held_back({"\xC3\xA9"}));                                    //  4866755227342508460, 0
  CHECK_FALSE(held_back({"MI300X", "16", "8192", "8192", "bf16"}));  // 10276593232976576927, 3
}

TEST_CASE("about a quarter of the rows is held back, whatever is in them", "[table]") {
  int held = 0;
  for (int i = 0; i < 10000; ++i) held += held_back({"MI300X", std::to_string(i), "bf16"}) ? 1 : 0;
  CHECK(held > 2300);  // 2500 +- 43
  CHECK(held < 2700);
}

TEST_CASE("cells written as CSV are read again unchanged", "[table]") {
  const std::vector<Cells> rows{{"a", "b"}, {"a,b", "c"},  {"\"", "\"\""}, {"line\nend", "x\r\ny"},
                                {"", ""},   {" a", "b\t"}, {"é", "0x1f"},  {"x", ""}};
  std::string text = "first,second\n";
  for (const Cells& row : rows) text += fidelity::csv_line(row) + "\n";
  CHECK(table_of(text).rows == rows);
  CHECK(table_of("only\n" + fidelity::csv_line({""}) + "\nx\n").rows ==
        std::vector<Cells>{{""}, {"x"}});
}

TEST_CASE("fields are quoted where they must be and nowhere else", "[table]") {
  CHECK(fidelity::csv_line({"MI300X", "fp8 e4m3", "a,b", "say \"x\"", ""}) ==
        "MI300X,fp8 e4m3,\"a,b\",\"say \"\"x\"\"\",");
}

}  // namespace
}  // namespace ridgeline::tests
