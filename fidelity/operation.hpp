#pragma once
// Kinds of operations whose times people publish in tables, and what the mechanisms say of a row.
// A kind is one .cpp and one line in operations().

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fidelity/machines.hpp"
#include "fidelity/table.hpp"

namespace ridgeline::fidelity {

struct Prediction {
  double seconds = 0.0;
  double spread = 0.0;  // standard deviation of ln(measured / predicted); 0: nobody measured
  double floor = 0.0;   // seconds that no kernel can beat: bytes and FLOP at the machine's peaks
  std::string binds;    // what most of the time goes to: compute, memory, floor, link
  std::vector<std::string> flags;  // why to be careful: "extrapolated", "assumed dtype", ...

  /// Ends of the interval that holds nine of ten measurements, if errors are as they were where the
  /// constants come from.
  [[nodiscard]] double low() const;
  [[nodiscard]] double high() const;
};

struct Operation {
  std::string_view name;                     // "gemm"
  std::string_view columns;                  // what a row must have, for help and errors
  std::array<std::string_view, 6> required;  // those that no row can do without; empty at the end
  Prediction (*predict)(const Row& row, Machines& machines);
  /// Seconds measured, where the row says; from a rate if that is what it has.
  std::optional<double> (*measured)(const Row& row);
  /// What is judged together: machine, library, number format.
  std::string (*group)(const Row& row);
  /// Where in the machine's document the constants stand that price a row: "gemm.families.int8".
  std::string (*constants)(const Row& row, const hw::GpuSpec& gpu);
};

[[nodiscard]] const std::vector<Operation>& operations();
/// ConfigError with the nearest name.
[[nodiscard]] const Operation& operation_named(std::string_view name);

/// The layers that a row of `layer` can be about: "act_fn, down_proj, ...".
[[nodiscard]] std::string layer_names();

extern const Operation kGemm;
extern const Operation kAttention;
extern const Operation kAllReduce;
extern const Operation kMoe;
extern const Operation kStream;
extern const Operation kLayer;
extern const Operation kStepAttention;
extern const Operation kStepExperts;

/// The machine of a row's `gpu` column, or else its `hw`, or else its `system`. ConfigError with
/// the names there are.
[[nodiscard]] const hw::GpuSpec& machine_of(const Row& row, Machines& machines);

/// The family of a machine's matrix kernels in a dtype whose flavour the text names: of "int8",
/// "int8_preshuffled" and "int8_blockscale" the second for "int8 a8w8 preshuffled-B". "" for the
/// plain one.
[[nodiscard]] std::string_view flavour_of(std::string_view text, hw::Dtype dtype,
                                          const hw::GemmSpec& gemm);

/// How a cell names a number format: "int8 (a8w8 rowwise CK)", "fp8 e4m3fnuz blockscale", "fp16?".
struct NumberFormat {
  hw::Dtype dtype = hw::Dtype::bf16;
  bool sure = true;  // false where the text names none that is known
};
[[nodiscard]] NumberFormat number_format(std::string_view text);

}  // namespace ridgeline::fidelity
