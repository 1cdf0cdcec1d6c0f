#pragma once
// A machine's constants fitted to measurements of it. What prices a row stands at a known place in
// the machine's document ("gemm.families.int8", "interconnect.libraries.rccl"); the constants at
// that place are moved until the rows agree. So whatever number of a mechanism is written in YAML
// can be fitted, and the result is YAML again.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/config_library.hpp"
#include "fidelity/fit.hpp"
#include "fidelity/operation.hpp"

namespace ridgeline::fidelity {

/// A constant before and after.
struct Recalibrated {
  std::string path;     // "gemm.families.int8.rate"
  std::string shipped;  // as the machine's file has it: "67.2 GB/s"
  std::string fitted;   // in the same unit
  double error = 0.0;   // one standard error, relative
  bool at_bound = false;
};

/// The constants of one place, fitted to the rows that they price.
struct Calibration {
  std::string place;      // "gemm.families.int8"
  std::string operation;  // "gemm"
  std::vector<Recalibrated> constants;
  std::size_t fitted_rows = 0;  // of those not held back, thinned where there are very many
  ErrorSummary before;          // of all rows not held back
  ErrorSummary after;
  ErrorSummary held_before;
  ErrorSummary held_after;
  std::string why_not;  // why nothing was fitted
};

class Calibrator {
 public:
  /// `hw`: the machine that is fitted, and where the fit starts. With `every_row` rows count as its
  /// own whatever their hw column says.
  Calibrator(const core::ConfigLibrary& library, std::string hw, bool every_row);

  void add(const Operation& operation, Table table);
  /// The tables of measured kernels below some files and folders; ConfigError if there are none.
  void add_files(const std::vector<std::filesystem::path>& data);
  /// Fits place by place; `only`: those whose name holds this text. ConfigError if no row is about
  /// the machine, or no such place prices one.
  [[nodiscard]] std::vector<Calibration> run(const std::string& only);

  /// The machine with what has been fitted, as an overlay on the one it started from.
  [[nodiscard]] core::Node overlay(const std::vector<Calibration>& calibrations) const;

 private:
  struct Sample {
    const Operation* operation;
    std::size_t table;
    std::size_t row;
    double measured;
    bool held_back;
  };
  struct Place;

  [[nodiscard]] Calibration fit_place(const std::string& place, const std::vector<Sample>& samples);

  const core::ConfigLibrary& library_;
  std::string hw_;
  bool every_row_;
  core::Node document_;  // of the machine, with what has been fitted so far
  std::vector<Table> tables_;
  std::vector<const Operation*> operations_;
};

[[nodiscard]] nlohmann::json to_json(const std::vector<Calibration>& calibrations);

}  // namespace ridgeline::fidelity
