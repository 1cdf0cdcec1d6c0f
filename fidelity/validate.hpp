#pragma once
// Predictions held against measurements: tables of kernels, group by group, rows that constants
// were fitted to apart from those held back.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fidelity/fit.hpp"
#include "fidelity/operation.hpp"

namespace ridgeline::fidelity {

/// One measured row and what is predicted of it.
struct Compared {
  std::string place;      // "gemm.csv: row 3"
  double measured = 0.0;  // seconds, or what the data set measures
  double predicted = 0.0;
  bool held_back = false;
  bool inside = false;       // of the interval that holds nine of ten
  bool below_floor = false;  // predicted below what no kernel can beat: a bug
  bool extrapolated = false;

  [[nodiscard]] double ratio() const { return predicted / measured; }
};

/// Rows that are judged together.
struct Group {
  std::string set;   // "gemm", "attention", ...
  std::string name;  // machine, library, number format
  std::vector<Compared> rows;
  std::size_t not_predicted = 0;
  std::string why_not;  // of the first of those

  [[nodiscard]] ErrorSummary errors(bool held_back) const;
  [[nodiscard]] double share_inside() const;
  [[nodiscard]] std::size_t below_floor() const;
};

/// The operation whose columns a table has; null if none.
[[nodiscard]] const Operation* recognize(const Table& table);

/// All rows of a table, in the order in which their groups first occur.
[[nodiscard]] std::vector<Group> validate(const Operation& operation, const Table& table,
                                          Machines& machines);

/// The files of a folder and those below it that hold tables, sorted; a file is itself.
[[nodiscard]] std::vector<std::filesystem::path> tables_in(const std::filesystem::path& path);

/// `rows`, `median_error`, `p90_error`, `bias` (all relative), `beyond_twice`.
[[nodiscard]] nlohmann::json to_json(const ErrorSummary& summary);
[[nodiscard]] nlohmann::json to_json(const std::vector<Group>& groups);

}  // namespace ridgeline::fidelity
