#include "workloads/readers/csv.hpp"

#include <catch2/catch.hpp>

#include "tests/workloads/fixtures.hpp"

namespace {

using ridgeline::tests::error_of;
using ridgeline::workloads::CsvRows;
using ridgeline::workloads::TraceText;

TEST_CASE("Columns are found by name wherever they stand", "[workloads][csv]") {
  CsvRows rows(TraceText{"t.csv", "a, b ,c\n1, 2 ,3\n"});
  REQUIRE(rows.next());
  CHECK(rows.field(rows.column("b")) == "2");
  CHECK(rows.field(rows.column("c")) == "3");
  CHECK_FALSE(rows.next());
}

TEST_CASE("Line ends may be CRLF, the last may be missing, and blank lines count only as lines",
          "[workloads][csv]") {
  CsvRows rows(TraceText{"t.csv", "a,b\r\n\r\n1,2\r\n \n3,x"});
  REQUIRE(rows.next());
  CHECK(rows.count(1, 9) == 2);
  REQUIRE(rows.next());
  CHECK(rows.count(0, 9) == 3);
  // Lines: 1 header, 2 blank, 3 "1,2", 4 blank, 5 "3,x"; the x is its third character.
  CHECK(error_of([&] { static_cast<void>(rows.count(1, 9)); }) ==
        "t.csv:5:3: b: expected a whole number, got 'x'");
  CHECK_FALSE(rows.next());
}

TEST_CASE("A missing column is an error that lists those there are", "[workloads][csv]") {
  const CsvRows rows(TraceText{"t.csv", "a,b\n"});
  CHECK(error_of([&] { static_cast<void>(rows.column("c")); }) ==
        "t.csv:1:1: c: expected a column of this name, got the columns 'a, b'");
}

TEST_CASE("A row shorter or longer than the header is an error", "[workloads][csv]") {
  CsvRows rows(TraceText{"t.csv", "a,b,c\n1,2\n1,2,3,4\n"});
  const auto next = [&] { static_cast<void>(rows.next()); };
  CHECK(error_of(next) == "t.csv:2:1: expected 3 fields as in the header, got 2: '1,2'");
  CHECK(error_of(next) == "t.csv:3:1: expected 3 fields as in the header, got 4: '1,2,3,4'");
}

TEST_CASE("Only whole numbers in range count", "[workloads][csv]") {
  const auto error_for = [](const std::string& field) {
    const std::string text = "n,m\n" + field + ",0\n";
    CsvRows rows(TraceText{"t.csv", text});
    rows.next();
    return error_of([&] { static_cast<void>(rows.count(0, 100)); });
  };
  CHECK(error_for("0").empty());
  CHECK(error_for("100").empty());
  CHECK(error_for("007").empty());
  CHECK(error_for("") == "t.csv:2:1: n: expected a whole number, got ''");
  CHECK(error_for("1.5") == "t.csv:2:1: n: expected a whole number, got '1.5'");
  CHECK(error_for("1e3") == "t.csv:2:1: n: expected a whole number, got '1e3'");
  CHECK(error_for("0x10") == "t.csv:2:1: n: expected a whole number, got '0x10'");
  CHECK(error_for("-1") == "t.csv:2:1: n: expected a whole number from 0 to 100, got '-1'");
  CHECK(error_for("101") == "t.csv:2:1: n: expected a whole number from 0 to 100, got '101'");
  CHECK(error_for("99999999999999999999") ==
        "t.csv:2:1: n: expected a whole number from 0 to 100, got '99999999999999999999'");
}

TEST_CASE("An error shows a field from a file short and printable", "[workloads][csv]") {
  const std::string text = "n\n" + std::string(38, 'z') +
                           "\x1b\xc3\xa9zz\n";  // an escape and half of an é within the 40 shown
  CsvRows rows(TraceText{"t.csv", text});
  rows.next();
  CHECK(error_of([&] { static_cast<void>(rows.count(0, 1)); }) ==
        "t.csv:2:1: n: expected a whole number, got '" + std::string(38, 'z') + "??...'");
}

}  // namespace
